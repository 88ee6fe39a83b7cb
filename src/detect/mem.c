/*
 * mem.c - see mem.h. Requests above 64 KB go to the pool one by one and are remembered like blocks.
 */
#include "detect/mem.h"

#include <string.h>
#include <sys/mman.h>

#include "base/pool.h"
#include "base/sys.h"

enum { FIRST_BLOCK = 16 << 10, BLOCK = 8 << 20, HUGE_FROM = 4 << 20 };

/* Heads every piece taken from the pool; doubly linked, so that a large one can be given back. */
struct dh_mem_block {
    struct dh_mem_block *next, *prev;
    size_t size;   /* this head included */
    size_t unused; /* keeps what follows aligned to 16 */
};

static struct dh_mem_block *take(struct dh_mem *m, size_t size)
{
    if (m->limit && (size > m->limit || m->bytes > m->limit - size)) {
        m->refused = true;
        return NULL;
    }
    struct dh_mem_block *b = dh_pool_alloc(size);
    if (!b)
        return NULL;
    /* A detector that needs so much touches it all over: large pages spare it most faults and misses. */
    if (size >= HUGE_FROM)
        dh_sys3(SYS_madvise, (long)b, (long)size, MADV_HUGEPAGE);
    *b = (struct dh_mem_block){.next = m->blocks, .size = size};
    if (m->blocks)
        m->blocks->prev = b;
    m->blocks = b;
    m->bytes += size;
    return b;
}

static void give_back(struct dh_mem *m, struct dh_mem_block *b)
{
    *(b->prev ? &b->prev->next : &m->blocks) = b->next;
    if (b->next)
        b->next->prev = b->prev;
    m->bytes -= b->size;
    dh_pool_free(b, b->size);
}

static unsigned class_of(size_t n)
{
    return n <= 1 << DH_MEM_MIN_SHIFT ? DH_MEM_MIN_SHIFT : 64 - (unsigned)__builtin_clzll(n - 1);
}

void *dh_mem_alloc(struct dh_mem *m, size_t n)
{
    if (n > (size_t)1 << DH_MEM_MAX_SHIFT) {
        struct dh_mem_block *b = take(m, n + sizeof(*b));
        return b ? b + 1 : NULL;
    }
    unsigned c = class_of(n);
    size_t size = (size_t)1 << c;
    void *p = m->free_lists[c];
    if (p) {
        memcpy(&m->free_lists[c], p, sizeof(void *));
        memset(p, 0, size);
        return p;
    }
    if ((size_t)(m->end - m->at) < size) {
        /* As much again as there is, so that small work stays small. */
        size_t block = m->bytes < FIRST_BLOCK ? FIRST_BLOCK : m->bytes < BLOCK ? m->bytes : BLOCK;
        while (block < size + sizeof(struct dh_mem_block))
            block *= 2;
        struct dh_mem_block *b = take(m, block);
        if (!b)
            return NULL;
        m->at = (char *)(b + 1);
        m->end = (char *)b + block;
    }
    p = m->at;
    m->at += size;
    return p;
}

void dh_mem_free(struct dh_mem *m, void *p, size_t n)
{
    if (!p)
        return;
    if (n > (size_t)1 << DH_MEM_MAX_SHIFT) {
        give_back(m, (struct dh_mem_block *)p - 1);
        return;
    }
    unsigned c = class_of(n);
    memcpy(p, &m->free_lists[c], sizeof(void *));
    m->free_lists[c] = p;
}

void dh_mem_done(struct dh_mem *m)
{
    while (m->blocks)
        give_back(m, m->blocks);
    *m = (struct dh_mem){.limit = m->limit};
}

bool dh_mem_grow(struct dh_mem *m, void **items, u32 n, u32 *cap, u32 size)
{
    u32 more = *cap ? *cap * 2 : 4;
    void *p = more > *cap ? dh_mem_alloc(m, (size_t)more * size) : NULL;
    if (!p)
        return false;
    if (n)
        memcpy(p, *items, (size_t)n * size);
    dh_mem_free(m, *items, (size_t)*cap * size);
    *items = p;
    *cap = more;
    return true;
}
