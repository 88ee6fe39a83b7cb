/*
 * table.c - see table.h.
 */
#include "detect/table.h"

#include <string.h>

#include "base/pool.h"

static bool grow_directory(struct dh_table *t, u32 chunk)
{
    u32 n = t->n_chunks ? t->n_chunks : 64;
    while (n <= chunk)
        n *= 2;
    char **chunks = dh_pool_alloc(n * sizeof(*chunks));
    if (!chunks)
        return false;
    if (t->n_chunks)
        memcpy(chunks, t->chunks, t->n_chunks * sizeof(*chunks));
    dh_pool_free(t->chunks, t->n_chunks * sizeof(*chunks));
    t->bytes += (n - t->n_chunks) * sizeof(*chunks);
    t->chunks = chunks;
    t->n_chunks = n;
    return true;
}

void *dh_table_make(struct dh_table *t, u32 id)
{
    u32 chunk = id >> DH_TABLE_SHIFT;
    if (!t->size || (chunk >= t->n_chunks && !grow_directory(t, chunk)))
        return NULL;
    if (!t->chunks[chunk]) {
        t->chunks[chunk] = dh_pool_alloc((size_t)t->size * DH_TABLE_CHUNK);
        if (!t->chunks[chunk])
            return NULL;
        t->bytes += (size_t)t->size * DH_TABLE_CHUNK;
    }
    return dh_table_get(t, id);
}

void dh_table_done(struct dh_table *t)
{
    for (u32 i = 0; i < t->n_chunks; i++)
        dh_pool_free(t->chunks[i], (size_t)t->size * DH_TABLE_CHUNK);
    dh_pool_free(t->chunks, t->n_chunks * sizeof(*t->chunks));
    *t = (struct dh_table){.size = t->size};
}
