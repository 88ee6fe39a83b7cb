/*
 * by_thread.c - see by_thread.h.
 */
#include "detect/by_thread.h"

#include <string.h>

enum { FIRST_LIST = 4 };

struct chunk {
    void *items;
    u32 number; /* of its first thread, / DH_BY_THREAD_CHUNK */
    u32 unused;
};

/* The list has room for a power of two. */
static u32 list_room(u32 chunks)
{
    u32 room = FIRST_LIST;
    while (room < chunks)
        room *= 2;
    return room;
}

/* The position of the chunk with this number, or where to insert it. */
static u32 place_of(const struct dh_by_thread *v, u32 number)
{
    const struct chunk *list = v->items;
    u32 low = 0, high = v->chunks;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (list[mid].number < number)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void *dh_by_thread_find(const struct dh_by_thread *v, u32 tid, u32 size)
{
    const struct chunk *list = v->items;
    u32 at = place_of(v, tid / DH_BY_THREAD_CHUNK);
    if (at == v->chunks || list[at].number != tid / DH_BY_THREAD_CHUNK)
        return NULL;
    return (char *)list[at].items + (size_t)(tid % DH_BY_THREAD_CHUNK) * size;
}

/* A new chunk in the list, which may be the first one. NULL: no memory, nothing changed. */
static void *insert(struct dh_detector *d, struct dh_by_thread *v, u32 number, u32 size)
{
    u32 n = v->chunks, at = n ? place_of(v, number) : 0;
    bool full = n == 0 || n == list_room(n);
    struct chunk *list = full ? dh_detect_alloc(d, list_room(n + 1) * sizeof(*list)) : v->items;
    void *items = list ? dh_detect_alloc(d, (size_t)DH_BY_THREAD_CHUNK * size) : NULL;
    if (!items) {
        if (full)
            dh_detect_free(d, list, list_room(n + 1) * sizeof(*list));
        return NULL;
    }
    if (n)
        memmove(list + at + 1, (struct chunk *)v->items + at, (n - at) * sizeof(*list));
    if (full && n) {
        memcpy(list, v->items, at * sizeof(*list));
        dh_detect_free(d, v->items, list_room(n) * sizeof(*list));
    }
    list[at] = (struct chunk){.items = items, .number = number};
    v->items = list;
    v->chunks = n + 1;
    return items;
}

/* The plain array becomes chunks; those without any content are left out. */
static bool split(struct dh_detector *d, struct dh_by_thread *v, u32 size)
{
    static const char nothing[64];
    struct dh_by_thread chunks = {0};
    size_t bytes = (size_t)DH_BY_THREAD_CHUNK * size;
    for (u32 first = 0; first < v->n; first += DH_BY_THREAD_CHUNK) {
        const char *from = (const char *)v->items + (size_t)first * size;
        size_t left = (size_t)(v->n - first) * size, all = left < bytes ? left : bytes, used = 0;
        for (size_t at = 0; at < all && !used; at += sizeof(nothing))
            used = memcmp(from + at, nothing, all - at < sizeof(nothing) ? all - at : sizeof(nothing)) != 0;
        void *items = used ? insert(d, &chunks, first / DH_BY_THREAD_CHUNK, size) : NULL;
        if (items)
            memcpy(items, from, all);
    }
    if (d->failed) {
        dh_by_thread_drop(d, &chunks, size);
        return false;
    }
    dh_detect_free(d, v->items, (size_t)v->n * size);
    *v = chunks;
    return true;
}

/* Chunks that fill half of an array are turned into one. Without memory they are left unchanged. */
static void flatten(struct dh_detector *d, struct dh_by_thread *v, u32 size)
{
    const struct chunk *list = v->items;
    u64 n = DH_BY_THREAD_PLAIN, threads = ((u64)list[v->chunks - 1].number + 1) * DH_BY_THREAD_CHUNK;
    while (n < threads)
        n *= 2;
    if (v->chunks < n / DH_BY_THREAD_CHUNK / 2)
        return;
    char *items = dh_detect_alloc(d, (size_t)n * size);
    if (!items)
        return;
    for (u32 i = 0; i < v->chunks; i++) {
        size_t at = (size_t)list[i].number * DH_BY_THREAD_CHUNK * size;
        memcpy(items + at, list[i].items, (size_t)DH_BY_THREAD_CHUNK * size);
    }
    dh_by_thread_drop(d, v, size);
    *v = (struct dh_by_thread){.items = items, .n = (u32)n};
}

void *dh_by_thread_make(struct dh_detector *d, struct dh_by_thread *v, u32 tid, u32 size)
{
    bool filled = v->n > DH_BY_THREAD_PLAIN && tid / 2 < v->n; /* what is half full may be doubled */
    if (!v->chunks && (tid < DH_BY_THREAD_PLAIN || filled)) {
        v->items = dh_detect_grow(d, v->items, &v->n, tid, size);
        return tid < v->n ? (char *)v->items + (size_t)tid * size : NULL;
    }
    if (v->n && !split(d, v, size))
        return NULL;
    if (!v->chunks || !dh_by_thread_find(v, tid, size)) {
        if (!insert(d, v, tid / DH_BY_THREAD_CHUNK, size))
            return NULL;
        flatten(d, v, size);
    }
    return dh_by_thread_get(v, tid, size);
}

bool dh_by_thread_run(const struct dh_by_thread *v, u32 i, struct dh_by_thread_run *ret_run)
{
    if (v->chunks) {
        const struct chunk *list = v->items;
        if (i >= v->chunks)
            return false;
        *ret_run = (struct dh_by_thread_run){
            .items = list[i].items, .first = list[i].number * DH_BY_THREAD_CHUNK, .n = DH_BY_THREAD_CHUNK};
        return true;
    }
    *ret_run = (struct dh_by_thread_run){.items = v->items, .n = v->n};
    return i == 0 && v->n;
}

bool dh_by_thread_copy(struct dh_detector *d, struct dh_by_thread *to, const struct dh_by_thread *from,
                       u32 size)
{
    struct dh_by_thread copy = {0};
    if (!from->chunks) {
        copy.items = dh_detect_dup(d, from->items, (size_t)from->n * size);
        copy.n = copy.items ? from->n : 0;
    }
    const struct chunk *list = from->items;
    for (u32 i = 0; i < from->chunks && !d->failed; i++) {
        void *items = insert(d, &copy, list[i].number, size);
        if (items)
            memcpy(items, list[i].items, (size_t)DH_BY_THREAD_CHUNK * size);
    }
    if (d->failed) {
        dh_by_thread_drop(d, &copy, size);
        return false;
    }
    *to = copy;
    return true;
}

void dh_by_thread_drop(struct dh_detector *d, struct dh_by_thread *v, u32 size)
{
    const struct chunk *list = v->items;
    for (u32 i = 0; i < v->chunks; i++)
        dh_detect_free(d, list[i].items, (size_t)DH_BY_THREAD_CHUNK * size);
    dh_detect_free(d, v->items, v->chunks ? list_room(v->chunks) * sizeof(*list) : (size_t)v->n * size);
    *v = (struct dh_by_thread){0};
}
