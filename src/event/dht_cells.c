/*
 * dht_cells.c - see dht_cells.h.
 */
#include "event/dht_cells.h"

#include <string.h>

#include "base/pool.h"

void dh_cells_done(struct dh_cells *c)
{
    for (u32 i = 0; i < c->slabs_cap; i++)
        dh_pool_free(c->slabs[i], DH_CELLS_SLAB * sizeof(*c->slabs[i]));
    dh_pool_free(c->slabs, c->slabs_cap * sizeof(*c->slabs));
    dh_pool_free(c->where, c->where_cap * sizeof(*c->where));
    dh_pages_done(&c->pages);
    *c = (struct dh_cells){0};
}

/* A copy with at least twice the capacity; NULL: no memory. */
static void *grown(const void *old, u64 used, u64 cap, u64 more, size_t size)
{
    void *p = dh_pool_alloc(more * size);
    if (p && used)
        memcpy(p, old, used * size);
    if (p)
        dh_pool_free((void *)old, cap * size);
    return p;
}

struct dh_cells_page *dh_cells_page(struct dh_cells *c, u64 key, bool add)
{
    u32 k = key % DH_CELLS_CACHE;
    if (c->cache[k].key == key + 1)
        return c->cache[k].page;
    u32 n = add ? dh_pages_add(&c->pages, key) : dh_pages_find(&c->pages, key);
    if (n == DH_PAGES_NONE)
        return NULL;
    u32 slab = n / DH_CELLS_SLAB;
    if (slab >= c->slabs_cap) {
        u32 cap = c->slabs_cap ? c->slabs_cap * 2 : 256;
        struct dh_cells_page **slabs = grown(c->slabs, c->slabs_cap, c->slabs_cap, cap, sizeof(*slabs));
        if (!slabs)
            return NULL;
        c->slabs = slabs;
        c->slabs_cap = cap;
    }
    if (!c->slabs[slab] && !(c->slabs[slab] = dh_pool_alloc(DH_CELLS_SLAB * sizeof(*c->slabs[slab]))))
        return NULL;
    c->cache[k].key = key + 1;
    c->cache[k].page = &c->slabs[slab][n % DH_CELLS_SLAB];
    return c->cache[k].page;
}

static bool cut_at(struct dh_cells *c, u64 addr)
{
    if ((addr & 7) == 0)
        return true;
    struct dh_cells_page *p = dh_cells_page(c, addr >> DH_CELLS_SHIFT, true);
    if (p)
        p->cuts[(addr & (DH_CELLS_PAGE - 1)) >> 3] |= (u8)(1u << (addr & 7));
    return p != NULL;
}

bool dh_cells_cut(struct dh_cells *c, u64 addr, u64 n)
{
    return cut_at(c, addr) && cut_at(c, addr + n);
}

/* Whole words, within one page each, from the first or (down) from the last. */
static int same_words(struct dh_cells *c, u64 to, u64 from, u64 n, bool down)
{
    struct dh_cells_page *p = dh_cells_page(c, from >> DH_CELLS_SHIFT, false);
    struct dh_cells_page *q = dh_cells_page(c, to >> DH_CELLS_SHIFT, false);
    u32 first = (u32)(from & (DH_CELLS_PAGE - 1)) >> 3, other = (u32)(to & (DH_CELLS_PAGE - 1)) >> 3;
    int changed = 0;
    for (u32 k = 0; (p || q) && k < n / 8; k++) {
        u32 i = down ? (u32)(n / 8) - 1 - k : k, a = first + i, b = other + i;
        u8 all = (p ? p->cuts[a] : 0) | (q ? q->cuts[b] : 0);
        if (all == 0)
            continue;
        if ((!p && !(p = dh_cells_page(c, from >> DH_CELLS_SHIFT, true))) ||
            (!q && !(q = dh_cells_page(c, to >> DH_CELLS_SHIFT, true))))
            return -1;
        changed |= p->cuts[a] != all || q->cuts[b] != all;
        p->cuts[a] = q->cuts[b] = all;
    }
    return changed;
}

/* Page by page. */
static int same_in(struct dh_cells *c, u64 to, u64 from, u64 n, bool down)
{
    int changed = 0;
    for (u64 done = 0, part; done < n; done += part) {
        u64 left = n - done, at = done;
        if (down) {
            part = dh_cells_within_below(to + left, from + left, left);
            at = left - part;
        } else {
            part = dh_cells_within(to + at, from + at, left);
        }
        int one = same_words(c, to + at, from + at, part, down);
        if (one < 0)
            return -1;
        changed |= one;
    }
    return changed;
}

