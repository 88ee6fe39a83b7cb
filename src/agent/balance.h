/*
 * balance.h - the rest of a user's budget of waiting, carried from one execution to the next.
 *
 * An execution may spend a fraction of its own time, plus what earlier ones have left. So the total over all
 * executions of a user keeps to that fraction, however short each of them is. A new user has nothing: nothing
 * is tried in a program that runs for milliseconds until it has run often enough. The balance has a limit:
 * nobody saves up for a long wait in a short execution.
 *
 * The balance is a file. A worker takes all of it and leaves the file empty until it puts the rest back, so
 * that two programs running at the same time never spend the same budget. If the worker is killed meanwhile,
 * the file stays empty, and fills again with the time that programs run.
 *
 * It also knows for how long the programs have run, up to the time for which there is a reserve
 * (chase/policy.h).
 */
#ifndef DH_AGENT_BALANCE_H
#define DH_AGENT_BALANCE_H

#include "base/base.h"

struct dh_agent_balance {
    int64_t left_us; /* negative: overspent by this much */
    /* Since the last result: how long programs ran and were made to wait. Reported with the next result. */
    int64_t run_us, waited_us;
    int64_t ran_us; /* in all, at most DH_AGENT_BALANCE_RAN_US */
};

enum { DH_AGENT_BALANCE_RAN_US = 1000000 };

/* Takes the whole balance. Nothing if the file cannot be written: what is not known to be left must not be
 * spent. */
struct dh_agent_balance dh_agent_balance_take(const char *path);
/* Adds this; the balance is then limited to most_us. */
void dh_agent_balance_give(const char *path, const struct dh_agent_balance *more, u64 most_us);

#endif
