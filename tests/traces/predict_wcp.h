/*
 * predict_wcp.h - weak causal precedence once more, for traces too long to close its rules: rules applied where they apply, every
 * section kept, nothing remembered cleverly. Accesses, mutexes, fork and join.
 */
#ifndef DH_TESTS_TRACES_PREDICT_WCP_H
#define DH_TESTS_TRACES_PREDICT_WCP_H

#include "traces/kit.h"

/* with: for each event the threads, as bits, with an earlier access that it races with. How many pairs there are. */
u64 predict_wcp(const struct kit_trace *t, u64 *with);

#endif
