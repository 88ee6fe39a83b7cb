/*
 * balance.h - what is left of a user's budget of waiting, from one execution to the next.
 *
 * An execution may spend a part of its own time, and what earlier ones have left. So the sum over all
 * executions of a user keeps to that part, however short each of them is, but for one grant that a new user
 * begins with: without it, nothing could be tried in a program that runs for a few milliseconds. What is left
 * is kept up to the size of that grant only: nobody saves up for a long wait in a short execution.
 *
 * The balance is a file. A worker takes all of it and leaves the file empty until it puts back what is left,
 * so that two programs at a time never spend the same. If the worker is killed meanwhile, the file stays
 * empty, and fills again with the time that programs run.
 */
#ifndef DH_AGENT_BALANCE_H
#define DH_AGENT_BALANCE_H

#include "base/base.h"

struct dh_agent_balance {
    int64_t left_us; /* below 0: so much was spent beyond what there was */
    /* Since the last result: how long programs ran and were made to wait. The next result tells. */
    int64_t run_us, waited_us;
};

/* All that is in it; of a user who has none yet, the grant. Nothing is left if the file cannot be written:
 * what is not known to be left must not be spent. */
struct dh_agent_balance dh_agent_balance_take(const char *path, u64 grant_us);
/* Adds this. Then at most so much is left in it. */
void dh_agent_balance_give(const char *path, const struct dh_agent_balance *more, u64 most_us);

#endif
