/*
 * heap.c - objects: making them, and what both collectors need.
 *
 * Allocation takes no lock. A worker has a piece of the heap of its own and takes the next one, when that is
 * used up, by a compare-and-swap (see the collectors). Free memory is all zero: collectors see to that, many
 * objects at a time. Where there is none left, the world is stopped and
 * garbage collected.
 */
#include <stdlib.h>
#include <string.h>

#include "vm.h"

/* Numbers of objects are unique without the workers talking to each other. */
static uint64_t next_id(struct worker *w)
{
    return (uint64_t)w->index << 48 | ++w->next_id;
}

/* The world has stopped: no access of the program comes in between, so that histories and objects move and
 * vanish together, as section 3.4 asks of the run-time system. */
static void collect_now(void)
{
    for (uint32_t i = 0; i < vm.n_workers; i++) {
        struct worker *w = &vm.workers[i];
        w->bump = w->limit = NULL;
        memset(w->cells, 0, sizeof(w->cells));
    }
    vm.collector->collect();
    vm.collections++;
}

void heap_collect(struct worker *w)
{
    sched_stop_world_and(w, collect_now);
}

struct object *heap_new(struct worker *w, uint32_t class, uint32_t count)
{
    size_t bytes = object_size(count);
    struct object *o = vm.collector->allocate(w, bytes);
    /* Somebody else may have used up what a collection freed before we came to it. */
    for (int tries = 0; !o; tries++) {
        if (tries == 100)
            die("out of memory: the heap is full of objects in use");
        heap_collect(w);
        o = vm.collector->allocate(w, bytes);
    }
    o->class = class;
    o->count = count;
    o->id = next_id(w);
    return o;
}

/* Everything the program can name: its globals, and the registers of all calls of all threads. */
void heap_each_root(void (*visit)(value *slot))
{
    for (uint32_t i = 0; i < vm.program.n_globals; i++)
        visit(&vm.globals[i]);
    for (struct thread *t = vm.youngest; t; t = t->older) {
        const struct frame *top = &t->frames[t->depth - 1];
        uint32_t n = top->base + vm.program.funcs[top->func].registers;
        for (uint32_t r = 0; r < n; r++)
            visit(&t->registers[r]);
    }
}
