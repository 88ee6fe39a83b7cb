/*
 * collection.h - the public collection of traces with known results, where it is at hand.
 *
 * The folder is DEADHEAT_TRACES, or shared/traces beside the repository. It holds expected_*_pairs.json (every racing
 * pair of the small traces: by the definitions of the orders, and by exhaustive search) and expected_real.tsv (figures for
 * recorded runs, most with one race put in on the variable BUGGY_ADDR).
 */
#ifndef DH_TESTS_TRACES_COLLECTION_H
#define DH_TESTS_TRACES_COLLECTION_H

#include <jansson.h>

#include "traces/kit.h"

enum { COLLECTION_ABSENT = -1 };

/* Each returns how many faults it found. `known`: a list of pairs, from 1, for each order. */
typedef int collection_small_fn(const char *file, const struct kit_trace *t, const json_t *known);
/* One line of the table of recorded runs. */
struct collection_row {
    const char *head, *line;
};
typedef int collection_recorded_fn(const char *file, const struct kit_trace *t,
                                   const struct collection_row *row);

/* Calls the function for every trace; the faults of all, a trace that cannot be read or an empty list being one, or
 * COLLECTION_ABSENT. */
int collection_small(const char *list, collection_small_fn *fn);
int collection_recorded(collection_recorded_fn *fn);
/* The path of another file of the collection; NULL: it is absent. Good until the next call. */
const char *collection_path(const char *file);

/* A column of the row; "" if there is none. */
const char *collection_value(const struct collection_row *row, const char *name, char *value, size_t cap);
/* The two accesses of pair k of a list, from 0. False: they are not two events of the trace in order. */
bool collection_pair(const json_t *pairs, size_t k, u32 n, u32 *ret_i, u32 *ret_j);
/* Says what is wrong; 1. */
int collection_fault(const char *file, const char *what);

#endif
