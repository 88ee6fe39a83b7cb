/*
 * test_agent_balance.c - src/agent/balance.c: the sum over a user's executions keeps to the budget.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/balance.h"
#include "chase/policy.h"
#include "unit/check.h"

enum { MOST = 20000 };
static char dir[] = "/tmp/deadheat-balance-XXXXXX", path[64];

static int make_directory(void **state)
{
    (void)state;
    int rc = mkdtemp(dir) ? 0 : -1;
    snprintf(path, sizeof(path), "%s/balance", dir);
    return rc;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static int64_t take(const char *from)
{
    return dh_agent_balance_take(from).left_us;
}

static void give(const char *to, int64_t us)
{
    dh_agent_balance_give(to, &(struct dh_agent_balance){.left_us = us}, MOST);
}

static void a_new_user_has_nothing(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(take(path), 0);
    give(path, 4000);
    assert_int_equal(take(path), 4000);
    assert_int_equal(take(path), 0); /* another program, at the same time */
}

/* A file of an earlier version does not say how long the programs have run. */
static void an_earlier_file_is_read(void **state)
{
    (void)state;
    FILE *f = fopen(path, "w");
    fprintf(f, "%20d %20d %20d\n", 1, 2, 3);
    fclose(f);
    struct dh_agent_balance p = dh_agent_balance_take(path);
    assert_true(p.left_us == 1 && p.run_us == 2 && p.waited_us == 3 && p.ran_us == 0);
}

static void what_is_left_has_a_limit_and_debts_have_none(void **state)
{
    (void)state;
    unlink(path);
    take(path);
    give(path, 3600ll * 1000000);
    assert_int_equal(take(path), MOST);
    give(path, -1234567890123);
    give(path, 123); /* a second program ends */
    assert_int_equal(take(path), -1234567890000);
    give(path, 7);
    assert_int_equal(take(path), 7);
}

static void what_was_not_told_adds_up(void **state)
{
    const struct dh_agent_balance some = {.run_us = 1000000, .waited_us = 20, .ran_us = 600000};
    (void)state;
    unlink(path);
    dh_agent_balance_give(path, &some, MOST);
    dh_agent_balance_give(path, &some, MOST);
    struct dh_agent_balance p = dh_agent_balance_take(path);
    assert_int_equal(p.run_us, 2000000);
    assert_int_equal(p.waited_us, 40);
    assert_int_equal(p.ran_us, DH_AGENT_BALANCE_RAN_US);
    assert_int_equal(dh_agent_balance_take(path).run_us, 0);
}

static void what_cannot_be_kept_is_not_spent(void **state)
{
    const struct rlimit none = {0, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    (void)state;
    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0); /* as a full disk */
    assert_int_equal(take(path), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    assert_int_equal(take("/nowhere/balance"), 0);
    give("/nowhere/balance", MOST);
    FILE *f = fopen(path, "w");
    fputs("no number", f);
    fclose(f);
    assert_int_equal(take(path), 0);
}

/* Short executions, each of which waits whenever it may. What a wait costs beside its delay, and beyond it now
 * and then, up to the worst case. */
static double share_of(u64 beside_us, u64 worst_us, u64 *ret_waits)
{
    enum { RUNS = 2000, RUN_US = 9000, EVERY = 7 };
    const double rmax = 0.02;
    double most = 0;
    u64 all = 0;
    unlink(path);
    *ret_waits = 0;
    for (u64 i = 1; i <= RUNS; i++) {
        const struct dh_agent_balance had = dh_agent_balance_take(path);
        struct dh_chase_policy p = {.rmax = rmax,
                                    .delay = 1000,
                                    .whole = true,
                                    .patience = DH_CHASE_POLICY_PATIENCE_US,
                                    .random = 1,
                                    .carried = had.left_us,
                                    .ran = (u64)had.ran_us,
                                    .reserved = DH_AGENT_BALANCE_RAN_US};
        for (u32 site = 0; site < 20; site++)
            if (dh_chase_policy_decide(&p, site, RUN_US)) {
                bool worst = (*ret_waits)++ % EVERY == 0;
                dh_chase_policy_sampled(&p, site, 5, worst_us, worst ? worst_us : p.delay + beside_us, 0);
            }
        all += p.waited;
        const struct dh_agent_balance has = {.left_us =
                                                 p.carried + (int64_t)(RUN_US * rmax) - (int64_t)p.waited,
                                             .ran_us = had.ran_us + RUN_US};
        dh_agent_balance_give(path, &has, MOST);
        double share = (double)all / (double)(RUN_US * i);
        most = share > most ? share : most;
    }
    return most;
}

/* At any time, no more than its part of the time so far, however short that is: a first grant would be many
 * times as much. If waits take as long as they may, it is at most twice as much. */
static void the_sum_keeps_to_the_budget_at_all_times(void **state)
{
    const u64 worst = 1000 + 3 * DH_CHASE_POLICY_PATIENCE_US;
    u64 waits;
    (void)state;
    assert_in_range(share_of(100, 1100, &waits) * 1e6, 19000, 20000);
    assert_in_range(waits, 300, 330); /* of 360 ms */
    assert_true(share_of(100, worst, &waits) <= 0.04);
    assert_true(share_of(worst - 1000, worst, &waits) <= 0.04);
    assert_in_range(waits, 40, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_user_has_nothing),
        cmocka_unit_test(an_earlier_file_is_read),
        cmocka_unit_test(what_is_left_has_a_limit_and_debts_have_none),
        cmocka_unit_test(what_was_not_told_adds_up),
        cmocka_unit_test(what_cannot_be_kept_is_not_spent),
        cmocka_unit_test(the_sum_keeps_to_the_budget_at_all_times),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
