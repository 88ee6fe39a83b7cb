/*
 * discipline.c - see discipline.h. Reads the records of access ids, all that were handed out and are not
 * overwritten yet, and counts those made at one of the two places.
 *
 * Nothing stops other threads from taking ids meanwhile: a record is one word, written at once, and every
 * record that is found was an access at some time. So the counts are of accesses that were made, though not
 * of all of them. Under DH_RANK_REPORT, whose holder also owns the tables here.
 */
#include "runtime/report/discipline.h"

#include <string.h>

#include "runtime/shadow/ids.h"

enum {
    RECORDS = 1 << 21, /* looked at: 16 MiB, some milliseconds */
    KEYS = 64,         /* locks and calls told apart; further ones are not counted */
    MEMO = 256,        /* contexts whose place is remembered */
};

struct tally {
    u64 keys[KEYS];
    u32 counts[KEYS];
    u32 n;
};

static struct tally by_lock, by_call;

static void add(struct tally *t, u64 key)
{
    u32 i = 0;
    while (i < t->n && t->keys[i] != key)
        i++;
    if (i == KEYS)
        return;
    if (i == t->n) {
        t->keys[t->n] = key;
        t->counts[t->n++] = 0;
    }
    t->counts[i]++;
}

static u64 most(const struct tally *t, u32 *ret_count)
{
    u32 best = 0;
    *ret_count = 0;
    for (u32 i = 0; i < t->n; i++)
        if (t->counts[i] > *ret_count) {
            *ret_count = t->counts[i];
            best = i;
        }
    return *ret_count ? t->keys[best] : 0;
}

/* One access: a call that took two of its locks counts once. */
static void add_locks(dh_lockset_t set)
{
    for (dh_lockset_t s = set; dh_lockset_is_listed(s); s = dh_lockset_node(s)->parent) {
        const struct dh_lockset_node *n = dh_lockset_node(s);
        bool again = dh_ctx_is_none(n->ctx);
        for (dh_lockset_t o = set; !again && !dh_lockset_eq(o, s); o = dh_lockset_node(o)->parent)
            again = !dh_ctx_is_none(dh_lockset_node(o)->ctx) &&
                    dh_ctx_node(dh_lockset_node(o)->ctx)->pc == dh_ctx_node(n->ctx)->pc;
        add(&by_lock, n->lock);
        if (!again)
            add(&by_call, dh_ctx_node(n->ctx)->pc);
    }
}

void dh_discipline_find(uptr pc, uptr other, struct dh_discipline *ret)
{
    static struct {
        u32 ctx;
        bool here;
    } memo[MEMO];
    u32 end = dh_id_raw(dh_ids_end()), accesses = 0;
    memset(memo, 0, sizeof(memo));
    by_lock.n = by_call.n = 0;
    for (u32 n = DH_ID_BLOCK; n < end && n < RECORDS; n++) {
        const struct dh_id_rec *chunk =
            __atomic_load_n(&dh_id_chunks[n >> DH_ID_CHUNK_SHIFT], __ATOMIC_ACQUIRE);
        if (!chunk) { /* a block of it was counted before there was memory for its records */
            n |= DH_ID_CHUNK - 1;
            continue;
        }
        struct dh_id_rec r;
        __atomic_load(&chunk[n & (DH_ID_CHUNK - 1)], &r, __ATOMIC_RELAXED);
        u32 ctx = (u32)r.ctx, slot = ctx % MEMO;
        if (ctx == 0)
            continue;
        if (memo[slot].ctx != ctx) {
            uptr at = dh_ctx_node(dh_ctx_from(ctx))->pc;
            memo[slot].ctx = ctx;
            memo[slot].here = at == pc || at == other;
        }
        if (!memo[slot].here)
            continue;
        accesses++;
        add_locks(dh_lockset_from((u32)r.lockset));
    }
    struct dh_discipline d = {.accesses = accesses};
    d.lock = (uptr)most(&by_lock, &d.held);
    d.taken_at = (uptr)most(&by_call, &d.held_from);
    *ret = d;
}
