/*
 * pairs_index.c - looks up elements of a table's arrays: open addressing over array positions. The keys are
 * in the arrays themselves, so an index is independent of the element type and of the form of a key.
 */
#include <stdlib.h>
#include <string.h>

#include "report/pairs_impl.h"

u32 dh_pairs_index_find(const struct dh_pairs *p, const struct dh_pairs_index *index, u64 hash,
                        dh_pairs_equal *equal, const void *key)
{
    if (!index->cap)
        return DH_PAIRS_NONE;
    for (size_t i = hash & (index->cap - 1); index->slots[i]; i = (i + 1) & (index->cap - 1))
        if (equal(p, index->slots[i] - 1, key))
            return index->slots[i] - 1;
    return DH_PAIRS_NONE;
}

static void place(struct dh_pairs_index *index, u64 hash, u32 at)
{
    size_t i = hash & (index->cap - 1);
    while (index->slots[i])
        i = (i + 1) & (index->cap - 1);
    index->slots[i] = at + 1;
}

void dh_pairs_index_enter(struct dh_pairs *p, struct dh_pairs_index *index, u32 at, dh_pairs_hash *hash)
{
    if ((size_t)at + 1 > index->cap / 2) {
        size_t cap = index->cap ? index->cap * 2 : 64;
        free(index->slots);
        index->slots = dh_util_alloc(cap * sizeof(*index->slots));
        memset(index->slots, 0, cap * sizeof(*index->slots));
        index->cap = cap;
        for (u32 i = 0; i < at; i++)
            place(index, hash(p, i), i);
    }
    place(index, hash(p, at), at);
}
