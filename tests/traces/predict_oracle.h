/*
 * predict_oracle.h - judges of the predictive detectors, for traces of a few events: races by trying every reordering, and the
 * orders of wcp and cp by closing their rules. Only accesses, locks, fork, join, signals and waits of any kind (annotations,
 * barriers, conditions); the orders: mutexes only.
 */
#ifndef DH_TESTS_TRACES_PREDICT_ORACLE_H
#define DH_TESTS_TRACES_PREDICT_ORACLE_H

#include "traces/kit.h"

enum { PREDICT_EVENTS = 64 };

/* Bit i of row j: the pair i < j races. */
struct predict_pairs {
    u64 row[PREDICT_EVENTS];
    bool deadlock; /* some reordering ends in one; only from predict_search */
};

/* At most 4 threads, 4 locks, 4 variables, 31 events. Only reorderings that keep the order of the sections of each
 * lock, if `preserving`: then locks must not be shared. */
void predict_search(struct predict_pairs *ret, const struct kit_trace *t, bool preserving);

/* The conflicting pairs that the order leaves open. At most PREDICT_EVENTS events. */
enum predict_order { PREDICT_WCP, PREDICT_CP };
void predict_close(struct predict_pairs *ret, const struct kit_trace *t, enum predict_order order);

/* Accesses to one variable by two threads, one of them a write, not both atomic. */
bool predict_conflict(const struct kit_trace *t, u32 i, u32 j);

#endif
