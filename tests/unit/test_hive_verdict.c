/*
 * test_hive_verdict.c - src/hive/verdict.c: every edge of figure 4 of RaceMob, and the bound.
 */
#include "hive/verdict.h"

#include "unit/check.h"

static enum dh_hive_verdict verdict(struct dh_hive_tally t)
{
    return dh_hive_judge(&t).verdict;
}

static enum dh_hive_why why(struct dh_hive_tally t)
{
    return dh_hive_judge(&t).why;
}

static void test_figure_4(void **state)
{
    (void)state;
    assert_int_equal(verdict((struct dh_hive_tally){0}), DH_HIVE_UNKNOWN);
    assert_int_equal(verdict((struct dh_hive_tally){.not_seen = 9}), DH_HIVE_UNKNOWN);
    assert_int_equal(verdict((struct dh_hive_tally){.timeouts = 4}), DH_HIVE_UNKNOWN);
    assert_int_equal(verdict((struct dh_hive_tally){.timeouts = 5, .capped = 1}), DH_HIVE_LIKELY_FALSE);
    assert_int_equal(verdict((struct dh_hive_tally){.no_races = 1}), DH_HIVE_LIKELY_FALSE);
    assert_int_equal(verdict((struct dh_hive_tally){.no_races = 1000, .races = {1, 0}}), DH_HIVE_TRUE_RACE);
    assert_int_equal(verdict((struct dh_hive_tally){.capped = 1, .races = {0, 1}}), DH_HIVE_TRUE_RACE);
}

static void test_what_a_race_does(void **state)
{
    (void)state;
    struct dh_hive_tally one = {.races = {2, 0}, .crashes = 1}, both = {.races = {1, 1}, .hangs = 1};
    struct dh_hive_judgement a = dh_hive_judge(&one), b = dh_hive_judge(&both);
    assert_true(!a.both_orders && a.crash && !a.hang);
    assert_true(b.both_orders && !b.crash && b.hang);
}

static void test_why_false(void **state)
{
    (void)state;
    assert_int_equal(why((struct dh_hive_tally){.seen[DH_HIVE_ONE_THREAD] = 1}), DH_HIVE_CONTEXT);
    assert_int_equal(why((struct dh_hive_tally){.seen = {0, 1, 1}}), DH_HIVE_NOT_ALIASING);
    assert_int_equal(why((struct dh_hive_tally){.seen = {1, 1, 1}}), DH_HIVE_NO_REASON);
    assert_int_equal(why((struct dh_hive_tally){.seen = {0, 1, 0}, .no_races = 1}), DH_HIVE_SYNCHRONISATION);
    assert_int_equal(why((struct dh_hive_tally){.capped = 1}), DH_HIVE_SYNCHRONISATION);
}

/* What is left to try, and in which order. */
static void test_second_order(void **state)
{
    (void)state;
    struct dh_hive_tally t = {.no_races = 3, .timeouts = 9, .capped = 1, .second = 0};
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_ANY);
    t.races[DH_HIVE_ALTERNATE] = 1;
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_OTHER);
    assert_int_equal(dh_hive_other_order(&t), DH_HIVE_PRIMARY);
    t.second = DH_HIVE_SECOND - 1;
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_OTHER);
    t.second = DH_HIVE_SECOND;
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_NONE);
    assert_false(dh_hive_judge(&t).both_orders);
    t = (struct dh_hive_tally){.races = {1, 0}};
    assert_int_equal(dh_hive_other_order(&t), DH_HIVE_ALTERNATE);
    t.crashes = 1; /* nobody is made to crash once more */
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_NONE);
    t = (struct dh_hive_tally){.races = {1, 0}, .hangs = 1};
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_NONE);
    t = (struct dh_hive_tally){.races = {1, 1}};
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_NONE);
    t = (struct dh_hive_tally){.symmetric = true};
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_ANY);
    assert_int_equal(dh_hive_judge(&t).verdict, DH_HIVE_UNKNOWN);
    t.races[DH_HIVE_PRIMARY] = 1;
    assert_int_equal(dh_hive_wanted(&t), DH_HIVE_WANT_NONE);
    assert_true(dh_hive_judge(&t).both_orders);
}

/* (1 - bound)^n is 5%: the chance to see nothing n times, were the probability as large as the bound. */
static void test_bound(void **state)
{
    (void)state;
    assert_true(dh_hive_bound(0) == 1);
    for (u64 n = 1; n <= 100000; n = n * 3 + 1) {
        double quiet = 1;
        for (u64 i = 0; i < n; i++)
            quiet *= 1 - dh_hive_bound(n);
        assert_true(quiet > 0.0499 && quiet < 0.0501);
    }
}

/* Worked out by hand: C(1,1) C(19,0) / C(20,1), and so on. */
static void test_chance(void **state)
{
    (void)state;
    assert_float_equal(dh_hive_chance(1, 1, 0, 19), 0.05, 1e-9);
    assert_float_equal(dh_hive_chance(1, 1, 19, 19), 1, 1e-9);
    assert_float_equal(dh_hive_chance(1, 1, 0, 0), 1, 1e-9);
    assert_float_equal(dh_hive_chance(0, 5, 3, 7), 1, 1e-9);
    assert_float_equal(dh_hive_chance(2, 2, 1, 4), 0.2, 1e-9);     /* 3 / 15 */
    assert_float_equal(dh_hive_chance(2, 3, 1, 3), 0.5, 1e-9);     /* (9 + 1) / 20 */
    assert_float_equal(dh_hive_chance(3, 3, 0, 3), 1 / 20., 1e-9); /* 1 / C(6,3) */
    double tiny = dh_hive_chance(1000, 1000, 0, 100000);
    assert_true(tiny >= 0 && tiny < 1e-9);
    assert_float_equal(dh_hive_chance(20, 1000, 1, 100), 0.41656, 1e-5);
}

/* A race that an inference has caught was not observed any further. */
static void test_harm(void **state)
{
    (void)state;
    const struct dh_hive_tally t = {.races = {3, 1}, .caught = 2, .crashes = 1, .hangs = 1};
    struct dh_hive_harm h = dh_hive_harm_of(&t);
    assert_true(h.races == 2 && h.crashes == 1 && h.hangs == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_4),  cmocka_unit_test(test_what_a_race_does),
        cmocka_unit_test(test_why_false), cmocka_unit_test(test_second_order),
        cmocka_unit_test(test_bound),     cmocka_unit_test(test_chance),
        cmocka_unit_test(test_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
