/*
 * test_chase_budget.c - src/chase/policy.c and cost.c: when to sample, what a window has cost, and that no order of
 * events that the waiting threads allow takes more than the budget. Time is simulated.
 */
#include <stdlib.h>
#include <string.h>

#include "chase/cost.h"
#include "chase/policy.h"
#include "unit/check.h"

enum { PATIENCE = DH_CHASE_POLICY_PATIENCE_US, MARGIN = 1000, STEP = 2000, SECOND = 1000000 };

static struct dh_chase_policy policy_of(double rmax)
{
    return (struct dh_chase_policy){
        .rmax = rmax, .delay = 10000, .patience = PATIENCE, .min = SECOND, .random = 7};
}

static double allowed(const struct dh_chase_policy *p, u64 total)
{
    return (double)(total > p->min ? total : p->min) * p->rmax;
}

/* ---- When to sample ---- */

static void budget(void **state)
{
    (void)state;
    struct dh_chase_policy p = policy_of(0.05);
    /* The paper's formula, with t_min for t_total, for 10 ms, twice the patience, and the margin. */
    assert_true(dh_chase_policy_budget(&p, 0, 0) > 0.704 && dh_chase_policy_budget(&p, 0, 0) < 0.705);
    assert_true(dh_chase_policy_budget(&p, 0, SECOND) == dh_chase_policy_budget(&p, 0, 0));
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 0), 10000);
    /* What is left is granted, if it is half a delay or more, and the worst of all else is covered. */
    p.waited = 40000;
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 0), 7000);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, PATIENCE), 5000);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 7000), 0);
    assert_true(dh_chase_policy_decide(&p, 0, 0));
    p.waited = 40001;
    assert_true(dh_chase_policy_budget(&p, 0, 0) == 0);
    assert_false(dh_chase_policy_decide(&p, 0, 0));
    assert_true(dh_chase_policy_decide(&p, 0, 100 * SECOND));
    p.rmax = 0;
    assert_false(dh_chase_policy_decide(&p, 0, 100 * SECOND));
}

/* Without a limit, a wait for most of the run so far does not rule out the next one. */
static void unlimited(void **state)
{
    (void)state;
    struct dh_chase_policy p = policy_of(1);
    dh_chase_policy_sampled(&p, 0, 2 * p.delay, SECOND, SECOND, 0);
    assert_true(dh_chase_policy_budget(&p, 0, SECOND) == 1);
    assert_true(dh_chase_policy_decide(&p, 0, SECOND));
}

/* How many traps may come while the command has no processor: what the margin covers. */
static void spare(void **state)
{
    (void)state;
    struct dh_chase_policy p = policy_of(0.05);
    assert_int_equal(dh_chase_policy_spare(&p), MARGIN / DH_CHASE_COST_TRAP_US);
    /* Of watchpoints also what is left behind the wait, here 50 ms less 10 ms, the patience, and the margin. */
    assert_int_equal(dh_chase_policy_hits(&p, 0, 0, 0),
                     (50000 - 10000 - PATIENCE - MARGIN + MARGIN) / DH_CHASE_COST_TRAP_US);
    p.waited = 50000;
    assert_int_equal(dh_chase_policy_hits(&p, 0, 0, 0), MARGIN / DH_CHASE_COST_TRAP_US);
    dh_chase_policy_expect(&p, 2000);
    assert_int_equal(dh_chase_policy_spare(&p), (MARGIN + 4000) / DH_CHASE_COST_TRAP_US);
    p.rmax = 1;
    assert_int_equal(dh_chase_policy_spare(&p), 0);
    assert_int_equal(dh_chase_policy_hits(&p, 0, 0, 0), 0);
}

static void excess(void **state)
{
    (void)state;
    struct dh_chase_policy p = policy_of(0.05);
    p.waited = 50000;
    assert_int_equal(dh_chase_policy_excess(&p, SECOND), 0);
    p.waited = 60000;
    assert_int_equal(dh_chase_policy_excess(&p, SECOND), 10000);
    assert_int_equal(dh_chase_policy_excess(&p, 2 * SECOND), 0);
    p.rmax = 1;
    p.waited = 3 * SECOND;
    assert_int_equal(dh_chase_policy_excess(&p, SECOND), 0);
}

