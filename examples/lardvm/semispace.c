/*
 * semispace.c - the copying collector: two halves, one in use; collecting copies what is in use to the other
 * one (Cheney's algorithm) and leaves everything else behind.
 *
 * Workers cut chunks off the half in use by compare-and-swap and allocate in them by adding.
 */
#include <stdlib.h>
#include <string.h>

#include "vm.h"

enum { CHUNK = 2048 };

static struct {
    size_t half;
    char *from, *to; /* the half in use, the other one */
    _Atomic(char *) top;
    char *scan_end; /* while collecting: where the copies end */
} heap;

static void init(size_t bytes)
{
    heap.half = bytes / 2 & ~(size_t)15;
    heap.from = calloc(1, heap.half);
    heap.to = calloc(1, heap.half);
    if (!heap.from || !heap.to)
        die("no memory for the heap");
    atomic_store(&heap.top, heap.from);
}

/* A piece of at least so many bytes: a whole chunk if there is one. */
static bool take_chunk(struct worker *w, size_t bytes)
{
    char *end = heap.from + heap.half, *top = atomic_load(&heap.top);
    size_t size;
    do {
        size_t left = (size_t)(end - top);
        if (left < bytes)
            return false;
        size = bytes > CHUNK ? bytes : left < CHUNK ? left : CHUNK;
    } while (!atomic_compare_exchange_weak(&heap.top, &top, top + size));
    memset(top, 0, size);
    w->bump = top;
    w->limit = top + size;
    return true;
}

static struct object *allocate(struct worker *w, size_t bytes)
{
    if ((size_t)(w->limit - w->bump) < bytes && !take_chunk(w, bytes))
        return NULL;
    struct object *o = (struct object *)w->bump;
    w->bump += bytes;
    return o;
}

static void copy(value *slot)
{
    if (!is_object(*slot))
        return;
    struct object *o = (struct object *)*slot;
    if (!o->mark) {
        size_t bytes = object_size(o->count);
        struct object *to = (struct object *)heap.scan_end;
        heap.scan_end += bytes;
        memcpy(to, o, bytes);
        /* Rule 4: what was done to the object is known of it at its new place, and so is what volatile
         * fields in it have ordered. The memory it leaves has no history left. */
        dh_lard_move(to, o, bytes);
        o->mark = to;
    }
    *slot = (value)o->mark;
}

static void collect(void)
{
    char *old_top = atomic_load(&heap.top);
    heap.scan_end = heap.to;
    heap_each_root(copy);
    for (char *at = heap.to; at < heap.scan_end;) {
        struct object *o = (struct object *)at;
        for (uint32_t i = 0; i < o->count; i++)
            copy(&o->slots[i]);
        at += object_size(o->count);
    }
    monitors_sweep();
    /* Rule 3: what is left there is garbage, and the memory will be other objects'. One call for all. */
    dh_lard_clear(heap.from, (size_t)(old_top - heap.from));
    char *from = heap.from;
    heap.from = heap.to;
    heap.to = from;
    atomic_store(&heap.top, heap.scan_end);
}

const struct collector semispace = {"semispace", init, allocate, collect};
