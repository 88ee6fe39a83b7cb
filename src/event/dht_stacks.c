/*
 * dht_stacks.c - see dht_stacks.h.
 */
#include "event/dht_stacks.h"

#include <errno.h>
#include <string.h>

#include "base/pool.h"
#include "event/dht_reader.h"
#include "event/dht_write.h"
#include "event/varint.h"

/* What the pc of a context is a distance from: see dht_stacks.h. */
struct bases {
    u64 last, other;
};

static void step(struct bases *b, u64 pc, u64 away, bool other)
{
    if (other || away >> 32)
        b->other = b->last;
    b->last = pc;
}

/* ---- Writing ---- */

enum { CONTEXT_MOST = 3 * DH_VARINT_MAX, THREAD_MOST = 9 * DH_VARINT_MAX + 1 + 16 };

static u8 *put_contexts(u8 *at, const struct dh_dht_context *contexts, size_t n)
{
    u32 number = 0;
    struct bases bases = {0};
    at = dh_varint_put(at, n);
    for (size_t i = 0; i < n; i++) {
        const struct dh_dht_context *c = &contexts[i];
        DH_ASSERT(c->number > number && c->parent < c->number);
        at = dh_varint_put(at, c->number - number);
        at = dh_varint_put(at, c->number - c->parent);
        u64 from_last = dh_varint_fold((u64)c->pc - bases.last),
            from_other = dh_varint_fold((u64)c->pc - bases.other);
        bool other = from_other < from_last;
        u64 away = other ? from_other : from_last;
        at = dh_varint_put(at, away << 2 | (u64)other << 1 | c->folded);
        step(&bases, c->pc, away, other);
        number = c->number;
    }
    return at;
}

static u64 stack_size(const struct dh_dht_thread *t)
{
    return t->stack_hi - t->stack_lo;
}

static u8 *put_threads(u8 *at, const struct dh_dht_thread *threads, size_t n)
{
    struct dh_dht_thread last = {0};
    at = dh_varint_put(at, n);
    for (size_t i = 0; i < n; i++) {
        const struct dh_dht_thread *t = &threads[i];
        size_t name = strnlen(t->name, sizeof(t->name) - 1);
        at = dh_varint_put(at, t->uid);
        at = dh_varint_put(at, t->parent);
        at = dh_varint_put(at, t->created_at);
        at = dh_varint_put(at, dh_varint_fold((u64)t->tid - last.tid));
        at = dh_varint_put(at, dh_varint_fold(t->stack_lo - last.stack_lo));
        at = dh_varint_put(at, dh_varint_fold(stack_size(t) - stack_size(&last)));
        at = dh_varint_put(at, dh_varint_fold(t->tp - t->stack_hi));
        at = dh_varint_put(at, t->tp - t->tls_lo);
        at = dh_varint_put(at, t->tls_hi - t->tp);
        *at++ = (u8)name;
        memcpy(at, t->name, name);
        at += name;
        last = *t;
    }
    return at;
}

int dh_dht_write_stacks(struct dh_dht_writer *w, const struct dh_dht_context *contexts, size_t n,
                        const struct dh_dht_thread *threads, size_t m)
{
    struct dh_dht_chunk head = {.type = DH_DHT_STACKS, .first = DH_DHT_NO_TICKET};
    size_t room = n * CONTEXT_MOST + m * THREAD_MOST + 2 * DH_VARINT_MAX;
    u8 *raw = dh_pool_alloc(room);
    if (!raw)
        return -ENOMEM;
    const u8 *end = put_threads(put_contexts(raw, contexts, n), threads, m);
    int rc = dh_dht_write_chunk(w, &head, raw, (size_t)(end - raw));
    dh_pool_free(raw, room);
    return rc;
}

/* ---- Reading ---- */

struct cursor {
    const u8 *at, *end;
    bool bad;
};

static u64 get(struct cursor *c)
{
    u64 v = 0;
    c->bad |= !dh_varint_get(&c->at, c->end, &v);
    return v;
}

static int take_context(struct dh_dht *r, u32 number, u32 parent, u64 pc, bool folded)
{
    while (number >= r->stacks.cap) {
        u32 cap = r->stacks.cap;
        if (!dh_dht_grow((void **)&r->stacks.contexts, cap, &r->stacks.cap, sizeof(*r->stacks.contexts)))
            return -ENOMEM;
    }
    struct dh_dht_context *c = &r->stacks.contexts[number];
    folded |= c->folded;
    *c = (struct dh_dht_context){.pc = pc, .folded = folded, .number = number, .parent = parent};
    return 0;
}

