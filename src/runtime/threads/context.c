/*
 * context.c - see context.h. A fixed array of chains; nodes are published by compare-exchange on the head, so
 * two threads may intern the same pair at once: the loser searches again before it retries, so there are no
 * duplicates.
 */
#include "runtime/threads/context.h"

#include "base/pool.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/cfi.h"

#define CHUNK_SHIFT 12
#define CHUNK (1u << CHUNK_SHIFT)
#define CHUNKS (1u << 15)
#define HEADS_SHIFT 17
enum { FOLD_LOOK_BACK = 64, EXACT = 16 };
_Static_assert((u64)CHUNKS *CHUNK <= 1ull << DH_CTX_BITS, "every number fits where it is kept");

static struct dh_ctx_node *chunks[CHUNKS]; /* set once, by compare-exchange */
static u32 heads[1u << HEADS_SHIFT];       /* newest node of each chain; atomic */
static u32 used = 1;                       /* next node number; atomic */
static u8 spent[1u << 12];                 /* recursive calls with nodes of their own, by function; atomic */

const struct dh_ctx_node *dh_ctx_node(dh_ctx_t ctx)
{
    u32 n = dh_ctx_raw(ctx);
    DH_ASSERT(n && n < CHUNKS * CHUNK && __atomic_load_n(&chunks[n >> CHUNK_SHIFT], __ATOMIC_RELAXED));
    return &chunks[n >> CHUNK_SHIFT][n & (CHUNK - 1)];
}

static u32 *head_of(dh_ctx_t parent, uptr pc)
{
    u64 n = dh_ctx_raw(parent);
    return &heads[dh_hash64(pc ^ n << 40 ^ n) >> (64 - HEADS_SHIFT)];
}

/* Search a chain from node `from` down to, not including, `to`. */
static dh_ctx_t search(u32 from, u32 to, dh_ctx_t parent, uptr pc)
{
    for (u32 n = from; n != to;) {
        const struct dh_ctx_node *node = dh_ctx_node(dh_ctx_from(n));
        if (dh_ctx_eq(node->parent, parent) && node->pc == pc)
            return dh_ctx_from(n);
        n = node->next;
    }
    return DH_CTX_NONE;
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

static u32 function_of(uptr pc)
{
    uptr start = dh_cfi_function(pc);
    return (u32)(start ? start : pc);
}

/* The nearest ancestor-or-self of `parent` that is a call from this function, or none. */
static dh_ctx_t earlier_call(dh_ctx_t parent, u32 function)
{
    dh_ctx_t n = parent;
    for (int i = 0; !dh_ctx_is_none(n) && i < FOLD_LOOK_BACK; i++, n = dh_ctx_node(n)->parent)
        if (dh_ctx_node(n)->function == function)
            return n;
    return DH_CTX_NONE;
}

/* May a recursive call from this function have a node of its own? */
static bool spend(u32 function)
{
    u8 *n = &spent[(function * 0x9E3779B1u) >> 20];
    if (__atomic_load_n(n, __ATOMIC_RELAXED) >= EXACT)
        return false;
    return __atomic_fetch_add(n, 1, __ATOMIC_RELAXED) < EXACT;
}

/* The node of exactly this pair. function 0: it is not known yet. */
static dh_ctx_t intern(dh_ctx_t parent, uptr pc, u32 function, bool folded)
{
    DH_ASSERT(dh_ctx_raw(parent) < CHUNKS * CHUNK);
    u32 *head = head_of(parent, pc);
    u32 top = __atomic_load_n(head, __ATOMIC_ACQUIRE), number;
    dh_ctx_t found = search(top, 0, parent, pc);
    struct dh_ctx_node *node = dh_ctx_is_none(found) ? node_new(&number) : NULL;
    if (dh_ctx_is_none(found) && !node)
        return DH_CTX_NONE;
    if (node) {
        node->pc = pc;
        node->folded = folded;
        node->parent = parent;
        node->function = function;
    }
    while (dh_ctx_is_none(found)) {
        node->next = top;
        u32 seen = top;
        if (__atomic_compare_exchange_n(head, &seen, number, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return dh_ctx_from(number);
        /* Someone else pushed. If it was this very pair, use theirs; ours stays unused. */
        found = search(seen, top, parent, pc);
        top = seen;
    }
    if (folded && !dh_ctx_node(found)->folded) {
        ((struct dh_ctx_node *)dh_ctx_node(found))->folded = 1;
        dh_sink_folded(found);
    }
    return found;
}

dh_ctx_t dh_ctx_intern(dh_ctx_t parent, const void *pc_ptr)
{
    uptr pc = (uptr)pc_ptr & (~0ull >> 1);
    dh_ctx_t found = search(__atomic_load_n(head_of(parent, pc), __ATOMIC_ACQUIRE), 0, parent, pc);
    if (!dh_ctx_is_none(found))
        return found;
    u32 function = function_of(pc);
    dh_ctx_t earlier = earlier_call(parent, function);
    if (dh_ctx_is_none(earlier) || spend(function))
        return intern(parent, pc, function, false);
    do {
        parent = dh_ctx_node(earlier)->parent;
        earlier = earlier_call(parent, function);
    } while (!dh_ctx_is_none(earlier));
    return intern(parent, pc, function, true);
}

dh_ctx_t dh_ctx_leaf(dh_ctx_t parent, const void *pc_ptr)
{
    return intern(parent, (uptr)pc_ptr & (~0ull >> 1), 0, false);
}
