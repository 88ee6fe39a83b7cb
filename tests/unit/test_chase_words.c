/*
 * test_chase_words.c - src/chase/position.c and policy.c: what a user may write for a pair, and when to sample.
 */
#include <errno.h>
#include <string.h>

#include "base/control.h"
#include "chase/policy.h"
#include "chase/position.h"
#include "unit/check.h"

static void pairs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *first, *second;
    } good[] = {
        {"a.c:1:b.c:2", "a.c:1", "b.c:2"},
        {"a.c:1:9:b.c:2", "a.c:1:9", "b.c:2"},
        {"a.c:1:9:read:b.c:2:write", "a.c:1:9:read", "b.c:2:write"},
        {"a.c:1:write:b.c:2:3:read", "a.c:1:write", "b.c:2:3:read"},
        {"a.c:1:*:b.c:2:*:write", "a.c:1:*", "b.c:2:*:write"},
        {"dir/a b.c:12:/x/y.c:1234567", "dir/a b.c:12", "/x/y.c:1234567"},
    };
    static const char *const bad[] = {
        "",
        ":",
        "a.c",
        "a.c:1",
        "a.c:0:b.c:1",
        "a.c:x:b.c:1",
        "a.c:1:b.c",
        "a.c:1:b.c:0",
        "a.c:1::b.c:2",
        "a.c:1:b.c:2:",
        "a.c:1:b.c:2:3:4:c.c",
        "a.c:1:b.c:12345678",
        "a.c:-1:b.c:2",
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(good); i++) {
        struct dh_arena arena = {0};
        struct dh_chase_position p[2];
        const char *why = NULL;
        if (dh_chase_position_pair(&arena, good[i].text, p, &why) != 0)
            fail_msg("%s: %s", good[i].text, why);
        assert_string_equal(dh_chase_position_text(&arena, &p[0]), good[i].first);
        assert_string_equal(dh_chase_position_text(&arena, &p[1]), good[i].second);
        dh_arena_done(&arena);
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(bad); i++) {
        struct dh_arena arena = {0};
        struct dh_chase_position p[2];
        const char *why = NULL;
        if (dh_chase_position_pair(&arena, bad[i], p, &why) != -EINVAL || !why)
            fail_msg("'%s' is taken", bad[i]);
        dh_arena_done(&arena);
    }
}

static void budget(void **state)
{
    (void)state;
    struct dh_chase_policy p = {.rmax = 0.05, .delay = 10000, .min = 1000000, .random = 1, .windows = 1};
    /* The paper's formula, with t_min for t_total, and half a millisecond for the overrun. */
    assert_true(dh_chase_policy_budget(&p, 0, 0) > 0.791 && dh_chase_policy_budget(&p, 0, 0) < 0.793);
    assert_true(dh_chase_policy_budget(&p, 0, 1000000) == dh_chase_policy_budget(&p, 0, 0));
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 0), 10000);
    /* What is left is granted, if it is half a delay or more. */
    p.waited = 43000;
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 0), 6500);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 6000), 500);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 7000), 0);
    assert_true(dh_chase_policy_decide(&p, 0, 0));
    p.waited = 45000;
    assert_true(dh_chase_policy_budget(&p, 0, 0) == 0);
    assert_false(dh_chase_policy_decide(&p, 0, 0));
    assert_true(dh_chase_policy_decide(&p, 0, 100000000));
    /* A window that ran over is expected to do so again, and worse. */
    p.waited = 0;
    dh_chase_policy_sampled(&p, 0, 5, 30000, 10000);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 0), 0);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 1500000, 0), 4500);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 1700000, 0), 10000);
    /* So is what was seen of the machine before the first window, of which it is the least. */
    struct dh_chase_policy first = {.rmax = 0.05, .delay = 50000, .min = 1000000, .random = 1};
    assert_int_equal(dh_chase_policy_delay(&first, 0, 0, 0), 46000);
    dh_chase_policy_late(&first, 100);
    assert_int_equal(dh_chase_policy_delay(&first, 0, 0, 0), 46000);
    dh_chase_policy_late(&first, 10000);
    assert_int_equal(dh_chase_policy_delay(&first, 0, 0, 0), 29500);
    p.rmax = 0;
    assert_false(dh_chase_policy_decide(&p, 0, 100000000));
    /* What earlier runs have left counts, and what they have spent too much. */
    struct dh_chase_policy later = {.rmax = 0.02, .delay = 1000, .carried = 10000, .windows = 1};
    assert_int_equal(dh_chase_policy_delay(&later, 0, 0, 9000), 500);
    later.carried = -10000;
    assert_int_equal(dh_chase_policy_delay(&later, 0, 500000, 0), 0);
    assert_true(dh_chase_policy_budget(&later, 0, 500000) == 0);
    assert_int_equal(dh_chase_policy_delay(&later, 0, 1000000, 0), 1000);
}

