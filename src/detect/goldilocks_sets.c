/*
 * goldilocks_sets.c - see goldilocks_sets.h.
 */
#include "detect/goldilocks_sets.h"

/* The next stretch of a thread, which is in its own sets. */
static void go_on(struct dh_gold_sets *sets, struct dh_gold_element *x)
{
    dh_vc_set(sets->d, &x->last, x->thread - 1, ++x->stretch);
}

u32 dh_gold_element(struct dh_gold_sets *sets, u32 id, u32 kind)
{
    u32 key = id * 4 + kind;
    if (!DH_ROOM(sets->d, sets->numbers, sets->n_numbers, key))
        return 0;
    if (DH_LIKELY(sets->numbers[key]))
        return sets->numbers[key] - 1;
    if (!DH_ROOM(sets->d, sets->elements, sets->cap, sets->n))
        return 0;
    sets->numbers[key] = ++sets->n;
    if (kind == DH_GOLD_THREAD) {
        struct dh_gold_element *x = &sets->elements[sets->n - 1];
        x->thread = id + 1;
        go_on(sets, x);
    }
    return sets->n - 1;
}

void dh_gold_give(struct dh_gold_sets *sets, u32 from, u32 to)
{
    if (sets->d->failed)
        return;
    DH_ASSERT(from < sets->n && (to < sets->n || to == DH_GOLD_NOBODY));
    struct dh_gold_element *x = &sets->elements[from];
    if (to == DH_GOLD_NOBODY) {
        DH_ASSERT(!x->thread);
        dh_vc_clear(sets->d, &x->last);
        return;
    }
    dh_vc_join(sets->d, &sets->elements[to].last, &x->last);
    if (x->thread)
        go_on(sets, x);
}