/* What earlier runs have left counts, and what they have spent beyond their budget. */
static void carried(void **state)
{
    (void)state;
    struct dh_chase_policy p = {.rmax = 0.02, .delay = 1000, .patience = PATIENCE, .carried = 10000};
    assert_int_equal(dh_chase_policy_left(&p, 0, 8000), 2000 - MARGIN);
    assert_int_equal(dh_chase_policy_delay(&p, 0, 0, 6500), 500);
    p.carried = -10000;
    assert_int_equal(dh_chase_policy_left(&p, SECOND / 2, 0), 0);
    assert_true(dh_chase_policy_budget(&p, 0, SECOND / 2) == 0);
    assert_int_equal(dh_chase_policy_delay(&p, 0, SECOND, 0), 1000);
}

/* A reserve covers the worst case of a window, but neither its delay nor steps without a wait. */
static void reserve(void **state)
{
    (void)state;
    struct dh_chase_policy p = {
        .rmax = 0.02, .delay = 1000, .whole = true, .patience = PATIENCE, .reserved = SECOND};
    const u64 worst = p.delay + 3 * PATIENCE + MARGIN;
    assert_int_equal(dh_chase_policy_left(&p, 200000, 0), 8000 - MARGIN);
    assert_true(
        dh_chase_policy_decide(&p, 0, worst * 25)); /* at 4%, the worst case, of which 2% are the delay */
    assert_false(dh_chase_policy_decide(&p, 0, worst * 25 - 25));
    p.ran = SECOND; /* now the delay, and waiting for the command until it begins */
    assert_int_equal(dh_chase_policy_left(&p, 200000, 0), 24000 - MARGIN);
    assert_true(dh_chase_policy_decide(&p, 0, (p.delay + PATIENCE) * 50));
    assert_false(dh_chase_policy_decide(&p, 0, (p.delay + PATIENCE) * 50 - 50));
    assert_true(dh_chase_policy_covers(&p, 100000, 0, STEP));
    assert_false(dh_chase_policy_covers(&p, 100000 - 50, 0, STEP));
    p.carried = -15000; /* a debt is paid off first */
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 20000 - 15000 - MARGIN);
    assert_false(dh_chase_policy_decide(&p, 0, 15000 * 50));
}

/* What has no limit of its own is expected again, and worse. */
static void margin(void **state)
{
    (void)state;
    struct dh_chase_policy p = policy_of(0.05);
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 50000 - MARGIN);
    dh_chase_policy_sampled(&p, 0, 5, 14000, 14000, 0); /* as it was to be */
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 36000 - MARGIN);
    dh_chase_policy_sampled(&p, 0, 5, 14000, 17000, 0); /* traps that nobody could stop */
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 19000 - MARGIN - 2 * 3000);
    dh_chase_policy_changed(&p, 500);
    dh_chase_policy_changed(&p, 100);
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 18400 - MARGIN - 2 * 3000 - 2 * 500);
    dh_chase_policy_expect(&p, 2000); /* the command was late by less than that */
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 18400 - MARGIN - 2 * 3000 - 2 * 500);
    dh_chase_policy_expect(&p, 4000);
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 18400 - MARGIN - 2 * 4000 - 2 * 500);
    dh_chase_policy_expect(&p, 400000);
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 0);
}

/* An access that has had turns before is waited at for longer, and only when the budget covers half of that. */
static void longer(void **state)
{
    (void)state;
    struct dh_chase_policy p = policy_of(1);
    p.longest = 60000;
    p.fair = true;
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
    p.rmax = 0.05; /* 47 ms of the first second are left beside the patience and the margin */
    assert_int_equal(dh_chase_policy_delay(&p, 7, 0, 0), 47000);
    assert_true(dh_chase_policy_decide(&p, 7, 0));
    p.waited = 20000;
    assert_false(dh_chase_policy_decide(&p, 7, 0));
    assert_true(dh_chase_policy_decide(&p, 8, 0));
}

