/*
 * predict_versions.c - see predict_versions.h.
 *
 * A page is the number of its changes, a count for each thread, and the changes: each a thread and how far it
 * is above the page's own count, packed in 32 bits. What changes again stands there again, with more.
 */
#include "detect/predict_versions.h"

#include <string.h>

enum { MORE_BITS = 20, CHUNK_SHIFT = 6, CHUNK = 1 << CHUNK_SHIFT };
enum { ROOM = 2 }; /* for so many changes of each thread */

#define MORE_MAX ((1u << MORE_BITS) - 1)

_Static_assert(DH_VERSION_THREADS == 1 << (32 - MORE_BITS), "a change is a thread and a count");

struct page {
    u32 n;        /* changes */
    u32 counts[]; /* of all threads, then the changes */
};

static size_t page_words(const struct dh_versions *v)
{
    return sizeof(struct page) / sizeof(u32) + (1 + ROOM) * (size_t)v->threads;
}

static struct page *page_at(const struct dh_versions *v, u32 page)
{
    return (struct page *)(v->chunks[page >> CHUNK_SHIFT] + (page & (CHUNK - 1)) * page_words(v));
}

static u32 *changes_of(const struct dh_versions *v, struct page *page)
{
    return page->counts + v->threads;
}

static struct page *new_page(struct dh_versions *v)
{
    u32 chunk = v->n_pages >> CHUNK_SHIFT;
    if ((v->n_pages & (CHUNK - 1)) == 0) {
        if (chunk == v->cap_chunks &&
            !dh_mem_grow(&v->d->mem, (void **)&v->chunks, chunk, &v->cap_chunks, sizeof(*v->chunks)))
            return NULL;
        v->chunks[chunk] = dh_detect_alloc(v->d, CHUNK * page_words(v) * sizeof(u32));
        if (!v->chunks[chunk])
            return NULL;
    }
    return page_at(v, v->n_pages++);
}

/* Adds to its page what the counts change in the last version there. False: they do not go there. */
static bool append(const struct dh_versions *v, struct dh_version *version, const u32 *counts)
{
    struct page *page = page_at(v, version->page);
    u32 *changes = changes_of(v, page), n = page->n;
    if (version->changes != n)
        return false;
    memcpy(v->last, page->counts, v->threads * sizeof(u32));
    for (u32 i = 0; i < n; i++) {
        u32 t = changes[i] >> MORE_BITS;
        v->last[t] = page->counts[t] + (changes[i] & MORE_MAX);
    }
    for (u32 t = 0; t < v->threads; t++) {
        u32 more = counts[t] - page->counts[t];
        DH_ASSERT(counts[t] >= v->last[t]);
        if (counts[t] == v->last[t])
            continue;
        if (more > MORE_MAX || n == ROOM * v->threads)
            return false;
        changes[n++] = t << MORE_BITS | more;
    }
    page->n = version->changes = n;
    return true;
}

u32 dh_versions_add(struct dh_versions *v, u32 from, const u32 *counts)
{
    struct dh_mem *m = &v->d->mem;
    if (!v->last && !(v->last = dh_detect_alloc(v->d, ((size_t)v->threads + 1) * sizeof(u32))))
        return UINT32_MAX;
    if (v->n == v->cap && !dh_mem_grow(m, (void **)&v->items, v->n, &v->cap, sizeof(*v->items)))
        return UINT32_MAX;
    struct dh_version *version = &v->items[v->n];
    if (from != UINT32_MAX) {
        *version = v->items[from];
        if (append(v, version, counts))
            return v->n++;
    }
    *version = (struct dh_version){.page = v->n_pages};
    struct page *page = new_page(v);
    if (!page)
        return UINT32_MAX;
    memcpy(page->counts, counts, v->threads * sizeof(u32));
    return v->n++;
}

u32 dh_versions_get(const struct dh_versions *v, u32 version, u32 t)
{
    struct page *page = page_at(v, v->items[version].page);
    const u32 *changes = changes_of(v, page);
    for (u32 i = v->items[version].changes; i-- > 0;) {
        if (changes[i] >> MORE_BITS == t)
            return page->counts[t] + (changes[i] & MORE_MAX);
    }
    return page->counts[t];
}

bool dh_versions_has(const struct dh_versions *v, u32 version, u32 t, u32 count)
{
    const struct page *page = page_at(v, v->items[version].page);
    return page->counts[t] > count || dh_versions_get(v, version, t) > count;
}

void dh_versions_join(const struct dh_versions *v, u32 version, u32 *restrict counts)
{
    struct page *page = page_at(v, v->items[version].page);
    const u32 *restrict own = page->counts, *changes = changes_of(v, page);
    u32 n = v->items[version].changes, threads = v->threads;
    for (u32 t = 0; t < threads; t++)
        counts[t] = counts[t] > own[t] ? counts[t] : own[t];
    for (u32 i = 0; i < n; i++) {
        u32 t = changes[i] >> MORE_BITS, count = own[t] + (changes[i] & MORE_MAX);
        counts[t] = counts[t] > count ? counts[t] : count;
    }
}

bool dh_versions_within(const struct dh_versions *v, u32 version, const u32 *counts, u32 but)
{
    struct page *page = page_at(v, v->items[version].page);
    const u32 *own = page->counts, *changes = changes_of(v, page);
    u32 n = v->items[version].changes, above = 0;
    for (u32 t = 0; t < v->threads; t++)
        above |= t != but && own[t] > counts[t];
    for (u32 i = 0; i < n; i++) {
        u32 t = changes[i] >> MORE_BITS;
        above |= t != but && own[t] + (changes[i] & MORE_MAX) > counts[t];
    }
    return !above;
}
