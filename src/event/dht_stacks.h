/*
 * dht_stacks.h - turns the contexts of a recording into stacks: the table of contexts, and the threads.
 *
 * A context is a call, the address it returns to, and the context that the call was made in, which has a
 * lower number. Recursion may have been folded into it (runtime/threads/context.h): then calls are missing.
 *
 * A STACKS chunk is v(n), n contexts by their numbers, v(m), m threads. A file may have several: later
 * entries override earlier ones.
 *
 *   context  v(number - last number), v(number - parent), v(z(pc - base) << 2 | other << 1 | folded)
 *   thread   v(uid), v(parent), v(created_at), v(z(tid - that of the last thread)), likewise stack_lo and
 *            the size of the stack, v(z(tp - stack_hi)), v(tp - tls_lo), v(tls_hi - tp), byte length of the
 *            name, the name
 *
 * Calls go back and forth between the program and a library. So base is the last pc, or (other) the pc before
 * the last step that went to the other base or spanned 4 GiB or more.
 */
#ifndef DH_EVENT_DHT_STACKS_H
#define DH_EVENT_DHT_STACKS_H

#include "event/dht.h"

struct dh_dht_writer;
struct dh_dht;

struct dh_dht_context {
    u64 pc : 63; /* 0: a call that stacks do not show */
    u64 folded : 1;
    u32 number;
    u32 parent; /* 0: it is the outermost */
};

/* One chunk; contexts in the order of their numbers. 0 or a negative errno. */
int dh_dht_write_stacks(struct dh_dht_writer *w, const struct dh_dht_context *contexts, size_t n,
                        const struct dh_dht_thread *threads, size_t m);

/* Of a reader: all STACKS chunks, when they are first needed. 0 or a negative errno, as dh_dht_open. */
int dh_dht_load_stacks(struct dh_dht *r);
/* The return addresses of the calls of a context, innermost first; preceded by pc, the place of an event in
 * it, unless that is 0 or the last call is the event. Returns how many, at most cap. */
size_t dh_dht_stack(const struct dh_dht *r, u32 ctx, u64 pc, u64 *ret_pcs, size_t cap, bool *ret_folded);
/* NULL: nothing is known about it. */
const struct dh_dht_thread *dh_dht_find_thread(const struct dh_dht *r, u32 uid);
/* The n-th thread that is known; NULL: there are fewer. */
const struct dh_dht_thread *dh_dht_nth_thread(const struct dh_dht *r, u32 n);

#endif
