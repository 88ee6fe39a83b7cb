/*
 * alone.c - see alone.h.
 */
#include "runtime/threads/alone.h"

#include "runtime/sink/tap.h"

static bool never; /* some thread was in an unordered region; set once, atomic */

/* Where the marks of lard.h lie, if the program has any. */
extern const char __start_dh_lard[] __attribute__((weak, visibility("hidden")));

bool dh_alone_lard_spoken(void)
{
    return __start_dh_lard != NULL;
}

void dh_alone_begin(struct dh_thread *t)
{
    if (t->alone || dh_tap || __dh_hot.self != t || __atomic_load_n(&never, __ATOMIC_RELAXED) ||
        dh_alone_lard_spoken() || !dh_thread_outlived_all(t))
        return;
    dh_thread_end_epoch(t); /* of what it records when it is no longer alone, nothing is in this one */
    t->alone = true;
    __dh_hot.base = 0;
    /* No cell is farther away. Two that are or-ed together may be, and then the slow path returns. */
    __dh_hot.span = ~0u;
}

void dh_alone_end(struct dh_thread *t)
{
    if (!t->alone)
        return;
    t->alone = false;
    __dh_hot.base = dh_cell_base(t->ids.plain.next);
    __dh_hot.span = dh_id_count(t->ids.plain.next, t->ids.plain.end);
}

void dh_alone_never(struct dh_thread *t)
{
    __atomic_store_n(&never, true, __ATOMIC_RELAXED);
    dh_alone_end(t);
}