/* Steering: the whole delay and the patience for the other's access, or nothing; and once. */
static void once(void **state)
{
    (void)state;
    struct dh_chase_policy p = policy_of(0.05);
    p.delay = 51000;
    p.whole = true;
    const u64 needed = (p.delay + 3 * PATIENCE + MARGIN) * 20;
    assert_false(dh_chase_policy_decide(&p, 0, needed - 20));
    assert_true(dh_chase_policy_decide(&p, 0, needed));
    dh_chase_policy_sampled(&p, 0, 5, 55000, 51100, 0);
    assert_false(dh_chase_policy_decide(&p, 0, 100 * SECOND));
    assert_true(dh_chase_policy_decide(&p, 1, 100 * SECOND));
}

static u32 samples_of(u64 armed)
{
    struct dh_chase_policy p = policy_of(1);
    for (u64 now = 0; now < 100 * SECOND; now += 10000)
        if (dh_chase_policy_decide(&p, 3, now))
            dh_chase_policy_sampled(&p, 3, armed, 100, 100, 0);
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

/* ---- What a window has cost ---- */

enum { GENERATION = 5 << 4, CAME = 1000000 };

static u32 in(u32 phase)
{
    return GENERATION | phase;
}

static struct dh_control *control_of(u64 left, u64 left_traps, u64 traps)
{
    static struct dh_control c;
    memset(&c, 0, sizeof(c));
    c.first.time_us = CAME;
    c.left_us = left;
    c.attended_us = CAME + 100;
    c.until_us = c.attended_us + 60 * SECOND;
    c.grant_us = 60 * SECOND;
    c.patience_us = PATIENCE;
    c.left_traps = left_traps;
    c.traps = traps;
    return &c;
}

static u64 cost(const struct dh_control *c, u32 phase, u64 after)
{
    return dh_chase_cost_of(c, in(phase), CAME + after, false).waited;
}

/* While somebody waits the time counts, and the traps of others are in it. */
static void waits(void **state)
{
    (void)state;
    struct dh_control *c = control_of(0, 0, 5000);
    assert_int_equal(cost(c, DH_CONTROL_WATCHED, 10000), 10000);
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 10000), 10000);
    assert_false(dh_chase_cost_of(c, in(DH_CONTROL_WATCHED), CAME + 10000, false).alone);
    c->left_us = CAME - 5; /* that was in another window */
    assert_int_equal(cost(c, DH_CONTROL_EXPIRED, 10000), 10000);
}

/* The thread has gone on by itself after 12 ms. The 1000 traps of before were in its wait; of those that came later
 * none takes longer than the time that has passed, since traps of several threads overlap. */
static void traps(void **state)
{
    (void)state;
    struct dh_control *c = control_of(CAME + 12000, 1000, 1000);
    assert_true(dh_chase_cost_of(c, in(DH_CONTROL_EXPIRED), CAME + 20000, false).alone);
    assert_int_equal(cost(c, DH_CONTROL_EXPIRED, 20000), 12000);
    c->traps = 1100;
    assert_int_equal(cost(c, DH_CONTROL_EXPIRED, 20000), 13000);
    c->traps = 5000;
    assert_int_equal(cost(c, DH_CONTROL_EXPIRED, 20000), 20000);
    assert_int_equal(dh_chase_cost_of(c, in(DH_CONTROL_EXPIRED), CAME + 20000, true).waited, 12000);
}