/* An access that has had turns before is waited at for longer, and only when the budget covers half of that. */
static void longer(void **state)
{
    (void)state;
    struct dh_chase_policy p = {
        .rmax = 1, .delay = 10000, .longest = 60000, .fair = true, .min = 1000000, .random = 1};
    static const struct {
        u32 turns;
        u64 delay;
    } expected[] = {{0, 10000}, {1, 10000}, {2, 20000}, {4, 40000}, {6, 60000}, {1000, 60000}};
    for (size_t i = 0; i < DH_ARRAY_LEN(expected); i++) {
        p.sites[7].turns = expected[i].turns;
        assert_int_equal(dh_chase_policy_delay(&p, 7, 0, 0), expected[i].delay);
    }
    assert_int_equal(dh_chase_policy_delay(&p, 8, 0, 0), 10000);
    p.longest = 0;
    assert_int_equal(dh_chase_policy_delay(&p, 7, 0, 0), 10000);
    p.longest = 60000;
    p.rmax = 0.05; /* 46 ms of the first second are left: 4 are set aside */
    assert_int_equal(dh_chase_policy_delay(&p, 7, 0, 0), 46000);
    assert_true(dh_chase_policy_decide(&p, 7, 0));
    p.waited = 20000;
    assert_false(dh_chase_policy_decide(&p, 7, 0));
    assert_true(dh_chase_policy_decide(&p, 8, 0));
}

/* Steering: the whole delay or nothing, and once. */
static void once(void **state)
{
    (void)state;
    struct dh_chase_policy p = {
        .rmax = 0.05, .delay = 51000, .whole = true, .min = 1000000, .random = 1, .windows = 1};
    assert_false(dh_chase_policy_decide(&p, 0, 1000000));
    assert_true(dh_chase_policy_decide(&p, 0, 1100000));
    dh_chase_policy_sampled(&p, 0, 5, 51100, 51000);
    assert_false(dh_chase_policy_decide(&p, 0, 100000000));
    assert_true(dh_chase_policy_decide(&p, 1, 100000000));
}

/* However often it is asked, and whatever the site, the budget holds at all times: also if each window runs
 * over by twice as much as any before it, and changes of code are accounted when they have been made. */
static void bound(void **state)
{
    (void)state;
    static const double rates[] = {0.01, 0.05, 0.5};
    for (size_t r = 0; r < DH_ARRAY_LEN(rates); r++) {
        struct dh_chase_policy p = {.rmax = rates[r], .delay = 10000, .min = 1000000, .random = 7};
        u64 now = 0;
        for (int i = 0; i < 100000; i++) {
            if (dh_chase_policy_decide(&p, 0, now)) {
                u64 delay = dh_chase_policy_delay(&p, 0, now, 0);
                u64 over = p.windows < 6 ? (u64)100 << p.windows : (u64)i % 6400;
                dh_chase_policy_sampled(&p, 0, i % 2 ? 5 : 50000, delay + over, delay);
                now += delay + over;
            }
            now += 1000;
            double total = (double)(now > p.min ? now : p.min);
            assert_true((double)p.waited <= total * p.rmax);
        }
        assert_true(p.waited > 0);
    }
}

static u32 samples_of(u64 armed)
{
    struct dh_chase_policy p = {.rmax = 1, .delay = 10000, .min = 1000000, .random = 7};
    for (u64 now = 0; now < 100000000; now += 10000)
        if (dh_chase_policy_decide(&p, 3, now))
            dh_chase_policy_sampled(&p, 3, armed, 100, 100);
    return p.sites[3].samples;
}

/* What is hit at once is sampled less and less; what is rare, nearly every time. */
static void frequency(void **state)
{
    (void)state;
    u32 hot = samples_of(10), rare = samples_of(20000);
    assert_in_range(hot, 50, 300);
    assert_in_range(rare, 9000, 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs), cmocka_unit_test(budget), cmocka_unit_test(longer),
        cmocka_unit_test(once),  cmocka_unit_test(bound),  cmocka_unit_test(frequency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
