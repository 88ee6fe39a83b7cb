/*
 * lockset.c - see lockset.h. Lock-free like context.c, but smaller: a duplicate after a collision of two
 * threads is harmless here, so the loser does not search again.
 */
#include "runtime/threads/lockset.h"

#include "base/pool.h"

#define CHUNK_SHIFT 12
#define CHUNK (1u << CHUNK_SHIFT)
#define HEADS_SHIFT 16
_Static_assert(CHUNK_SHIFT <= DH_LOCKSET_BITS, "chunks divide the numbers");

static struct dh_lockset_node *chunks[(1u << DH_LOCKSET_BITS) >> CHUNK_SHIFT]; /* set once */
static u32 heads[1u << HEADS_SHIFT];                                           /* atomic */
static u32 used = 1;                                                           /* atomic */

const struct dh_lockset_node *dh_lockset_node(dh_lockset_t set)
{
    u32 n = dh_lockset_raw(set);
    DH_ASSERT(n && n <= DH_LOCKSET_MAX && __atomic_load_n(&chunks[n >> CHUNK_SHIFT], __ATOMIC_RELAXED));
    return &chunks[n >> CHUNK_SHIFT][n & (CHUNK - 1)];
}

dh_lockset_t dh_lockset_with(dh_lockset_t set, uptr lock, bool read, dh_ctx_t ctx)
{
    if (dh_lockset_is_unknown(set))
        return set;
    DH_ASSERT(dh_lockset_raw(set) <= DH_LOCKSET_MAX);
    u32 *head = &heads[dh_hash64(lock ^ (u64)dh_lockset_raw(set) << 44 ^ (u64)dh_ctx_raw(ctx) << 13) >>
                       (64 - HEADS_SHIFT)];
    u32 top = __atomic_load_n(head, __ATOMIC_ACQUIRE);
    const struct dh_lockset_node *o;
    for (u32 n = top; n; n = o->next) {
        o = dh_lockset_node(dh_lockset_from(n));
        if (o->lock == lock && dh_lockset_eq(o->parent, set) && dh_ctx_eq(o->ctx, ctx) && o->read == read)
            return dh_lockset_from(n);
    }
    if (__atomic_load_n(&used, __ATOMIC_RELAXED) > DH_LOCKSET_MAX)
        return DH_LOCKSET_UNKNOWN;
    u32 number = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
    if (number > DH_LOCKSET_MAX)
        return DH_LOCKSET_UNKNOWN;
    struct dh_lockset_node **slot = &chunks[number >> CHUNK_SHIFT];
    if (!__atomic_load_n(slot, __ATOMIC_ACQUIRE)) {
        struct dh_lockset_node *fresh = dh_pool_alloc(CHUNK * sizeof(*fresh)), *none = NULL;
        if (!fresh)
            return DH_LOCKSET_UNKNOWN;
        if (!__atomic_compare_exchange_n(slot, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            dh_pool_free(fresh, CHUNK * sizeof(*fresh));
    }
    struct dh_lockset_node *node = &(*slot)[number & (CHUNK - 1)];
    *node = (struct dh_lockset_node){.lock = lock, .read = read, .ctx = ctx, .parent = set, .next = top};
    while (!__atomic_compare_exchange_n(head, &node->next, number, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        ;
    return dh_lockset_from(number);
}
