/*
 * dht_feed.h - the memory shared by a recorded program and `deadheat record`, which carries events from one
 * to the other.
 *
 * A thread of the program takes a free slot, fills it with the bytes of one chunk (dht_code.h), marks it full
 * and takes the next. The recorder packs full slots, appends them to the file and frees them. Since the
 * memory is shared, what the program wrote survives if it is killed: then the recorder also takes the slots
 * that are not full.
 *
 * Contexts and threads have tables of their own, by number: the first user of a context adds it, with all its
 * callers. The recorder writes new entries periodically, and at the end.
 *
 * Who writes what: a slot in state ACTIVE belongs to the thread that took it, one in state FULL to the
 * recorder. Both sides sleep on futexes in the head; each wakes the other only if that has announced that it
 * sleeps.
 */
#ifndef DH_EVENT_DHT_FEED_H
#define DH_EVENT_DHT_FEED_H

#include "event/dht_code.h"

#define DH_FEED_MAGIC 0x616e6572616864ull
enum {
    DH_FEED_SLOTS = 16384, /* at least one a live thread */
    DH_FEED_AHEAD = 512,   /* full slots the program may be ahead of the recorder: 32 MiB */
    DH_FEED_HEAD = 4096,
};

enum dh_feed_state { DH_FEED_FREE, DH_FEED_ACTIVE, DH_FEED_FULL };

struct dh_feed_slot {
    u32 state;
    u32 type; /* enum dh_dht_chunk_type; of an active one: EVENTS or MODULES */
    u32 thread;
    u32 number;
    u32 used;   /* bytes that are complete events */
    u32 calls;  /* bytes at the end of the slot that are their contexts; may be ahead of `used` */
    u64 events; /* of a full slot; that of an active one has to be counted */
    u64 first;  /* ticket; likewise */
    u8 fill[24];
};

_Static_assert(sizeof(struct dh_feed_slot) == 64, "one cache line each");

struct dh_feed {
    u64 magic;
    u32 version; /* DH_DHT_VERSION */
    u32 claimed; /* pid of the one program that is recorded; 0: none yet */
    u32 high;    /* slots from here on were never used */
    u32 full;    /* futex: how many slots were ever filled; the recorder sleeps on it */
    u32 freed;   /* futex: how many were ever freed; the program sleeps on it */
    u32 recorder_sleeps;
    u32 program_sleeps;
    u32 ending;   /* the program is about to end: check soon */
    u32 recorder; /* its pid: once it is gone, no slot is freed any more */
    u32 contexts; /* numbers from here on were never used */
    u32 threads;  /* likewise */
    u32 told;     /* incremented with every change of either table */
    u32 lost;     /* some context did not fit */
};

enum { DH_FEED_TOLD = 1, DH_FEED_FOLDED = 2 };

struct dh_feed_context {
    u64 pc;
    u32 parent;
    u32 state; /* set last; 0: nothing is here */
};

struct dh_feed_thread {
    struct dh_dht_thread facts;
    u32 changes; /* rises after every one; 0: nothing is here */
    u32 pad;
};

struct dh_feed_layout {
    struct dh_feed head;
    u8 pad[DH_FEED_HEAD - sizeof(struct dh_feed)];
    struct dh_dht_places places; /* whose functions and lines the recorder adds at the end */
    u8 pad2[56];                 /* what follows begins a cache line */
    struct dh_feed_context contexts[DH_DHT_CONTEXTS];
    struct dh_feed_thread threads[DH_DHT_LIVES];
    struct dh_feed_slot slots[DH_FEED_SLOTS];
    u8 data[DH_FEED_SLOTS][DH_DHT_CHUNK_BYTES];
};

_Static_assert(offsetof(struct dh_feed_layout, slots) % 64 == 0, "slots begin a cache line");

#endif
