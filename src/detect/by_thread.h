/*
 * by_thread.h - state by thread number that grows with the threads that have some.
 *
 * A plain array while all numbers are below DH_BY_THREAD_PLAIN: many programs have no more threads, and an
 * element takes one memory access. With a higher number it becomes a list of chunks, sorted by number, each
 * with the elements of four threads: a variable that only thread 9,999 uses has one chunk. When the chunks
 * would fill half of an array, it becomes an array again. All-zero is a valid start, and an element that was
 * never set is all zero. The caller always passes the same element size.
 */
#ifndef DH_DETECT_BY_THREAD_H
#define DH_DETECT_BY_THREAD_H

#include "detect/detector.h"

enum { DH_BY_THREAD_PLAIN = 32, DH_BY_THREAD_CHUNK = 4 };

struct dh_by_thread {
    void *items; /* elements, or the list of chunks */
    u32 n;       /* elements of the plain array: a power of two; 0: chunks, or nothing at all */
    u32 chunks;  /* 0: plain */
};

/* Elements of threads that follow each other. */
struct dh_by_thread_run {
    void *items;
    u32 first; /* the thread of items[0] */
    u32 n;
};

/* The slow halves of the two below. */
void *dh_by_thread_find(const struct dh_by_thread *v, u32 tid, u32 size);
void *dh_by_thread_make(struct dh_detector *d, struct dh_by_thread *v, u32 tid, u32 size);

/* The element of a thread; NULL: it has none. */
DH_INLINE void *dh_by_thread_get(const struct dh_by_thread *v, u32 tid, u32 size)
{
    if (DH_LIKELY(tid < v->n))
        return (char *)v->items + (size_t)tid * size;
    return v->chunks ? dh_by_thread_find(v, tid, size) : NULL;
}

/* The same, created on first use. NULL: no memory. Invalidates what was returned before. */
DH_INLINE void *dh_by_thread_at(struct dh_detector *d, struct dh_by_thread *v, u32 tid, u32 size)
{
    if (DH_LIKELY(tid < v->n))
        return (char *)v->items + (size_t)tid * size;
    return dh_by_thread_make(d, v, tid, size);
}

/* Prefetch the element of a thread; with many threads, the list that leads to it. */
DH_INLINE void dh_by_thread_soon(const struct dh_by_thread *v, u32 tid, u32 size)
{
    if (DH_LIKELY(tid < v->n))
        __builtin_prefetch((char *)v->items + (size_t)tid * size, 1);
    else
        __builtin_prefetch(v->items);
}

/* All elements, in order of their threads: run 0, 1 and so on, until false. */
bool dh_by_thread_run(const struct dh_by_thread *v, u32 i, struct dh_by_thread_run *ret_run);

/* `to`, all zero, becomes a deep copy of `from`. False: no memory, and it stays empty. */
bool dh_by_thread_copy(struct dh_detector *d, struct dh_by_thread *to, const struct dh_by_thread *from,
                       u32 size);
void dh_by_thread_drop(struct dh_detector *d, struct dh_by_thread *v, u32 size);

#endif
