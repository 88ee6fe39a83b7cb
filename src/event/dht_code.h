/*
 * dht_code.h - encodes events as bytes within a chunk, and decodes them.
 *
 * A site is where in the program and what: (pc, operation, mode, size). A chunk numbers its sites in order of
 * appearance. Both sides keep, for every site, the site that came next and two ways to predict an address: a
 * step from the last address of this site (a walk over an array), or a distance from the address of the
 * previous event (the fields of one object). The site uses the one that was closer at its last misprediction.
 * Most events are predicted completely, and runs of them are a count. A number is a varint (7 bits per byte,
 * low first); z() folds the sign into bit 0.
 *
 *   run         v(n - 1) << 2 | 0                          n events as foretold
 *   near        v(z(address - foretold)) << 2 | 1, more    the next site as foretold, another address
 *   far         v(site) << 2 | 2, v(z(address - foretold)), more
 *   definition  byte 3, v(z(pc - last pc defined)), byte op, byte mode, v(size)
 *
 * `more` is, by what the operation is: v(ticket - last ticket) of those that have one; v(z(bytes - last bytes
 * of this site)) of those with a length; v(z(source - address)) of MOVE. Only events without any of these can
 * be part of a run. Address means the object of a synchronisation, and the number of the other thread of FORK
 * and JOIN. For the first event of a site, the last address is that of the previous event, and step and
 * distance are 0.
 *
 * Contexts of events are stored separately: dht_calls.h.
 *
 * The encoder is freestanding: it runs inside the recorded program.
 */
#ifndef DH_EVENT_DHT_CODE_H
#define DH_EVENT_DHT_CODE_H

#include "event/dht_calls.h"

/* Operations are stored in files by number: enum dh_op may only grow at its end. */
_Static_assert(DH_OP_READ == 1 && DH_OP_ACQUIRE == 3 && DH_OP_FORK == 5 && DH_OP_VOLATILE == 9 &&
                   DH_OP_ATOMIC_RMW == 12 && DH_OP_WAIT == 17 && DH_OP_RANGE_MOVE == 20 &&
                   DH_OP_BLOCK_END == 23 && DH_OP_RANGE_COPY == 24,
               "numbers in files");

/* Operations of the format beyond enum dh_op. */
enum dh_dht_op {
    DH_DHT_OP_READS = 64,      /* many bytes at once */
    DH_DHT_OP_WRITES,          /* likewise */
    DH_DHT_OP_FORGET,          /* synchronisation objects in [address, address + bytes) are gone */
    DH_DHT_OP_RELEASE_FOREIGN, /* of a lock that this thread is not known to hold */
    DH_DHT_OP_CARRIED, /* from here on this thread runs on another, whose number is the address (lard.h) */
    DH_DHT_OP_BLOCK,   /* RANGE_NEW of a heap block; bytes: the requested size */
    /* An activation on the thread's stack, before it creates another thread, to which it may pass pointers to
     * its variables: pc is where it calls, address the stack pointer there, bytes the distance from there to
     * the frame's end (CFA), source the frame pointer. Consecutive ones of a thread, innermost first, are its
     * stack. */
    DH_DHT_OP_FRAME,
    /* READ of at most 64 bytes that is checked against what came before it, and not kept; so it has a place
     * in the order of the threads. */
    DH_DHT_OP_CHECK,
    DH_DHT_OP_END
};

/*
 * Marks in the mode of a stored event, of programs that use <deadheat/lard.h>; dht_view.c says what becomes
 * of them. SYSTEM: done by the run-time system; of ATOMIC_* it is the order that is its, not the access.
 * LANGUAGE: told by it, that is an access by dh_lard_read or dh_lard_write, memory by dh_lard_clear, copy or
 * move, a thread by dh_lard_thread_*; of ATOMIC_* that the access is the run-time system's.
 */
enum { DH_DHT_SYSTEM = 0x80, DH_DHT_LANGUAGE = 0x40, DH_DHT_MARKS = 0xc0 };

enum { DH_DHT_HAS_TICKET = 1, DH_DHT_HAS_BYTES = 2, DH_DHT_HAS_SOURCE = 4, DH_DHT_BAD_OP = 8 };

