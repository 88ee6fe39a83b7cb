/*
 * discipline.c - see discipline.h. Reads all records of access ids that were taken and not overwritten yet,
 * and counts those made at one of the two places.
 *
 * Nothing stops other threads from taking ids meanwhile: a record is one word, written atomically, and every
 * record found was an access at some time. So the counts are of accesses that were really made, though not of
 * all of them. (Thread and clock are stored once per block of ids. If the block changes owners just then, one
 * observation may be mistaken for another.) Under DH_RANK_REPORT, whose holder also owns the tables here.
 */
#include "runtime/report/discipline.h"

#include <string.h>

#include "base/tally.h"
#include "runtime/shadow/ids.h"

enum {
    RECORDS = 1 << 21, /* examined at most: 16 MiB, some milliseconds */
    MEMO = 256,        /* contexts whose place is remembered */
};

static struct dh_tally by_lock, by_call, by_order;

/* The key counted most often, 0 if there is none. */
static uptr most(const struct dh_tally *t, u32 *ret_count)
{
    u32 best = dh_tally_most(t, ret_count);
    return *ret_count ? (uptr)t->keys[best] : 0;
}

/* One access: a call that took two of its locks is counted once. */
static void add_locks(dh_lockset_t set)
{
    for (dh_lockset_t s = set; dh_lockset_is_listed(s); s = dh_lockset_node(s)->parent) {
        const struct dh_lockset_node *n = dh_lockset_node(s);
        bool again = dh_ctx_is_none(n->ctx);
        for (dh_lockset_t o = set; !again && !dh_lockset_eq(o, s); o = dh_lockset_node(o)->parent)
            again = !dh_ctx_is_none(dh_lockset_node(o)->ctx) &&
                    dh_ctx_node(dh_lockset_node(o)->ctx)->pc == dh_ctx_node(n->ctx)->pc;
        dh_tally_add(&by_lock, n->lock);
        if (!again)
            dh_tally_add(&by_call, dh_ctx_node(n->ctx)->pc);
    }
}

/* ---- What the thread that found the race acquired from accesses at the other place ---- */

/* For each acquisition. */
static struct {
    bool of_it; /* ... which was such an access */
    u32 next;   /* clock of its own first access after that; UINT32_MAX: none */
} lessons[DH_TAUGHT];

static u32 n_lessons(const struct dh_thread *t)
{
    return t->n_taught < DH_TAUGHT ? t->n_taught : DH_TAUGHT;
}

static void forget_lessons(void)
{
    for (u32 i = 0; i < DH_TAUGHT; i++) {
        lessons[i].of_it = false;
        lessons[i].next = UINT32_MAX;
    }
}

/* Another thread's access at the other place. */
static void note_theirs(const struct dh_thread *t, dh_slot_t slot, u32 clock)
{
    for (u32 i = 0; i < n_lessons(t); i++) {
        const struct dh_taught *l = &t->taught[i];
        lessons[i].of_it |= dh_slot_eq(l->slot, slot) && clock > l->before && clock <= l->clock;
    }
}

/* Its own access. In an epoch with an acquisition it is unknown which came first. */
static void note_mine(const struct dh_thread *t, u32 clock)
{
    for (u32 i = 0; i < n_lessons(t); i++)
        if (t->taught[i].epoch < clock && clock < lessons[i].next)
            lessons[i].next = clock;
}

/* Earlier accesses cannot be distinguished from those without a preceding acquisition. */
static u32 first_known(const struct dh_thread *t)
{
    return t->n_taught > DH_TAUGHT ? t->taught[t->n_taught % DH_TAUGHT].epoch + 1 : 0;
}

/* An access preceded by two acquisitions from one object counts once. */
static void count_lessons(const struct dh_thread *t)
{
    for (u32 i = 0; i < n_lessons(t); i++) {
        bool counts = lessons[i].of_it && lessons[i].next != UINT32_MAX;
        for (u32 k = 0; counts && k < i; k++)
            counts = !(lessons[k].of_it && lessons[k].next == lessons[i].next &&
                       t->taught[k].addr == t->taught[i].addr);
        if (counts)
            dh_tally_add(&by_order, t->taught[i].addr);
    }
}

/* ---- All records ---- */

enum { HERE = 1, THERE = 2 };

static struct {
    u32 ctx, where;
} memo[MEMO];

/* At which of the two places (both, if they are the same) was an access with this context made? */
static u32 where(u32 ctx, uptr here, uptr there)
{
    u32 slot = ctx % MEMO;
    if (memo[slot].ctx != ctx) {
        uptr at = dh_ctx_node(dh_ctx_from(ctx))->pc;
        memo[slot].ctx = ctx;
        memo[slot].where = (at == here ? HERE : 0) | (at == there ? THERE : 0);
    }
    return memo[slot].where;
}

void dh_discipline_find(const struct dh_thread *t, uptr here, uptr there, struct dh_discipline *ret)
{
    u32 end = dh_id_raw(dh_ids_end()), last = 0;
    struct dh_discipline d = {0};
    memset(memo, 0, sizeof(memo));
    by_lock.n = by_call.n = by_order.n = 0;
    forget_lessons();
    for (u32 n = DH_ID_BLOCK; n < end && n < RECORDS; n++) {
        const struct dh_id_rec *chunk =
            __atomic_load_n(&dh_id_chunks[n >> DH_ID_CHUNK_SHIFT], __ATOMIC_ACQUIRE);
        if (!chunk) { /* a block of it was counted before there was memory for its records */
            n |= DH_ID_CHUNK - 1;
            continue;
        }
        struct dh_id_rec rec;
        __atomic_load(&chunk[n & (DH_ID_CHUNK - 1)], &rec, __ATOMIC_RELAXED);
        u32 at = rec.ctx ? where((u32)rec.ctx, here, there) : 0;
        if (!at)
            continue;
        const struct dh_id_first first = *dh_id_first(dh_id_from(n));
        u32 clock = first.clock + (u32)rec.later;
        bool mine = dh_uid_eq(first.uid, t->uid);
        d.accesses++;
        add_locks(dh_lockset_from((u32)rec.lockset));
        if (!mine && (at & THERE))
            note_theirs(t, dh_id_slot(dh_id_from(n)), clock);
        if (!mine || !(at & HERE) || clock == last || clock < first_known(t))
            continue;
        last = clock;
        d.observations++;
        note_mine(t, clock);
    }
    count_lessons(t);
    d.lock = most(&by_lock, &d.held);
    d.taken_at = most(&by_call, &d.held_from);
    d.order = most(&by_order, &d.ordered);
    *ret = d;
}
