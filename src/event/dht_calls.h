/*
 * dht_calls.h - the calling contexts of a chunk's events, stored separately from the events.
 *
 * A context is a stack of calls, by its number in the table of contexts (dht_stacks.h); 0: not known. The
 * context of an event is the stack of the function that did it, so that all events of one activation share
 * it. The event's pc tells where in that function it is.
 *
 * Contexts are predicted, like events, and only mispredicted ones are in the file: v(events since the last
 * such one), v(context). The prediction is the context of the previous event. Where that changes, at a call
 * or a return, it is predicted to change as it did last time: from that event's site and context to this
 * site.
 *
 * They are stored after the events: a reader that needs no stacks need not decompress them, and both compress
 * better separately. While a chunk is being built, its events grow upwards and its contexts downwards in the
 * same memory. So their numbers are stored, and read, from the end to the beginning.
 *
 * Freestanding.
 */
#ifndef DH_EVENT_DHT_CALLS_H
#define DH_EVENT_DHT_CALLS_H

#include "event/dht.h"

enum { DH_DHT_TURNS = 1024, DH_DHT_CALLS_ROOM = 16 /* bytes one context may need */ };

/* After an event of one site in a context came one of another site in another context. */
struct dh_dht_turn {
    u16 before, site; /* + 1; 0: nothing is here */
    u32 from, to;
};

_Static_assert(DH_DHT_SITES < UINT16_MAX && DH_DHT_SITES % 64 == 0, "sites are kept so in turns");

/* Prediction state of encoder and decoder. All zero at the start of a chunk. */
struct dh_dht_foresight {
    u32 ctx;                        /* of the last event */
    u32 site;                       /* its site + 1; 0: there was none */
    u64 turning[DH_DHT_SITES / 64]; /* by site: some turn may lead there */
    struct dh_dht_turn turns[DH_DHT_TURNS];
};

DH_INLINE bool dh_dht_is_turning(const struct dh_dht_foresight *f, u32 site)
{
    return f->turning[site / 64] >> site % 64 & 1;
}

/* The next event is at this site and has this context. Returns the predicted context. */
u32 dh_dht_foresee(struct dh_dht_foresight *f, u32 site, u32 ctx);
/* The prediction, while `ctx` is not known yet. */
u32 dh_dht_foretold_ctx(const struct dh_dht_foresight *f, u32 site);

/* ---- Decoder ---- */

struct dh_dht_calls {
    const u8 *start, *at; /* what is left, read from its end */
    u64 left;             /* events before the next stored context; UINT64_MAX: there is none */
    struct dh_dht_foresight f;
};

/* Of n bytes, which may be none. */
void dh_dht_calls_begin(struct dh_dht_calls *c, const u8 *raw, size_t n);
/* The context of the next event, which is at this site of its chunk. Numbers that are cut short end the
 * column. */
u32 dh_dht_calls_next(struct dh_dht_calls *c, u32 site);

#endif