/* What `more` consists of. */
DH_INLINE u32 dh_dht_operands(u32 op)
{
    switch (op) {
    case DH_OP_READ:
    case DH_OP_WRITE:
    case DH_OP_BRANCH:
    case DH_OP_BLOCK_BEGIN:
    case DH_OP_BLOCK_END:
        return 0;
    case DH_DHT_OP_READS:
    case DH_DHT_OP_WRITES:
        return DH_DHT_HAS_BYTES;
    case DH_DHT_OP_FRAME:
        return DH_DHT_HAS_BYTES | DH_DHT_HAS_SOURCE;
    case DH_OP_RANGE_NEW:
    case DH_OP_RANGE_FREE:
    case DH_DHT_OP_FORGET:
    case DH_DHT_OP_BLOCK:
        return DH_DHT_HAS_TICKET | DH_DHT_HAS_BYTES;
    case DH_OP_RANGE_MOVE:
    case DH_OP_RANGE_COPY:
        return DH_DHT_HAS_TICKET | DH_DHT_HAS_BYTES | DH_DHT_HAS_SOURCE;
    case DH_OP_SKIP:
        return DH_DHT_BAD_OP;
    default:
        return op < DH_OP_COUNT || (op > DH_DHT_OP_WRITES && op < DH_DHT_OP_END) ? DH_DHT_HAS_TICKET
                                                                                 : DH_DHT_BAD_OP;
    }
}

struct dh_dht_site {
    u64 pc;
    u64 last;  /* address */
    u64 step;  /* to it from the one before of this site */
    u64 apart; /* it and the address of the event before */
    u64 bytes; /* last length */
    u32 next;  /* the site that followed */
    u32 size;  /* of one access */
    u8 op, mode;
    u8 operands;
    bool near;  /* foretell by `apart` */
    u32 global; /* decoder: what the reader made of it */
};

DH_INLINE u64 dh_dht_foretold(const struct dh_dht_site *s, u64 before)
{
    return s->near ? before + s->apart : s->last + s->step;
}

/* The site had an event at addr, the event before was at `before`. */
DH_INLINE void dh_dht_note(struct dh_dht_site *s, u64 addr, u64 before)
{
    s->step = addr - s->last;
    s->apart = addr - before;
    s->last = addr;
}

/* Call it before dh_dht_note after a misprediction: would `apart` have been closer? */
DH_INLINE bool dh_dht_nearer(const struct dh_dht_site *s, u64 addr, u64 before)
{
    int64_t by_apart = (int64_t)(addr - (before + s->apart)), by_step = (int64_t)(addr - (s->last + s->step));
    u64 a = by_apart < 0 ? -(u64)by_apart : (u64)by_apart, b = by_step < 0 ? -(u64)by_step : (u64)by_step;
    return a < b;
}

/* One event, on its way in or out. */
struct dh_dht_event {
    u64 pc;
    u64 addr;
    u64 bytes;
    u64 source;
    u64 ticket;
    u32 site; /* out only: number in the chunk */
    u32 ctx;  /* out: only if the decoder's caller uses dht_calls.h */
    u32 size;
    u8 op, mode;
};

/* How much memory an event with a length covers. A BLOCK includes the padding up to the next possible
 * block. */
DH_INLINE u64 dh_dht_range_bytes(const struct dh_dht_event *e)
{
    return e->op == DH_DHT_OP_BLOCK && e->bytes <= UINT64_MAX - 15 ? DH_ALIGN_UP(e->bytes, 16) : e->bytes;
}

/* ---- Encoder ---- */

enum { DH_DHT_HASH = 2 * DH_DHT_SITES, DH_DHT_ROOM = 80 + DH_DHT_CALLS_ROOM /* bytes one event may need */ };

/* The program counters of all sites that were ever defined, shared by all encoders of a recording and its
 * writer; open addressing, 0: empty. */
enum { DH_DHT_PLACES = 1 << 16 };
struct dh_dht_places {
    u32 lost; /* some did not fit */
    u32 pad;
    u64 pcs[DH_DHT_PLACES];
};

struct dh_dht_encoder {
    u8 *at, *end;                 /* free: events are before it, contexts behind */
    u8 *top;                      /* of the contexts */
    struct dh_dht_places *places; /* of its owner; NULL: none are kept */
    u64 odd;     /* addresses and lengths of this chunk, all in one: its low bits tell DH_DHT_WORDS */
    u64 run;     /* events foretold since `at` */
    u64 events;  /* in this chunk, run included */
    u64 first;   /* ticket in this chunk */
    u64 ticket;  /* last */
    u64 last_pc; /* defined */
    u64 last_addr;
    u32 current; /* site of the last event */
    u32 n_sites;
    u64 since; /* events since a context was told */
    struct dh_dht_foresight calls;
    struct dh_dht_site sites[DH_DHT_SITES];
    u16 hash[DH_DHT_HASH]; /* site + 1; 0: empty */
};

