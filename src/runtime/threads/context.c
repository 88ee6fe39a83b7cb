/*
 * context.c - see context.h. A fixed array of chains; nodes are published by compare-exchange on the
 * head, so two threads that intern the same pair at once may leave a duplicate behind the winner's: the
 * loser looks again before it retries, so there is none.
 */
#include "runtime/threads/context.h"

#include "base/pool.h"

#define CHUNK_SHIFT 12
#define CHUNK (1u << CHUNK_SHIFT)
#define CHUNKS (1u << 15)
#define HEADS_SHIFT 17
enum { FOLD_LOOK_BACK = 64 };

static struct dh_ctx_node *chunks[CHUNKS]; /* set once, by compare-exchange */
static u32 heads[1u << HEADS_SHIFT];       /* newest node of each chain; atomic */
static u32 used = 1;                       /* next node number; atomic */

const struct dh_ctx_node *dh_ctx_node(u32 ctx)
{
    return &chunks[ctx >> CHUNK_SHIFT][ctx & (CHUNK - 1)];
}

static u32 *head_of(u32 parent, uptr pc)
{
    return &heads[dh_hash64(pc ^ (u64)parent << 40 ^ parent) >> (64 - HEADS_SHIFT)];
}

/* Search a chain from `from` down to, not including, `to`. */
static u32 search(u32 from, u32 to, u32 parent, uptr pc)
{
    for (u32 n = from; n != to; n = dh_ctx_node(n)->next)
        if (dh_ctx_node(n)->parent == parent && dh_ctx_node(n)->pc == pc)
            return n;
    return 0;
}

static struct dh_ctx_node *node_new(u32 *ret_number)
{
    u32 n = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    if (n >= CHUNKS * CHUNK) {
        __atomic_fetch_sub(&used, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    struct dh_ctx_node **slot = &chunks[n >> CHUNK_SHIFT];
    if (!__atomic_load_n(slot, __ATOMIC_ACQUIRE)) {
        struct dh_ctx_node *fresh = dh_pool_alloc(CHUNK * sizeof(*fresh)), *none = NULL;
        if (!fresh)
            return NULL;
        if (!__atomic_compare_exchange_n(slot, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            dh_pool_free(fresh, CHUNK * sizeof(*fresh));
    }
    *ret_number = n;
    return &(*slot)[n & (CHUNK - 1)];
}

/* The nearest ancestor-or-self of `parent` reached by the same pc, or 0. */
static u32 fold(u32 parent, uptr pc)
{
    u32 n = parent;
    for (int i = 0; n && i < FOLD_LOOK_BACK; i++, n = dh_ctx_node(n)->parent) {
        if (dh_ctx_node(n)->pc == pc) {
            chunks[n >> CHUNK_SHIFT][n & (CHUNK - 1)].folded = 1;
            return n;
        }
    }
    return 0;
}

u32 dh_ctx_intern(u32 parent, const void *pc_ptr)
{
    uptr pc = (uptr)pc_ptr & (~0ull >> 1);
    u32 *head = head_of(parent, pc);
    u32 top = __atomic_load_n(head, __ATOMIC_ACQUIRE);
    u32 found = search(top, 0, parent, pc);
    if (found)
        return found;
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) > DH_CTX_FOLD_AT && (found = fold(parent, pc)))
        return found;
    u32 number;
    struct dh_ctx_node *node = node_new(&number);
    if (!node)
        return 0;
    node->pc = pc;
    node->parent = parent;
    for (;;) {
        node->next = top;
        u32 seen = top;
        if (__atomic_compare_exchange_n(head, &seen, number, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return number;
        /* Someone else pushed. If it was this very pair, use theirs; ours stays unused. */
        found = search(seen, top, parent, pc);
        if (found)
            return found;
        top = seen;
    }
}
