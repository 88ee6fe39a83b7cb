/*
 * dht_watch.h - internals of dht_look.h: what is tracked during the second pass over a recording.
 */
#ifndef DH_EVENT_DHT_WATCH_H
#define DH_EVENT_DHT_WATCH_H

#include "event/dht_look.h"
#include "event/dht_reader.h"

enum { DH_DHT_HELD_MAX = 128 }; /* as many as the runtime names (DH_HELD_MAX) */

/* A thread, by its dense number. */
struct dh_dht_watched {
    struct dh_dht_held *held; /* the one taken last is the last */
    u32 n_held, cap_held;
    u64 epoch; /* incremented whenever it may publish what it did */
    /* Its activations when it last created a thread, innermost first; those in its last event's context still
     * exist. */
    struct dh_dht_frame *frames;
    u32 n_frames, cap_frames;
    bool framing; /* its last event was one of them */
    u32 ctx;
    u64 pc;
};

/* The block of the heap that an address was last in. */
struct dh_dht_block {
    u64 addr;
    u64 start, size; /* start 0: in none */
    u64 pc;
    u32 ctx;
    u32 owner; /* uid + 1; 0: not known */
};

struct dh_dht_watch {
    struct dh_dht_look **by_event; /* those with a number, in order */
    size_t n_events, next;
    struct dh_pages cells; /* of the others */
    u32 *first;            /* by number of the cell: a look + 1, and from there on: */
    u32 *then;             /* by look: the next one of this cell + 1; 0: none */
    struct dh_dht_look *looks;
    size_t n;
    u64 last;                    /* after this event there is nothing more to find */
    struct dh_dht_block *blocks; /* by address */
    size_t n_blocks;
    u64 largest; /* of all blocks that were in there */
    struct dh_dht_watched *threads;
    u32 n_threads;
    struct dh_dht_event stored; /* that which is given out, as it is in the file */
    bool failed;                /* no memory */
};

/* An event was decoded: determine its context. An event whose place is unknown has none. */
DH_INLINE void dh_dht_watch_decoded(struct dh_dht_stream *s)
{
    u32 ctx = dh_dht_calls_next(&s->calls->in, s->event.site);
    s->event.ctx = s->event.pc ? ctx : 0;
}

/* The stored event is about to be given out by the current stream: before its mode loses its marks. */
void dh_dht_watch_begin(struct dh_dht *r, const struct dh_dht_stream *s);
/* n events of it were given out. */
void dh_dht_watch_given(struct dh_dht *r, const struct dh_dht_stream *s, const struct dh_event *events,
                        long n);

/* A thread, by its dense number. NULL: no memory. */
struct dh_dht_watched *dh_dht_watch_thread(struct dh_dht_watch *w, u32 thread);

/* dht_spot.c: the block of an allocation; memory that is new otherwise. */
void dh_dht_spot_block(struct dh_dht_watch *w, const struct dh_dht_event *e, u32 uid);
void dh_dht_spot_new(struct dh_dht_watch *w, const struct dh_dht_event *e);
/* What is at addr now? */
void dh_dht_spot_find(const struct dh_dht *r, u64 addr, struct dh_dht_spot *ret);

#endif
