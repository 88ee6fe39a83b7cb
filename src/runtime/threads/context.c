/*
 * context.c - see context.h. A fixed array of chains; nodes are published by compare-exchange on the
 * head, so two threads that intern the same pair at once may leave a duplicate behind the winner's: the
 * loser looks again before it retries, so there is none.
 */
#include "runtime/threads/context.h"

#include "base/pool.h"
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

const struct dh_ctx_node *dh_ctx_node(u32 ctx)
{
    DH_ASSERT(ctx && ctx < CHUNKS * CHUNK && __atomic_load_n(&chunks[ctx >> CHUNK_SHIFT], __ATOMIC_RELAXED));
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

static u32 function_of(uptr pc)
{
    uptr start = dh_cfi_function(pc);
    return (u32)(start ? start : pc);
}

/* The nearest ancestor-or-self of `parent` that is a call from this function, or 0. */
static u32 earlier_call(u32 parent, u32 function)
{
    u32 n = parent;
    for (int i = 0; n && i < FOLD_LOOK_BACK; i++, n = dh_ctx_node(n)->parent)
        if (dh_ctx_node(n)->function == function)
            return n;
    return 0;
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
static u32 intern(u32 parent, uptr pc, u32 function, bool folded)
{
    DH_ASSERT(parent < CHUNKS * CHUNK);
    u32 *head = head_of(parent, pc);
    u32 top = __atomic_load_n(head, __ATOMIC_ACQUIRE);
    u32 found = search(top, 0, parent, pc), number;
    struct dh_ctx_node *node = found ? NULL : node_new(&number);
    if (!found && !node)
        return 0;
    if (node) {
        node->pc = pc;
        node->folded = folded;
        node->parent = parent;
        node->function = function;
    }
    while (!found) {
        node->next = top;
        u32 seen = top;
        if (__atomic_compare_exchange_n(head, &seen, number, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return number;
        /* Someone else pushed. If it was this very pair, use theirs; ours stays unused. */
        found = search(seen, top, parent, pc);
        top = seen;
    }
    if (folded && !dh_ctx_node(found)->folded)
        chunks[found >> CHUNK_SHIFT][found & (CHUNK - 1)].folded = 1;
    return found;
}

u32 dh_ctx_intern(u32 parent, const void *pc_ptr)
{
    uptr pc = (uptr)pc_ptr & (~0ull >> 1);
    u32 found = search(__atomic_load_n(head_of(parent, pc), __ATOMIC_ACQUIRE), 0, parent, pc);
    if (found)
        return found;
    u32 function = function_of(pc), earlier = earlier_call(parent, function);
    if (!earlier || spend(function))
        return intern(parent, pc, function, false);
    do {
        parent = dh_ctx_node(earlier)->parent;
        earlier = earlier_call(parent, function);
    } while (earlier);
    return intern(parent, pc, function, true);
}

u32 dh_ctx_leaf(u32 parent, const void *pc_ptr)
{
    return intern(parent, (uptr)pc_ptr & (~0ull >> 1), 0, false);
}
