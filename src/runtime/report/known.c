/*
 * known.c - see known.h.
 *
 * A race is identified by the two calling contexts and, for globals, by the address; beyond MANY contexts for
 * one pair of program counters, or MANY addresses for one pair of contexts, further ones count as repetitions
 * of the first. Those have no entry of their own: a recursive program has an unlimited number of contexts,
 * and would fill the table with races that are not reported anyway.
 */
#include "runtime/report/known.h"

#include <string.h>

#include "base/pool.h"
#include "runtime/init.h"
#include "runtime/report/modules.h"
#include "runtime/runtime.h"
#include "runtime/shadow/ids.h"
#include "runtime/threads/context.h"

enum { KNOWN = 8192, MANY = 8 };

static u32 races; /* records written */

/* Open addressing; key 0 is empty. A full table means: everything new counts as lost. */
struct known {
    u64 key;
    u32 race;  /* record it belongs to */
    u32 count; /* repetitions */
    uptr addr; /* in by_context: where it was first seen */
    u32 more;  /* in by_context: on how many other globals; in by_pc: with how many contexts */
};
static struct table {
    u32 used;
    struct known e[KNOWN];
} by_context, by_pc;

static struct known *look_up(struct table *t, u64 key, bool make)
{
    u32 i = (u32)(dh_hash64(key) >> 32) % KNOWN;
    while (t->e[i].key && t->e[i].key != key)
        i = (i + 1) % KNOWN;
    if (!t->e[i].key) {
        if (!make || t->used >= KNOWN / 2)
            return NULL;
        t->e[i].key = key;
        t->used++;
    }
    return &t->e[i];
}

static u64 leaf_pc(dh_ctx_t ctx)
{
    return dh_ctx_is_none(ctx) ? 0 : dh_ctx_node(ctx)->pc;
}

/* The key of an unordered pair; never 0. */
static u64 pair_key(u64 a, u64 b)
{
    return (dh_hash64(a < b ? a : b) * 31 + dh_hash64(~(a < b ? b : a))) | 1;
}

/* The same calls may race on several globals, or on several members of one: the first MANY addresses have
 * records of their own. The reporter knows which of them are really one race, for example elements of an
 * array. */
static struct known *variant(struct known *k, uptr addr)
{
    u64 key = pair_key(k->key, addr);
    if (k->addr == addr)
        return k;
    struct known *v = look_up(&by_context, key, false);
    if (v || k->more >= MANY)
        return v ? v : k;
    dh_modules_take();
    bool global = dh_modules_find(addr) != NULL;
    dh_modules_drop();
    v = global ? look_up(&by_context, key, true) : NULL;
    k->more += v != NULL;
    return v ? v : k;
}

/* The entry that counts a race; a new one has no record yet. NULL: there is no room for another. */
static struct known *entry(const struct dh_access_rec *a, const struct dh_access_rec *b, uptr addr)
{
    u64 contexts = pair_key(dh_ctx_raw(a->ctx), dh_ctx_raw(b->ctx));
    struct known *k = look_up(&by_context, contexts, false);
    if (k)
        return k->race ? variant(k, addr) : k;
    struct known *pcs = look_up(&by_pc, pair_key(leaf_pc(a->ctx), leaf_pc(b->ctx)), true);
    if (pcs && pcs->more >= MANY)
        return pcs;
    k = pcs ? look_up(&by_context, contexts, true) : NULL;
    if (k)
        k->addr = addr;
    return k;
}

/* The entry k has become a record. */
static void note_context(const struct dh_access_rec *a, const struct dh_access_rec *b, const struct known *k)
{
    struct known *pcs = look_up(&by_pc, pair_key(leaf_pc(a->ctx), leaf_pc(b->ctx)), false);
    if (!pcs || k->key != pair_key(dh_ctx_raw(a->ctx),
                                   dh_ctx_raw(b->ctx))) /* a variant has the contexts of another record */
        return;
    if (pcs->more++ == 0)
        pcs->race = k->race;
}

u32 dh_known_race(dh_id_t id, dh_id_t other, uptr addr)
{
    const struct dh_access_rec a = dh_id_get(id), b = dh_id_get(other);
    struct known *k = entry(&a, &b, addr);
    if (k && k->race) {
        k->count++;
        return 0;
    }
    if (!k || races >= (u32)dh_opts.max_reports) {
        dh_runtime_count(DH_COUNT_LOST_REPORTS);
        return 0;
    }
    k->race = ++races;
    k->addr = addr;
    note_context(&a, &b, k);
    return k->race;
}

u32 dh_known_count(void)
{
    return races;
}

static void each_repeat(const struct table *t, void (*fn)(u32 race, u32 count))
{
    for (u32 i = 0; i < KNOWN; i++) {
        const struct known *k = &t->e[i];
        if (k->key && k->count)
            fn(k->race, k->count);
    }
}

void dh_known_each_repeat(void (*fn)(u32 race, u32 count))
{
    each_repeat(&by_context, fn);
    each_repeat(&by_pc, fn);
}

void dh_known_forget(void)
{
    races = 0;
    memset(&by_context, 0, sizeof(by_context));
    memset(&by_pc, 0, sizeof(by_pc));
}
