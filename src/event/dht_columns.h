/*
 * dht_columns.h - the events of a trace made from text: all threads in one order, column by column.
 *
 * A text already has an order, so there is nothing to merge and no ticket; it does not come from running
 * code, so there is little to predict. What matters is reading speed: columns of fixed-width numbers,
 * compressed by zstd, which finds the repetitions in them.
 *
 *   head       struct dh_dht_columns
 *   ops        n bytes: bits 0 to 4 enum dh_op; bit 5: another thread than that of the event before; bit 6:
 *              has a mode
 *   targets    n numbers of target_bytes
 *   sites      n numbers of site_bytes
 *   threads    a number of thread_bytes for every op with bit 5, which the first of a chunk has
 *   modes      a byte for every op with bit 6
 *
 * Targets and threads number the names of the file (DH_DHT_NAMES).
 */
#ifndef DH_EVENT_DHT_COLUMNS_H
#define DH_EVENT_DHT_COLUMNS_H

#include "event/dht.h"

enum { DH_COLUMNS_OP = 0x1f, DH_COLUMNS_THREAD = 0x20, DH_COLUMNS_MODE = 0x40 };

struct dh_dht_columns {
    u32 threads;                               /* how many */
    u32 modes;                                 /* likewise */
    u8 target_bytes, site_bytes, thread_bytes; /* 1 to 4 */
    u8 pad[5];
};

_Static_assert(DH_OP_COUNT <= DH_COLUMNS_OP + 1 && sizeof(struct dh_dht_columns) == 16, "as in the file");

/* Numbers are read four bytes at a time: a buffer has this many more than the chunk. */
enum { DH_COLUMNS_SLACK = 4 };

/* A column being read. */
struct dh_column {
    const u8 *at;
    u32 step;
    u32 mask;
};

struct dh_columns_in {
    u32 left; /* events */
    const u8 *ops;
    const u8 *modes;
    struct dh_column targets, sites, threads;
};

DH_INLINE u32 dh_column_next(struct dh_column *c)
{
    u32 v;
    __builtin_memcpy(&v, c->at, sizeof(v));
    c->at += c->step;
    return v & c->mask;
}

/* A chunk of n events, followed by DH_COLUMNS_SLACK bytes. False: it is not what its head says. */
bool dh_columns_begin(struct dh_columns_in *c, const u8 *raw, size_t len, u64 n);

/* A chunk being made. */
struct dh_columns_out {
    u32 n, n_threads, n_modes;
    u32 thread; /* of the last event */
    u32 target_max, site_max, thread_max;
    u8 ops[DH_DHT_ORDERED_EVENTS], modes[DH_DHT_ORDERED_EVENTS];
    u32 targets[DH_DHT_ORDERED_EVENTS], sites[DH_DHT_ORDERED_EVENTS], threads[DH_DHT_ORDERED_EVENTS];
};

/* One more event. False: the chunk is full. */
bool dh_columns_put(struct dh_columns_out *c, const struct dh_event *e);
/* Its bytes into raw, which has room for DH_DHT_ORDERED_BYTES; how many. The next chunk can begin. */
size_t dh_columns_end(struct dh_columns_out *c, u8 *raw);

#endif