static int take_contexts(struct dh_dht *r, u64 offset, struct cursor *c)
{
    u64 number = 0;
    struct bases bases = {0};
    for (u64 n = get(c); n > 0 && !c->bad; n--) {
        u64 more = get(c), up = get(c), away = get(c);
        number += more;
        if (c->bad || more == 0 || more >= DH_DHT_CONTEXTS || number >= DH_DHT_CONTEXTS || up == 0 ||
            up > number)
            return dh_dht_bad(r, offset, "a context is not as it should be");
        bool other = away & 2;
        u64 pc = (other ? bases.other : bases.last) + dh_varint_unfold(away >> 2);
        step(&bases, pc, away >> 2, other);
        int rc = take_context(r, (u32)number, (u32)(number - up), pc, away & 1);
        if (rc)
            return rc;
    }
    return 0;
}

static u64 get_from(struct cursor *c, u64 base)
{
    return base + dh_varint_unfold(get(c));
}

/* *last is the thread before it, and becomes this one. */
static int take_thread(struct dh_dht *r, u64 offset, struct cursor *c, struct dh_dht_thread *last)
{
    u64 uid = get(c), parent = get(c), created_at = get(c), tid = get_from(c, last->tid);
    struct dh_dht_thread t = {.stack_lo = get_from(c, last->stack_lo)};
    t.stack_hi = t.stack_lo + get_from(c, stack_size(last));
    t.tp = t.stack_hi + dh_varint_unfold(get(c));
    t.tls_lo = t.tp - get(c);
    t.tls_hi = t.tp + get(c);
    u32 name = c->at < c->end ? *c->at++ : UINT32_MAX;
    if (c->bad || name >= sizeof(t.name) || name > (size_t)(c->end - c->at) || uid >= DH_DHT_LIVES ||
        parent > DH_DHT_LIVES || created_at >= DH_DHT_CONTEXTS || tid > UINT32_MAX)
        return dh_dht_bad(r, offset, "a thread is not as it should be");
    t.uid = (u32)uid;
    t.parent = (u32)parent;
    t.created_at = (u32)created_at;
    t.tid = (u32)tid;
    memcpy(t.name, c->at, name);
    c->at += name;
    u32 n = dh_pages_add(&r->stacks.uids, uid);
    if (n == DH_PAGES_NONE || !dh_dht_grow((void **)&r->stacks.threads, n, &r->stacks.threads_cap, sizeof(t)))
        return -ENOMEM;
    r->stacks.threads[n] = *last = t;
    return 0;
}

static int take_stacks(struct dh_dht *r, const struct dh_dht_ref *ref, const u8 *raw)
{
    struct cursor c = {raw, raw + ref->raw_len, false};
    struct dh_dht_thread last = {0};
    int rc = take_contexts(r, ref->offset, &c);
    for (u64 m = rc ? 0 : get(&c); m > 0 && !c.bad && !rc; m--)
        rc = take_thread(r, ref->offset, &c, &last);
    if (!rc && (c.bad || c.at != c.end))
        rc = dh_dht_bad(r, ref->offset, "the contexts and threads are not as long as they should be");
    return rc;
}

int dh_dht_load_stacks(struct dh_dht *r)
{
    int rc = 0;
    for (u32 i = 0; i < r->stacks.n && !rc && !r->stacks.loaded; i++) {
        const struct dh_dht_ref *ref = &r->stacks.refs[i];
        u8 *raw = dh_pool_alloc(ref->raw_len + 1);
        rc = raw ? dh_dht_unpack_ref(r, ref, raw) : -ENOMEM;
        if (!rc)
            rc = take_stacks(r, ref, raw);
        dh_pool_free(raw, ref->raw_len + 1);
    }
    r->stacks.loaded |= rc == 0;
    return rc;
}

void dh_dht_stacks_done(struct dh_dht *r)
{
    dh_pool_free(r->stacks.refs, r->stacks.refs_cap * sizeof(*r->stacks.refs));
    dh_pool_free(r->stacks.contexts, r->stacks.cap * sizeof(*r->stacks.contexts));
    dh_pool_free(r->stacks.threads, r->stacks.threads_cap * sizeof(*r->stacks.threads));
    dh_pages_done(&r->stacks.uids);
}

size_t dh_dht_stack(const struct dh_dht *r, u32 ctx, u64 pc, u64 *ret_pcs, size_t cap, bool *ret_folded)
{
    const struct dh_dht_context *all = r->stacks.contexts;
    size_t n = 0;
    *ret_folded = false;
    if (pc && (ctx >= r->stacks.cap || all[ctx].pc != pc) && cap)
        ret_pcs[n++] = pc;
    for (; ctx && ctx < r->stacks.cap && n < cap; ctx = all[ctx].parent) {
        *ret_folded |= all[ctx].folded;
        if (all[ctx].pc)
            ret_pcs[n++] = all[ctx].pc;
    }
    return n;
}

const struct dh_dht_thread *dh_dht_find_thread(const struct dh_dht *r, u32 uid)
{
    u32 n = dh_pages_find(&r->stacks.uids, uid);
    return n == DH_PAGES_NONE ? NULL : &r->stacks.threads[n];
}

const struct dh_dht_thread *dh_dht_nth_thread(const struct dh_dht *r, u32 n)
{
    return n < r->stacks.uids.n ? &r->stacks.threads[n] : NULL;
}
