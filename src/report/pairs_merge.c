/*
 * pairs_merge.c - a pair of sites that is found more than once.
 *
 * It may happen in several ways: in different threads, under different locks, in code with different callers.
 * What the table says about the pair holds for all of them together.
 */
#include <stdlib.h>

#include "report/pairs_impl.h"
#include "util/arena.h"

/* What drops a pair from a set has to drop every way to happen that is in it. */
static u32 ifs(u32 a, u32 b, u32 set, u32 shift)
{
    u32 all = (u32)DH_PAIRS_IFS << shift;
    if (!(a & set) || !(b & set))
        return (a & set ? a : b) & all;
    return a & b & all;
}

static u32 merged_flags(u32 a, u32 b)
{
    u32 both = (u32)DH_PAIRS_IFS | (u32)DH_PAIRS_IFS << DH_PAIRS_FOR_SOUND;
    return ((a | b) & ~both) | ifs(a, b, DH_PAIRS_RELAY, 0) | ifs(a, b, DH_PAIRS_SOUND, DH_PAIRS_FOR_SOUND);
}

static bool has(const u32 *items, size_t n, u32 item)
{
    for (size_t i = 0; i < n; i++)
        if (items[i] == item)
            return true;
    return false;
}

/* What is in both lists, or in either. */
static u32 merged_list(struct dh_pairs *p, u32 a, u32 b, bool both)
{
    size_t n, m, count = 0;
    const u32 *x = dh_pairs_items(p, a, &n), *y = dh_pairs_items(p, b, &m);
    if (a == b)
        return a;
    u32 *all = dh_util_alloc((n + m + 1) * sizeof *all); /* the lists may move */
    for (size_t i = 0; i < n; i++)
        if (!both || has(y, m, x[i]))
            all[count++] = x[i];
    for (size_t i = 0; i < m && !both; i++)
        if (!has(x, n, y[i]))
            all[count++] = y[i];
    u32 list = dh_pairs_add_list(p, all, count);
    free(all);
    return list;
}

void dh_pairs_merge(struct dh_pairs *p, u32 at, const struct dh_pairs_pair *again)
{
    struct dh_pairs_pair *pair = &p->pairs[at];
    pair->flags = merged_flags(pair->flags, again->flags);
    pair->reasons |= again->reasons;
    for (int i = 0; i < 2; i++) {
        pair->side[i].locks = merged_list(p, pair->side[i].locks, again->side[i].locks, true);
        pair->side[i].entries = merged_list(p, pair->side[i].entries, again->side[i].entries, false);
    }
}
