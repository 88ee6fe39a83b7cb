/*
 * oracle.h - races by definition: the ordering relations as explicit transitive closures, quadratic in the length of the
 * trace and free of clocks, so that it shares no idea and no line with the detectors it judges.
 */
#ifndef DH_TESTS_TRACES_ORACLE_H
#define DH_TESTS_TRACES_ORACLE_H

#include "traces/kit.h"

enum oracle_relation {
    ORACLE_HB, /* program order, locks, fork, join, volatiles, barriers */
    ORACLE_SHB, /* HB and, from a write to the reads that see it, an edge; the edge into the later access of a pair
                     * does not order that pair */
    ORACLE_RELAXED, /* program order, fork, join, volatiles, barriers, notify to wait; no locks */
};

struct oracle {
    const struct kit_trace *t;
    enum oracle_relation relation;
    u32 words;
    u64 *before; /* per event a row of bits: the events before it */
    u64 *direct; /* the same without the edge from the write it reads; only for ORACLE_SHB, else == before */
};

void oracle_init(struct oracle *o, const struct kit_trace *t, enum oracle_relation relation);
void oracle_done(struct oracle *o);
/* Do i < j race: conflicting accesses of different threads that are not ordered? */
bool oracle_races(const struct oracle *o, u32 i, u32 j);
/* All racy events, variables, first events; *ret_pairs counts pairs. */
struct kit_said oracle_said(const struct oracle *o, u32 *ret_pairs);
/* The definition of the hybrid detectors: a pair that is unordered in the relaxed relation and holds no lock in common. */
struct kit_said oracle_hybrid(const struct kit_trace *t);

#endif
