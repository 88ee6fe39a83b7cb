/*
 * judged.h - cached verdicts on pairs of contexts, by their numbers: a table of small entries.
 *
 * It is queried once for each pair of classes that touch the same memory, a hundred million times in a large
 * program; the general table (table.h) has keys of four words, and most of that time would be spent on cache
 * misses.
 */
#ifndef DH_IR_WHOLE_JUDGED_H
#define DH_IR_WHOLE_JUDGED_H

#include <stdlib.h>

#include "util/arena.h"

#define DH_W_JUDGED_NONE UINT32_MAX

struct dh_w_judged_entry {
    u32 a, b, verdict; /* 1 + its number; 0: free */
};

/* All zero is empty. */
struct dh_w_judged {
    struct dh_w_judged_entry *at;
    size_t n, cap; /* a power of two, at most half full */
};

DH_INLINE struct dh_w_judged_entry *dh_w_judged_find(const struct dh_w_judged *t, u32 a, u32 b)
{
    u64 h = ((u64)a << 32 | b) * 0x9e3779b97f4a7c15u;
    for (size_t i = (h ^ h >> 32) & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
        struct dh_w_judged_entry *e = &t->at[i];
        if (e->verdict == 0 || (e->a == a && e->b == b))
            return e;
    }
}

DH_INLINE u32 dh_w_judged_get(const struct dh_w_judged *t, u32 a, u32 b)
{
    return t->cap == 0 ? DH_W_JUDGED_NONE : dh_w_judged_find(t, a, b)->verdict - 1;
}

static inline void dh_w_judged_put(struct dh_w_judged *t, u32 a, u32 b, u32 verdict)
{
    if (t->n * 2 >= t->cap) {
        struct dh_w_judged bigger = {.cap = t->cap == 0 ? 1024 : t->cap * 2, .n = t->n};
        bigger.at = calloc(bigger.cap, sizeof *bigger.at);
        if (bigger.at == NULL)
            dh_util_no_memory();
        for (size_t i = 0; i < t->cap; i++)
            if (t->at[i].verdict != 0)
                *dh_w_judged_find(&bigger, t->at[i].a, t->at[i].b) = t->at[i];
        free(t->at);
        *t = bigger;
    }
    *dh_w_judged_find(t, a, b) = (struct dh_w_judged_entry){a, b, verdict + 1};
    t->n++;
}

#endif
