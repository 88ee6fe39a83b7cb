/*
 * pool.c - see pool.h.
 *
 * Up to 32 KB a request is rounded up to a power of two (16 at least) and served from a free list,
 * else from a 256 KB slab; larger ones are mapped and unmapped one by one.
 */
#include "base/pool.h"

#include <string.h>

#include "base/sys.h"

enum { MIN_SHIFT = 4, MAX_SHIFT = 15, SLAB = 256 << 10 };

struct free_block {
    struct free_block *next;
};

/* All under `lock`. */
static struct dh_lock lock = DH_LOCK_INIT(DH_RANK_POOL);
static struct free_block *free_lists[MAX_SHIFT + 1];
static char *slab, *slab_end;
static size_t total;
static size_t limit; /* of it; 0: none. Set before there are threads */

static unsigned class_of(size_t n)
{
    unsigned shift = MIN_SHIFT;
    while (((size_t)1 << shift) < n)
        shift++;
    return shift;
}

static void *map_large(size_t n)
{
    if (limit && (n > limit || dh_pool_bytes() > limit - n))
        return NULL;
    void *p = dh_sys_map_own(DH_ALIGN_UP(n, 4096));
    if (p)
        __atomic_fetch_add(&total, DH_ALIGN_UP(n, 4096), __ATOMIC_RELAXED);
    return p;
}

void *dh_pool_alloc(size_t n)
{
    if (n > (size_t)1 << MAX_SHIFT)
        return map_large(n);
    unsigned c = class_of(n);
    size_t size = (size_t)1 << c;
    dh_lock_take(&lock);
    struct free_block *b = free_lists[c];
    if (b) {
        free_lists[c] = b->next;
        dh_lock_drop(&lock);
        memset(b, 0, size);
        return b;
    }
    if ((size_t)(slab_end - slab) < size) {
        char *fresh = map_large(SLAB);
        if (!fresh) {
            dh_lock_drop(&lock);
            return NULL;
        }
        slab = fresh;
        slab_end = fresh + SLAB;
    }
    void *p = slab;
    slab += size;
    dh_lock_drop(&lock);
    return p;
}

void dh_pool_free(void *p, size_t n)
{
    if (!p)
        return;
    if (n > (size_t)1 << MAX_SHIFT) {
        __atomic_fetch_sub(&total, DH_ALIGN_UP(n, 4096), __ATOMIC_RELAXED);
        dh_sys_unmap(p, DH_ALIGN_UP(n, 4096));
        return;
    }
    unsigned c = class_of(n);
    struct free_block *b = p;
    dh_lock_take(&lock);
    b->next = free_lists[c];
    free_lists[c] = b;
    dh_lock_drop(&lock);
}

size_t dh_pool_bytes(void)
{
    return __atomic_load_n(&total, __ATOMIC_RELAXED);
}

void dh_pool_limit(size_t bytes)
{
    limit = bytes;
}

void dh_pool_each_lock(dh_lock_fn *fn)
{
    fn(&lock);
}
