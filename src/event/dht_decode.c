/*
 * dht_decode.c - see dht_code.h. Nothing in the bytes is trusted.
 */
#include "event/dht_code.h"
#include "event/varint.h"

void dh_dht_decode_begin(struct dh_dht_decoder *d, const u8 *raw, size_t len, u64 events)
{
    d->at = d->start = raw;
    d->end = raw + len;
    d->run = 0;
    d->left = events;
    d->ticket = 0;
    d->last_pc = d->last_addr = 0;
    d->current = 0;
    d->n_sites = 0;
    d->error = NULL;
}

static DH_COLD int bad(struct dh_dht_decoder *d, const char *why)
{
    d->error = why;
    return -1;
}

/* Nine bytes hold 63 bits; the tenth may add one. */
DH_INLINE bool get(struct dh_dht_decoder *d, u64 *ret)
{
    if (DH_LIKELY(d->end - d->at >= 3)) { /* the usual lengths, without a loop */
        u64 a = d->at[0], b = d->at[1], c = d->at[2];
        if (a < 0x80) {
            d->at += 1;
            *ret = a;
            return true;
        }
        if (b < 0x80) {
            d->at += 2;
            *ret = (a & 0x7f) | b << 7;
            return true;
        }
        if (c < 0x80) {
            d->at += 3;
            *ret = (a & 0x7f) | (b & 0x7f) << 7 | c << 14;
            return true;
        }
    }
    return dh_varint_get(&d->at, d->end, ret);
}

static int define(struct dh_dht_decoder *d)
{
    u64 pc, size;
    d->at++;
    if (!get(d, &pc) || d->end - d->at < 2)
        return bad(d, "a site is cut short");
    u8 op = d->at[0], mode = d->at[1];
    d->at += 2;
    if (!get(d, &size) || size > UINT32_MAX)
        return bad(d, "a site has no size");
    u32 operands = dh_dht_operands(op);
    if (operands & DH_DHT_BAD_OP)
        return bad(d, "a site has an unknown operation");
    if (d->n_sites == DH_DHT_SITES)
        return bad(d, "too many sites in one chunk");
    d->last_pc += dh_varint_unfold(pc);
    d->sites[d->n_sites] = (struct dh_dht_site){.pc = d->last_pc,
                                                .last = d->last_addr,
                                                .size = (u32)size,
                                                .op = op,
                                                .mode = mode,
                                                .operands = (u8)operands,
                                                .next = d->n_sites,
                                                .global = UINT32_MAX};
    d->n_sites++;
    return 0;
}

static int more(struct dh_dht_decoder *d, struct dh_dht_site *s, struct dh_dht_event *e)
{
    u64 v;
    if (s->operands & DH_DHT_HAS_TICKET) {
        if (!get(d, &v))
            return bad(d, "an event has no ticket");
        e->ticket = d->ticket += v;
    }
    if (s->operands & DH_DHT_HAS_BYTES) {
        if (!get(d, &v))
            return bad(d, "an event has no length");
        e->bytes = s->bytes += dh_varint_unfold(v);
    }
    if (s->operands & DH_DHT_HAS_SOURCE) {
        if (!get(d, &v))
            return bad(d, "a move has no source");
        e->source = e->addr + dh_varint_unfold(v);
    }
    return 1;
}

int dh_dht_decode_next(struct dh_dht_decoder *d, struct dh_dht_event *ret)
{
    u64 token, away;
    u32 n;
    if (DH_LIKELY(dh_dht_decode_run(d, ret)))
        return 1;
    if (d->run)
        return bad(d, "a run includes an event that has operands");
    while (d->at < d->end && *d->at == 3)
        if (define(d) < 0)
            return -1;
    if (d->at == d->end)
        return d->left == 0 ? 0 : bad(d, "the chunk has fewer events than its head says");
    if (d->left == 0)
        return bad(d, "the chunk has more events than its head says");
    if (!get(d, &token))
        return bad(d, "a number is cut short");
    if (d->n_sites == 0)
        return bad(d, "an event comes before its site");
    u32 before = d->current;
    if (token & 1) { /* near */
        if (token & 2)
            return bad(d, "an unknown kind of event");
        n = d->sites[before].next;
        away = token >> 2;
    } else if (token & 2) { /* far */
        if (token >> 2 >= d->n_sites || !get(d, &away))
            return bad(d, "an event has no site");
        n = (u32)(token >> 2);
    } else { /* a run */
        if (token >> 2 >= d->left)
            return bad(d, "a run is longer than the chunk");
        d->run = (token >> 2) + 1;
        return dh_dht_decode_run(d, ret) ? 1 : bad(d, "a run includes an event that has operands");
    }
    struct dh_dht_site *s = &d->sites[n];
    u64 addr = dh_dht_foretold(s, d->last_addr) + dh_varint_unfold(away);
    d->sites[before].next = n;
    if (away)
        s->near = dh_dht_nearer(s, addr, d->last_addr);
    dh_dht_decode_fill(d, n, addr, ret);
    return s->operands ? more(d, s, ret) : 1;
}
