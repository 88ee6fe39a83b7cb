/*
 * random.h - random well-formed traces from a seed, and the smallest one that still shows a fault.
 */
#ifndef DH_TESTS_TRACES_RANDOM_H
#define DH_TESTS_TRACES_RANDOM_H

#include "traces/kit.h"

struct random_options {
    u32 events;
    u32 threads, locks, cells;
    bool disciplined; /* variable v is only touched under lock v % locks */
    bool atomics;     /* half of the accesses are atomic, and order nothing */
    bool rich;        /* reader-writer locks, volatiles, barriers, notify and wait too */
};

void random_trace(struct kit_trace *t, u64 seed, const struct random_options *options);

/* A fault, or NULL. */
typedef const char *random_check_fn(const struct kit_trace *t);
/* Takes events away as long as the trace stays well-formed and check still finds something. */
void random_shrink(struct kit_trace *t, random_check_fn *check);

#endif
