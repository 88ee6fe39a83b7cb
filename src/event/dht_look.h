/*
 * dht_look.h - a second pass over a recording: everything that can be said about a few of its accesses.
 *
 * A detector needs no stacks, lock names or heap blocks, and reads faster without them. For the few accesses
 * that raced, the recording is read again, up to the last of them. Only their own memory and the locks held
 * by each thread are tracked, so that it takes no more memory than reading does.
 */
#ifndef DH_EVENT_DHT_LOOK_H
#define DH_EVENT_DHT_LOOK_H

#include "event/dht_read.h"

/* A lock that a thread held, and where it took it (dh_dht_stack). */
struct dh_dht_held {
    u64 lock;
    u64 pc;
    u32 ctx;
    bool shared;
};

/* An activation of a function, with the registers where it calls another. */
struct dh_dht_frame {
    u64 pc; /* return address; 0: not known */
    u64 sp, bp, cfa;
};

enum dh_dht_spot_kind { DH_DHT_UNKNOWN, DH_DHT_HEAP, DH_DHT_STACK, DH_DHT_TLS, DH_DHT_GLOBAL };

/* What the memory at an address was. */
struct dh_dht_spot {
    enum dh_dht_spot_kind kind;
    u32 owner;                 /* uid + 1. heap: who allocated it, 0: not known; stack, tls: whose it is */
    u32 ctx;                   /* heap: where it was allocated */
    u64 pc;                    /* likewise */
    u64 start, size;           /* heap */
    u64 offset;                /* stack: from its top; tls: in the segment of the module; global: in it */
    struct dh_dht_place place; /* global; tls: its path is NULL if the module is not known */
    struct dh_dht_frame frame; /* stack: which activation it is in, if that is known */
};

#define DH_DHT_NO_EVENT UINT64_MAX

struct dh_dht_look {
    /* Which access: the event with this number; or, if DH_DHT_NO_EVENT, the last one before `before` that
     * this thread made at this pc to this variable: the first such one of its epoch, which is the one that
     * detectors remember. */
    u64 event;
    u64 before;
    u64 at_pc;
    u32 thread, cell;
    bool write;
    /* The address to be described, as of this access; 0: not wanted. */
    u64 addr;

    /* The answer. Not found, but moved: the variable's history came from another one (realloc, mremap), which
     * is now in `cell` and `before`; another pass may find the access there. */
    bool found, moved;
    u8 kind; /* enum dh_access */
    u32 uid;
    u32 ctx;
    u64 pc;
    u64 start, bytes;         /* of the access; of memory that moved since: where it is now */
    u32 piece;                /* of a loop's accesses: the size of one; else 0 */
    struct dh_dht_held *held; /* in order of acquisition */
    u32 n_held;
    struct dh_dht_spot spot;

    /* Private. */
    u64 epoch; /* of the thread, when it was found */
    u64 shift; /* how far its memory has moved since */
    u64 from_before, from_shift;
    u32 from_cell;
};

/* Reads r, just opened and with its view set, as far as it has to. 0 or a negative errno as dh_dht_read:
 * what was found before counts. */
int dh_dht_look(struct dh_dht *r, struct dh_dht_look *looks, size_t n);
/* Frees what the answers hold. */
void dh_dht_look_done(struct dh_dht_look *looks, size_t n);

#endif
