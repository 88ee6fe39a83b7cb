/*
 * stacks.c - see stacks.h. Threads may describe the same context at the same time: then they write the same
 * values.
 */
#include "runtime/sink/stacks.h"

#include <string.h>

#include "runtime/report/report.h"
#include "runtime/sink/tap.h"

static void changed(struct dh_feed_layout *arena)
{
    __atomic_fetch_add(&arena->head.told, 1, __ATOMIC_RELEASE);
}

u32 dh_stacks_tell(struct dh_feed_layout *arena, dh_ctx_t ctx)
{
    u32 number = dh_ctx_raw(ctx);
    if (number >= DH_DHT_CONTEXTS) {
        __atomic_store_n(&arena->head.lost, 1, __ATOMIC_RELAXED);
        return 0;
    }
    for (; !dh_ctx_is_none(ctx); ctx = dh_ctx_node(ctx)->parent) {
        const struct dh_ctx_node *node = dh_ctx_node(ctx);
        struct dh_feed_context *c = &arena->contexts[dh_ctx_raw(ctx)];
        if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE))
            break;
        DH_ASSERT(dh_ctx_raw(node->parent) < dh_ctx_raw(ctx));
        c->pc = dh_report_shows(node->pc) ? node->pc : 0;
        c->parent = dh_ctx_raw(node->parent);
        dh_stacks_raise(&arena->head.contexts, dh_ctx_raw(ctx) + 1);
        __atomic_fetch_or(&c->state, DH_FEED_TOLD | (node->folded ? DH_FEED_FOLDED : 0), __ATOMIC_RELEASE);
        changed(arena);
    }
    return number;
}

void dh_stacks_tell_folded(struct dh_feed_layout *arena, dh_ctx_t ctx)
{
    if (dh_ctx_raw(ctx) >= DH_DHT_CONTEXTS)
        return;
    struct dh_feed_context *c = &arena->contexts[dh_ctx_raw(ctx)];
    if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_or(&c->state, DH_FEED_FOLDED, __ATOMIC_RELEASE);
        changed(arena);
    }
}

void dh_stacks_tell_thread(struct dh_feed_layout *arena, dh_uid_t uid)
{
    u32 n = dh_tap_thread(uid);
    dh_lock_take(&dh_threads_lock);
    const struct dh_thread_info *known = dh_thread_info(uid);
    const struct dh_thread_info info = known ? *known : (struct dh_thread_info){0};
    dh_lock_drop(&dh_threads_lock);
    if (!known || n >= DH_DHT_LIVES)
        return;
    struct dh_feed_thread *to = &arena->threads[n];
    to->facts = (struct dh_dht_thread){.uid = n,
                                       .parent = dh_uid_raw(info.parent),
                                       .created_at = dh_stacks_tell(arena, info.created_at),
                                       .tid = (u32)info.tid,
                                       .stack_lo = info.stack_lo,
                                       .stack_hi = info.stack_hi,
                                       .tls_lo = info.tls_lo,
                                       .tls_hi = info.tls_hi,
                                       .tp = info.tp};
    _Static_assert(sizeof(to->facts.name) == sizeof(info.name), "names fit");
    memcpy(to->facts.name, info.name, sizeof(info.name));
    dh_stacks_raise(&arena->head.threads, n + 1);
    __atomic_fetch_add(&to->changes, 1, __ATOMIC_RELEASE);
    changed(arena);
}
