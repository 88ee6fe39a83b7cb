/*
 * table.h - state by dense number: chunks that never move, found through one directory.
 *
 * Growing moves only the directory, so a pointer to an element stays valid. The host serialises all use.
 */
#ifndef DH_DETECT_TABLE_H
#define DH_DETECT_TABLE_H

#include "base/base.h"

enum { DH_TABLE_SHIFT = 8, DH_TABLE_CHUNK = 1 << DH_TABLE_SHIFT };

/* All zero but `size` is a valid start. */
struct dh_table {
    char **chunks;
    u32 n_chunks; /* directory entries; an entry is NULL until an element of its chunk is used */
    u32 size;     /* of an element; 0: the table has no elements */
    size_t bytes; /* taken from the pool */
};

void dh_table_done(struct dh_table *t);
void *dh_table_make(struct dh_table *t, u32 id); /* the slow half of dh_table_at */

/* The element if there is one already, else NULL. */
DH_INLINE void *dh_table_get(const struct dh_table *t, u32 id)
{
    u32 chunk = id >> DH_TABLE_SHIFT;
    if (DH_UNLIKELY(chunk >= t->n_chunks) || DH_UNLIKELY(!t->chunks[chunk]))
        return NULL;
    return t->chunks[chunk] + (size_t)(id & (DH_TABLE_CHUNK - 1)) * t->size;
}

/* The element, created (zeroed) on first use. NULL: no memory, or elements have no size. */
DH_INLINE void *dh_table_at(struct dh_table *t, u32 id)
{
    void *p = dh_table_get(t, id);
    return DH_LIKELY(p != NULL) ? p : dh_table_make(t, id);
}

/* The same where the compiler knows the size, which is t->size. */
DH_INLINE void *dh_table_at_sized(struct dh_table *t, u32 id, u32 size)
{
    u32 chunk = id >> DH_TABLE_SHIFT;
    if (DH_UNLIKELY(chunk >= t->n_chunks) || DH_UNLIKELY(!t->chunks[chunk]))
        return dh_table_make(t, id);
    return t->chunks[chunk] + (size_t)(id & (DH_TABLE_CHUNK - 1)) * size;
}

#endif