/* Where the two ranges overlap, what one place needs is needed at a whole chain of them; one pass in each
 * direction goes along all of it. */
static int same_chains(struct dh_cells *c, u64 to, u64 from, u64 n, bool overlap)
{
    int up = same_in(c, to, from, n, false), down = 0;
    if (up >= 0 && overlap)
        down = same_in(c, to, from, n, true);
    return up < 0 || down < 0 ? -1 : up | down;
}

/* What is on the page with this number and between start and start + n, n bytes that are also those at `to`
 * and `from`. */
static int same_on_page(struct dh_cells *c, u32 page, u64 start, u64 to, u64 from, u64 n, bool overlap)
{
    u64 lo = c->pages.keys[page] << DH_CELLS_SHIFT, hi = lo + DH_CELLS_PAGE;
    lo = lo > start ? lo : start;
    hi = hi < start + n ? hi : start + n;
    return lo < hi ? same_chains(c, to + (lo - start), from + (lo - start), hi - lo, overlap) : 0;
}

int dh_cells_same_cuts(struct dh_cells *c, u64 to, u64 from, u64 n)
{
    u64 skew = from & 7;
    bool overlap = to - from < n || from - to < n;
    int changed = 0, one = 0;
    to -= skew;
    from -= skew;
    n = DH_ALIGN_UP(n, 8);
    if (n >> DH_CELLS_SHIFT <= c->pages.n)
        return same_chains(c, to, from, n, overlap);
    /* Most of it was never seen. Pages that are added on the way come last, hence are gone through as well.
     */
    for (u32 k = 0; k < c->pages.n && one >= 0; k++) {
        one = same_on_page(c, k, to, to, from, n, overlap);
        changed |= one;
        if (one >= 0)
            one = same_on_page(c, k, from, to, from, n, overlap);
        changed |= one;
    }
    return one < 0 ? -1 : changed;
}

/* Every byte of [addr, addr + n), within one page, and its end. */
static int cut_bytes(struct dh_cells *c, u64 addr, u64 n)
{
    struct dh_cells_page *p = dh_cells_page(c, addr >> DH_CELLS_SHIFT, true);
    u32 first = (u32)(addr & (DH_CELLS_PAGE - 1)), last = first + (u32)n - 1;
    int changed = 0;
    for (u32 w = first >> 3; p && w <= last >> 3; w++) {
        u32 lo = w == first >> 3 ? first & 7 : 0, hi = w == last >> 3 ? (last & 7) + 1 : 8;
        u8 all = (u8)(p->cuts[w] | (((2u << hi) - (1u << lo)) & 0xfe));
        changed |= p->cuts[w] != all;
        p->cuts[w] = all;
    }
    return p ? changed : -1;
}

int dh_cells_same_bytes(struct dh_cells *c, u64 to, u64 from, u64 n)
{
    int changed = 0;
    for (u64 at = 0, part; at < n; at += part) {
        part = dh_cells_within(to + at, from + at, n - at);
        int one = cut_bytes(c, to + at, part), other = cut_bytes(c, from + at, part);
        if (one < 0 || other < 0)
            return -1;
        changed |= one | other;
    }
    return changed;
}

bool dh_cells_number(struct dh_cells *c, struct dh_cells_page *p, u64 word)
{
    u32 w = (u32)(word & (DH_CELLS_PAGE - 1)) >> 3, count = dh_cells_count(p, w);
    if (c->n >= (c->limit ? c->limit : UINT32_MAX - 16))
        return false;
    if (c->n + count > c->where_cap) {
        u64 cap = c->where_cap ? c->where_cap * 2 : 4096;
        u64 *where = grown(c->where, c->n, c->where_cap, cap, sizeof(*where));
        if (!where)
            return false;
        c->where = where;
        c->where_cap = cap;
    }
    p->first[w] = c->n + 1;
    for (u32 at = 0, end; at < 8; at = end) {
        for (end = at + 1; end < 8 && !(p->cuts[w] >> end & 1); end++)
            ;
        c->where[c->n++] = (word + at) << 4 | (end - at);
    }
    return true;
}
