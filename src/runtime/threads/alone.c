/*
 * alone.c - see alone.h.
 */
#include "runtime/threads/alone.h"

#include "runtime/sink/sink.h"
#include "runtime/threads/period.h"

static bool never;   /* some thread was in an unordered region; set once, atomic */
static bool unheard; /* all threads are as if alone; set before the first of them acts, atomic */

/* The markers of lard.h, if the program has any. */
extern const char __start_dh_lard[] __attribute__((weak, visibility("hidden")));

bool dh_alone_lard_spoken(void)
{
    return __start_dh_lard != NULL;
}

bool dh_alone_all_inherit(void)
{
    return !__atomic_load_n(&never, __ATOMIC_RELAXED) && !dh_alone_lard_spoken();
}

void dh_alone_begin(struct dh_thread *t)
{
    if (t->alone || dh_sink_wants_all() || __dh_hot.self != t || !dh_alone_all_inherit() ||
        !dh_thread_outlived_all(t))
        return;
    dh_thread_end_epoch(t); /* what it records when no longer alone must not be part of this one */
    t->alone = true;
    dh_thread_set_hot(t, &__dh_hot);
}

void dh_alone_end(struct dh_thread *t)
{
    if (!t->alone || __atomic_load_n(&unheard, __ATOMIC_RELAXED))
        return;
    t->alone = false;
    dh_thread_set_hot(t, &__dh_hot);
    dh_period_heed(t);
}

void dh_alone_unheard(struct dh_thread *t)
{
    DH_ASSERT(__dh_hot.self == t);
    __atomic_store_n(&unheard, true, __ATOMIC_RELAXED);
    t->alone = true;
    dh_thread_set_hot(t, &__dh_hot);
}

void dh_alone_never(struct dh_thread *t)
{
    __atomic_store_n(&never, true, __ATOMIC_RELAXED);
    dh_period_unsettle();
    dh_alone_end(t);
}