/* One who is to be looked at waits, too, until it is or goes on by itself. */
static void shown(void **state)
{
    (void)state;
    struct dh_control *c = control_of(CAME + 500, 0, 10);
    c->second.time_us = CAME + 4000;
    assert_int_equal(cost(c, DH_CONTROL_TRACKED, 5000), 600);
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 5000), 1600);
    assert_int_equal(dh_chase_cost_of(c, in(DH_CONTROL_SHOWN), CAME + 5000, true).waited, 1500);
    c->gone_us = CAME + 6000;
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 50000), 2600);
    c->gone_us = 0; /* its time is over, and it has not noticed yet */
    c->grant_us = 5000;
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 50000), 500 + 100 + PATIENCE);
    c->grant_us = 9000;
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 50000), 500 + 100 + 5000);
    c->traps = 100000;
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 50000), 50000);
    c->gone_us = CAME + 3000; /* another one, earlier */
    c->traps = 0;
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 5000), 1500);
    c->left_us = CAME + 6000; /* until then both waited, and the second for a millisecond longer */
    c->gone_us = CAME + 7000;
    assert_int_equal(cost(c, DH_CONTROL_SHOWN, 50000), 7000);
    assert_int_equal(dh_chase_cost_of(c, in(DH_CONTROL_SHOWN), CAME + 50000, true).waited, 7000);
}

/* A thread that gets no processor when its wait is over waits for that, not for us. */
static void late(void **state)
{
    (void)state;
    struct dh_control *c = control_of(CAME + 45000, 0, 0);
    c->late = (u64)GENERATION << 32 | 31000;
    struct dh_chase_cost is = dh_chase_cost_of(c, in(DH_CONTROL_EXPIRED), CAME + 50000, false);
    assert_int_equal(is.waited, 14000);
    assert_int_equal(is.late, 31000);
    c->late = (u64)(GENERATION - 16) << 32 | 31000; /* in another window */
    is = dh_chase_cost_of(c, in(DH_CONTROL_EXPIRED), CAME + 50000, false);
    assert_int_equal(is.waited, 45000);
    assert_int_equal(is.late, 0);
    /* It may not have noticed yet that its time is over: neither that of its delay, nor of what comes behind, nor that
     * the command came late. */
    c->late = 0;
    c->left_us = 0;
    c->grant_us = 0;
    c->attended_us = CAME + 15000;
    c->until_us = c->attended_us + 10000;
    is = dh_chase_cost_of(c, in(DH_CONTROL_WATCHED), CAME + 50000, false);
    assert_int_equal(is.waited, PATIENCE + 10000);
    assert_int_equal(is.late, 50000 - is.waited);
    is = dh_chase_cost_of(c, in(DH_CONTROL_EXPIRED), CAME + 50000, false);
    assert_int_equal(is.waited, 2 * PATIENCE + 10000);
    assert_int_equal(is.late, 50000 - is.waited);
    c->second.time_us = CAME + 24000;
    is = dh_chase_cost_of(c, in(DH_CONTROL_SHOWN), CAME + 50000, false);
    assert_int_equal(is.waited, 2 * PATIENCE + 10000);
    c->grant_us = 30000;
    is = dh_chase_cost_of(c, in(DH_CONTROL_SHOWN), CAME + 50000, false);
    assert_int_equal(is.waited, 30000);
    assert_int_equal(is.late, 20000);
    /* The access was to be followed, but the budget does not cover that any more. */
    c->until_us = c->attended_us;
    is = dh_chase_cost_of(c, in(DH_CONTROL_EXPIRED), CAME + 15100, false);
    assert_int_equal(is.waited, 2 * PATIENCE);
    c->until_us = CAME - 5; /* the command has not attended to it at all */
    is = dh_chase_cost_of(c, in(DH_CONTROL_EXPIRED), CAME + 50000, false);
    assert_int_equal(is.waited, 2 * PATIENCE);
    is = dh_chase_cost_of(c, in(DH_CONTROL_HELD), CAME + 50000, false);
    assert_int_equal(is.waited, PATIENCE);
    assert_int_equal(is.late, 50000 - PATIENCE);
    /* It is charged when it has happened. */
    struct dh_chase_policy p = policy_of(0.05);
    dh_chase_policy_sampled(&p, 0, 5, 14000, 14000, 31000);
    assert_int_equal(p.waited, 14000);
    assert_int_equal(dh_chase_policy_left(&p, 0, 0), 5000 - MARGIN);
    assert_false(dh_chase_policy_decide(&p, 0, 0));
}

