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

enum { GRANT = 20000 };
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
    return dh_agent_balance_take(from, GRANT).left_us;
}

static void give(const char *to, int64_t us)
{
    dh_agent_balance_give(to, &(struct dh_agent_balance){.left_us = us}, GRANT);
}

static void a_new_user_has_the_grant_once(void **state)
{
    (void)state;
    unlink(path);
    assert_int_equal(take(path), GRANT);
    assert_int_equal(take(path), 0); /* another program, at the same time */
    give(path, 4000);
    assert_int_equal(take(path), 4000);
}

static void what_is_left_has_a_limit_and_debts_have_none(void **state)
{
    (void)state;
    unlink(path);
    take(path);
    give(path, 3600ll * 1000000);
    assert_int_equal(take(path), GRANT);
    give(path, -1234567890123);
    give(path, 123); /* a second program ends */
    assert_int_equal(take(path), -1234567890000);
    give(path, 7);
    assert_int_equal(take(path), 7);
}

static void what_was_not_told_adds_up(void **state)
{
    const struct dh_agent_balance some = {.run_us = 1000000, .waited_us = 20};
    (void)state;
    unlink(path);
    dh_agent_balance_give(path, &some, GRANT);
    dh_agent_balance_give(path, &some, GRANT);
    struct dh_agent_balance p = dh_agent_balance_take(path, GRANT);
    assert_int_equal(p.run_us, 2000000);
    assert_int_equal(p.waited_us, 40);
    assert_int_equal(dh_agent_balance_take(path, GRANT).run_us, 0);
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
    give("/nowhere/balance", GRANT);
    FILE *f = fopen(path, "w");
    fputs("no number", f);
    fclose(f);
    assert_int_equal(take(path), 0);
}

/* Short executions, each of which waits for as long as it is allowed to: no more than the part of the whole
 * time, and the grant. With the budget of a second in each it would be twenty times as much. */
static void the_sum_keeps_to_the_budget(void **state)
{
    enum { RUNS = 200, RUN_US = 50000, OVER_US = 300 };
    const double rmax = 0.02;
    u64 waited = 0;
    (void)state;
    unlink(path);
    for (int i = 0; i < RUNS; i++) {
        struct dh_chase_policy p = {
            .rmax = rmax, .delay = 1000, .whole = true, .random = 1, .carried = take(path)};
        for (u32 site = 0; site < 20; site++)
            if (dh_chase_policy_decide(&p, site, RUN_US))
                dh_chase_policy_sampled(&p, site, 5, p.delay, p.delay + OVER_US, 0);
        waited += p.waited;
        give(path, p.carried + (int64_t)(RUN_US * rmax) - (int64_t)p.waited);
        assert_true((double)waited <= rmax * RUN_US * (i + 1) + GRANT);
    }
    assert_true((double)waited > 0.9 * rmax * RUN_US * RUNS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_user_has_the_grant_once),
        cmocka_unit_test(what_is_left_has_a_limit_and_debts_have_none),
        cmocka_unit_test(what_was_not_told_adds_up),
        cmocka_unit_test(what_cannot_be_kept_is_not_spent),
        cmocka_unit_test(the_sum_keeps_to_the_budget),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
