/*
 * dht_encode.c - see dht_code.h. Freestanding.
 */
#include <string.h>

#include "event/dht_code.h"
#include "event/varint.h"

void dh_dht_encode_begin(struct dh_dht_encoder *c, u8 *buf, size_t cap)
{
    c->at = buf;
    c->end = c->top = buf + cap;
    c->run = c->events = c->since = 0;
    c->first = DH_DHT_NO_TICKET;
    c->ticket = 0;
    c->last_pc = c->last_addr = 0;
    c->current = 0;
    c->n_sites = 0;
    c->odd = 0;
    memset(c->hash, 0, sizeof(c->hash));
    memset(&c->calls, 0, sizeof(c->calls));
    c->sites[0] =
        (struct dh_dht_site){0}; /* what the first event is compared with: no operation has number 0 */
}

void dh_dht_encode_flush(struct dh_dht_encoder *c)
{
    if (c->run == 0)
        return;
    c->at = dh_varint_put(c->at, (c->run - 1) << 2);
    c->run = 0;
}

void dh_dht_encode_turn(struct dh_dht_encoder *c, u32 ctx)
{
    if (dh_dht_foresee(&c->calls, c->current, ctx) == ctx) {
        c->since++;
        return;
    }
    c->end = dh_varint_put_down(dh_varint_put_down(c->end, c->since), ctx);
    c->since = 0;
}

/* Threads may do this at the same time. */
static void keep_place(struct dh_dht_places *p, u64 pc)
{
    enum { LOOKS = 64 };
    u32 at = (u32)(dh_hash64(pc) >> 20) % DH_DHT_PLACES;
    for (u32 i = 0; i < LOOKS; i++, at = (at + 1) % DH_DHT_PLACES) {
        u64 here = __atomic_load_n(&p->pcs[at], __ATOMIC_RELAXED);
        if (here == pc || (here == 0 && (__atomic_compare_exchange_n(&p->pcs[at], &here, pc, false,
                                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                                         here == pc)))
            return;
    }
    __atomic_store_n(&p->lost, 1, __ATOMIC_RELAXED);
}

/* What an event adds to `odd`. Synchronisation has no size that could cut a variable, but atomic operations
 * have. */
static u64 odd(const struct dh_dht_event *e, u32 operands)
{
    if (e->op == DH_DHT_OP_FRAME)
        return 0;
    if (operands & DH_DHT_HAS_SOURCE)
        return 1;
    if (operands & DH_DHT_HAS_BYTES)
        return e->op == DH_DHT_OP_FORGET ? 0 : e->addr | dh_dht_range_bytes(e);
    return e->size ? e->addr | e->size : 0;
}

static u32 define(struct dh_dht_encoder *c, const struct dh_dht_event *e, u32 operands, u32 slot)
{
    u32 n = c->n_sites++;
    c->sites[n] = (struct dh_dht_site){.pc = e->pc,
                                       .last = c->last_addr,
                                       .size = e->size,
                                       .op = e->op,
                                       .mode = e->mode,
                                       .operands = (u8)operands,
                                       .next = n};
    c->hash[slot] = (u16)(n + 1);
    *c->at++ = 3;
    c->at = dh_varint_put(c->at, dh_varint_fold(e->pc - c->last_pc));
    *c->at++ = e->op;
    *c->at++ = e->mode;
    c->at = dh_varint_put(c->at, e->size);
    c->last_pc = e->pc;
    if (c->places && e->pc && e->op != DH_DHT_OP_FRAME)
        keep_place(c->places, e->pc);
    return n;
}

/* The site's number in this chunk, defined if it is new. */
static u32 find(struct dh_dht_encoder *c, const struct dh_dht_event *e, u32 operands)
{
    u32 slot = (u32)(dh_hash64(e->pc ^ (u64)e->op << 56 ^ (u64)e->size << 48) >> 20) % DH_DHT_HASH;
    for (;; slot = (slot + 1) % DH_DHT_HASH) {
        u32 n = c->hash[slot];
        if (n == 0)
            return define(c, e, operands, slot);
        const struct dh_dht_site *s = &c->sites[n - 1];
        if (s->pc == e->pc && s->op == e->op && s->mode == e->mode && s->size == e->size)
            return n - 1;
    }
}

void dh_dht_encode_slow(struct dh_dht_encoder *c, const struct dh_dht_event *e, u32 operands)
{
    u32 next = c->n_sites ? c->sites[c->current].next : UINT32_MAX;
    dh_dht_encode_flush(c);
    u32 n = next;
    if (next == UINT32_MAX || c->sites[next].pc != e->pc || c->sites[next].op != e->op ||
        c->sites[next].mode != e->mode || c->sites[next].size != e->size)
        n = find(c, e, operands);
    struct dh_dht_site *s = &c->sites[n];
    u64 away = dh_varint_fold(e->addr - dh_dht_foretold(s, c->last_addr));
    if (n == next && away >> 62 == 0) {
        c->at = dh_varint_put(c->at, away << 2 | 1);
    } else {
        c->at = dh_varint_put(c->at, (u64)n << 2 | 2);
        c->at = dh_varint_put(c->at, away);
    }
    c->sites[c->current].next = n;
    if (away)
        s->near = dh_dht_nearer(s, e->addr, c->last_addr);
    dh_dht_note(s, e->addr, c->last_addr);
    c->last_addr = e->addr;
    if (operands & DH_DHT_HAS_TICKET) {
        c->at = dh_varint_put(c->at, e->ticket - c->ticket);
        c->ticket = e->ticket;
        if (c->first == DH_DHT_NO_TICKET)
            c->first = e->ticket;
    }
    if (operands & DH_DHT_HAS_BYTES) {
        c->at = dh_varint_put(c->at, dh_varint_fold(e->bytes - s->bytes));
        s->bytes = e->bytes;
    }
    if (operands & DH_DHT_HAS_SOURCE)
        c->at = dh_varint_put(c->at, dh_varint_fold(e->source - e->addr));
    c->odd |= odd(e, operands);
    c->current = n;
    c->events++;
    dh_dht_encode_ctx(c, e->ctx);
}
