/*
 * predict_run.h - what a predictive detector reported, pair by pair, and what it thinks of any given pair.
 */
#ifndef DH_TESTS_TRACES_PREDICT_RUN_H
#define DH_TESTS_TRACES_PREDICT_RUN_H

#include "traces/kit.h"

struct predict_report {
    u32 earlier, now;
    bool witness;
};

struct predict_said {
    struct predict_report *reports;
    u32 n, cap;
    u8 *racy;  /* per event: it is the later access of a report, */
    u64 *with; /* with an access of these threads, as bits */
    u32 n_racy;
    int error; /* of the detector, or a report that cannot be */
};

/* All threads but the first, at most 8, are forked at the start and live to the end; of at most 32 locks a thread holds one or two most
 * of the time, and its accesses are made mostly then. Few variables mean that sections are soon ordered, many that
 * threads lag behind each other. */
void predict_dense_trace(struct kit_trace *t, u64 seed, u32 events, u32 threads, u32 locks, u32 cells);

/* window: 0 for the detector's own choice. */
struct predict_said predict_run(const struct kit_trace *t, const char *detector, u64 window);
void predict_said_done(struct predict_said *s);

/* The questions that syncp and osr ask, for pairs of the test's choice. Where they say yes, a witness is made and checked; if
 * that fails the test ends. */
struct predict_asker;
struct predict_asker *predict_asker_new(const struct kit_trace *t);
void predict_asker_free(struct predict_asker *a);
bool predict_asker_syncp(struct predict_asker *a, u32 i, u32 j);
bool predict_asker_osr(struct predict_asker *a, u32 i, u32 j);
/* Are these accesses to the same life of a variable? */
bool predict_asker_same(const struct predict_asker *a, u32 i, u32 j);
/* Does the checker of witnesses accept this sequence? */
bool predict_asker_check(struct predict_asker *a, const u32 *sequence, u64 n);

#endif
