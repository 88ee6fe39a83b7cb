/*
 * tally.h - finds the most frequent of a few keys. Keys beyond the first DH_TALLY_KEYS are not counted: the
 * caller is looking for one that stands out.
 */
#ifndef DH_BASE_TALLY_H
#define DH_BASE_TALLY_H

#include "base/base.h"

enum { DH_TALLY_KEYS = 64 };

/* All zero is a valid start. */
struct dh_tally {
    u64 keys[DH_TALLY_KEYS];
    u32 counts[DH_TALLY_KEYS];
    u32 n;
};

/* The index of the key; DH_TALLY_KEYS: there is no room for it. */
DH_INLINE u32 dh_tally_add(struct dh_tally *t, u64 key)
{
    u32 i = 0;
    while (i < t->n && t->keys[i] != key)
        i++;
    if (i == DH_TALLY_KEYS)
        return i;
    if (i == t->n) {
        t->keys[t->n] = key;
        t->counts[t->n++] = 0;
    }
    t->counts[i]++;
    return i;
}

/* The index of the key that was counted most often, the first of several; 0 if nothing was counted, and then
 * *ret_count is 0. */
DH_INLINE u32 dh_tally_most(const struct dh_tally *t, u32 *ret_count)
{
    u32 best = 0;
    *ret_count = 0;
    for (u32 i = 0; i < t->n; i++)
        if (t->counts[i] > *ret_count) {
            *ret_count = t->counts[i];
            best = i;
        }
    return best;
}

#endif