/* A new chunk into buf, at least DH_DHT_ROOM bytes long. */
void dh_dht_encode_begin(struct dh_dht_encoder *c, u8 *buf, size_t cap);
/* False: no room for another event; end the chunk. */
DH_INLINE bool dh_dht_encode_fits(const struct dh_dht_encoder *c)
{
    return c->end - c->at >= DH_DHT_ROOM && c->events < DH_DHT_CHUNK_EVENTS && c->n_sites < DH_DHT_SITES;
}
/* One event that fits. */
void dh_dht_encode_slow(struct dh_dht_encoder *c, const struct dh_dht_event *e, u32 operands);
/* The type of the chunk, by what is in it so far. */
DH_INLINE u32 dh_dht_encode_type(const struct dh_dht_encoder *c)
{
    return c->odd & 7 ? DH_DHT_EVENTS : DH_DHT_WORDS;
}
/* Writes the run under way; what is before c->at is then complete. */
void dh_dht_encode_flush(struct dh_dht_encoder *c);

/* The context of the event that has just been encoded. */
void dh_dht_encode_turn(struct dh_dht_encoder *c, u32 ctx);
DH_INLINE void dh_dht_encode_ctx(struct dh_dht_encoder *c, u32 ctx)
{
    if (DH_LIKELY(ctx == c->calls.ctx && !dh_dht_is_turning(&c->calls, c->current))) {
        c->calls.site = c->current + 1;
        c->since++;
    } else {
        dh_dht_encode_turn(c, ctx);
    }
}

/* A plain access, with the usual case inline. */
DH_INLINE void dh_dht_encode_access(struct dh_dht_encoder *c, u64 addr, u32 size, u32 op, u32 mode, u64 pc,
                                    u32 ctx)
{
    u32 next = c->sites[c->current].next;
    struct dh_dht_site *s = &c->sites[next];
    if (DH_LIKELY(s->pc == pc && s->op == op && s->size == size && s->mode == mode &&
                  addr == dh_dht_foretold(s, c->last_addr))) {
        dh_dht_note(s, addr, c->last_addr);
        c->odd |= addr | size;
        c->last_addr = addr;
        c->run++;
        c->events++;
        c->current = next;
        dh_dht_encode_ctx(c, ctx);
        return;
    }
    struct dh_dht_event e = {
        .pc = pc, .addr = addr, .ctx = ctx, .size = size, .op = (u8)op, .mode = (u8)mode};
    dh_dht_encode_slow(c, &e, 0);
}

/* ---- Decoder ---- */

struct dh_dht_decoder {
    const u8 *at, *start, *end;
    u64 run;
    u64 left; /* events */
    u64 ticket;
    u64 last_pc, last_addr;
    u32 current;
    u32 n_sites;
    const char *error; /* what is wrong at `at` */
    struct dh_dht_site sites[DH_DHT_SITES];
};

/* The event of site n at this address. */
DH_INLINE void dh_dht_decode_fill(struct dh_dht_decoder *d, u32 n, u64 addr, struct dh_dht_event *e)
{
    struct dh_dht_site *s = &d->sites[n];
    dh_dht_note(s, addr, d->last_addr);
    d->last_addr = addr;
    d->current = n;
    d->left--;
    e->pc = s->pc;
    e->addr = addr;
    e->site = n;
    e->size = s->size;
    e->op = s->op;
    e->mode = s->mode;
}

/* The next event if it is one of a run; false: ask dh_dht_decode_next. */
DH_INLINE bool dh_dht_decode_run(struct dh_dht_decoder *d, struct dh_dht_event *ret)
{
    if (d->run == 0)
        return false;
    u32 n = d->sites[d->current].next;
    const struct dh_dht_site *s = &d->sites[n];
    if (DH_UNLIKELY(s->operands))
        return false;
    d->run--;
    dh_dht_decode_fill(d, n, dh_dht_foretold(s, d->last_addr), ret);
    return true;
}

void dh_dht_decode_begin(struct dh_dht_decoder *d, const u8 *raw, size_t len, u64 events);
/* 1: *ret is the next event; 0: the chunk is complete; -1: d->error. */
int dh_dht_decode_next(struct dh_dht_decoder *d, struct dh_dht_event *ret);

#endif
