/*
 * policy.h - who gets which task, how long to wait, and who is relieved: RaceMob (SOSP 2013), section 3.3.
 *
 * A policy decides and changes nothing. Randomness comes from a generator that the caller seeds, so that a
 * simulation is repeatable.
 */
#ifndef DH_HIVE_POLICY_H
#define DH_HIVE_POLICY_H

#include "hive/state.h"

struct dh_hive_settings {
    u64 bound_us; /* a task that takes longer is also given to another user */
    u32 tau_first_us, tau_step_us, tau_most_us;
    double relieve_above; /* times the average, per run */
    u64 relieve_runs;     /* of a user, before it is compared */
    u64 relieve_us;       /* how long it then gets no tasks */
};

struct dh_hive_choice {
    u32 unit;
    enum dh_hive_order order;
    u32 overdue; /* another user's task that takes too long, or DH_HIVE_NONE */
};

struct dh_hive_policy {
    const char *name;
    struct dh_hive_settings settings;
    /* A task for a user who has none. False: there is nothing to do. */
    bool (*choose)(const struct dh_hive_policy *p, const struct dh_hive_state *s, u32 user, u64 now_us,
                   u64 *random, struct dh_hive_choice *ret);
    /* How long to wait after this many timeouts. False: give up. */
    bool (*tau)(const struct dh_hive_policy *p, u32 timeouts, u32 *ret_us);
    /* Has this user done more than a fair share? */
    bool (*relieve)(const struct dh_hive_policy *p, const struct dh_hive_state *s, u32 user);
};

extern const struct dh_hive_policy dh_hive_racemob; /* the paper's */

#endif