/* From when it was accounted until it is let go; it may have gone on before. */
static void rest(void **state)
{
    (void)state;
    struct dh_control *c = control_of(0, 0, 0);
    assert_int_equal(dh_chase_cost_rest(c, CAME, CAME + 100, CAME + 300), 200);
    c->left_us = CAME + 250;
    assert_int_equal(dh_chase_cost_rest(c, CAME, CAME + 100, CAME + 300), 150);
    c->left_us = CAME + 50;
    assert_int_equal(dh_chase_cost_rest(c, CAME, CAME + 100, CAME + 300), 0);
    c->left_us = CAME + 400; /* somebody else, in the next window */
    assert_int_equal(dh_chase_cost_rest(c, CAME, CAME + 100, CAME + 300), 200);
    c->left_us = 0;
    assert_int_equal(dh_chase_cost_rest(c, CAME, CAME + 500, CAME + 50000), PATIENCE);
}

/* ---- The bound ---- */

static u64 up_to(u64 n)
{
    return n ? (u64)random() % (n + 1) : 0;
}

/* The worst, or anything up to it. */
static u64 some(u64 most, bool worst)
{
    return worst ? most : up_to(most);
}

/* A window in which two are to be caught: the command attends to the thread after at most its patience, which is
 * spent; the delay; then the command comes after another patience, or looks at two who have met as long as it is granted. */
static void collide(struct dh_chase_policy *p, u64 *now, bool worst)
{
    const u64 attended = some(PATIENCE, worst), came = *now;
    *now += attended;
    const u64 delay = dh_chase_policy_delay(p, 0, *now, attended);
    const u64 left = dh_chase_policy_left(p, *now, attended);
    u64 spent = attended + delay + some(PATIENCE, worst);
    if (up_to(9) == 0 && attended + left > spent)
        spent = some(attended + left, worst);
    *now = came + spent;
    dh_chase_policy_sampled(p, 0, up_to(20000), delay + 2 * PATIENCE, spent, some(30000, worst));
}

/* An access is followed: in each step others trap for all of the time, and the command is late by less than the margin. */
static void track(struct dh_chase_policy *p, u64 *now, bool worst)
{
    u64 spent = some(PATIENCE, worst), most = 0;
    *now += spent;
    for (int i = 0; i < 20 && dh_chase_policy_covers(p, *now, spent, STEP); i++) {
        most = spent + STEP + PATIENCE;
        spent += some(STEP, worst) + (up_to(3) ? 0 : up_to(MARGIN));
        *now += STEP;
        if (up_to(20) == 0) { /* somebody is shown */
            spent += some(PATIENCE, worst);
            break;
        }
    }
    dh_chase_policy_sampled(p, 0, 5, most > spent ? most : spent, spent, 0);
}

static void keeps(double rmax, void (*window)(struct dh_chase_policy *, u64 *, bool), bool worst)
{
    struct dh_chase_policy p = policy_of(rmax);
    u64 now = 0;
    for (int i = 0; i < 20000; i++) {
        if (dh_chase_policy_decide(&p, 0, now)) {
            dh_chase_policy_changed(&p, up_to(100));
            window(&p, &now, worst);
        }
        assert_true((double)p.waited <= allowed(&p, now));
        now += up_to(2000);
    }
    assert_true(p.waited > 0);
}

/* However often it is asked, and whatever happens that has a limit: the budget holds at all times. */
static void bound(void **state)
{
    (void)state;
    static const double rates[] = {0.01, 0.02, 0.05, 0.1, 0.5};
    srandom(1);
    for (size_t r = 0; r < DH_ARRAY_LEN(rates); r++)
        for (int worst = 0; worst < 2; worst++) {
            keeps(rates[r], collide, worst);
            keeps(rates[r], track, worst);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget),  cmocka_unit_test(margin),    cmocka_unit_test(longer),
        cmocka_unit_test(once),    cmocka_unit_test(frequency), cmocka_unit_test(waits),
        cmocka_unit_test(traps),   cmocka_unit_test(shown),     cmocka_unit_test(late),
        cmocka_unit_test(rest),    cmocka_unit_test(bound),     cmocka_unit_test(carried),
        cmocka_unit_test(reserve), cmocka_unit_test(unlimited), cmocka_unit_test(spare),
        cmocka_unit_test(excess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
