/*
 * test_trap.c - src/field/trap.c: how late the thread at the first side says it was, and what is charged for its
 * wait (src/chase/cost.c). The file is included; the kernel, the clock and the command are simulated.
 */
#include <string.h>

#include "base/sys.h"

static long kernel(long n, long a, long b, long c, long d, long e, long f);
static u64 clock_us;
#define dh_sys6 kernel
#define dh_sys3(n, a, b, c) kernel(n, a, b, c, 0, 0, 0)
#define dh_sys_now_us() clock_us
#include "../../src/field/trap.c"

#include "chase/cost.h"
#include "unit/check.h"

enum { PATIENCE = 2000, DELAY = 10000, LATE = 130000, GENERATION = 7 << 4 };

struct dh_control *dh_field_control;
static struct dh_control control;

/* What happens while the thread sleeps: by when it has a processor again, and the state it finds. */
static struct {
    u64 at;
    u32 state;
} sleeps[4];
static u32 n_sleeps;

static long kernel(long n, long a, long b, long c, long d, long e, long f)
{
    (void)a, (void)c, (void)d, (void)e, (void)f;
    if (n != SYS_futex || b != FUTEX_WAIT)
        return 0;
    assert_in_range(n_sleeps, 0, DH_ARRAY_LEN(sleeps) - 1);
    assert_true(sleeps[n_sleeps].at > clock_us);
    clock_us = sleeps[n_sleeps].at;
    control.state = sleeps[n_sleeps].state;
    n_sleeps++;
    return 0;
}

/* ---- What is not under test ---- */

bool dh_field_is_original(void)
{
    return true;
}

bool dh_field_agent_rules(void)
{
    return false;
}

u64 dh_field_agent_bound(u64 us)
{
    return us;
}

bool dh_field_agent_allows(struct dh_control *c, const struct dh_control_site *site)
{
    (void)c;
    return site != NULL;
}

bool dh_field_agent_is_gone(struct dh_control *c)
{
    return c == NULL;
}

void dh_field_excess_count(struct dh_control *c)
{
    (void)c;
}

void dh_field_deaths_note(void)
{
}

void dh_field_track_begin(struct dh_control *c)
{
    (void)c;
}

bool dh_field_track_is_ordered(struct dh_control *c)
{
    return c == NULL;
}

void dh_field_track_atomic(u8 order, u64 address)
{
    (void)order, (void)address;
}

void dh_field_track_made(void)
{
}

/* ---- Lateness ---- */

static int fresh(void **state)
{
    (void)state;
    memset(&control, 0, sizeof(control));
    control.state = GENERATION | DH_CONTROL_CLAIMED;
    control.patience_us = PATIENCE;
    control.grant_us = 50000;
    memset(sleeps, 0, sizeof(sleeps));
    n_sleeps = 0;
    clock_us = 1000000;
    return 0;
}

static void come(void)
{
    static const ucontext_t registers;
    hold(&control, &control.sites[0], &registers, GENERATION | DH_CONTROL_CLAIMED);
}

static void check(u64 waited, u64 late)
{
    const struct dh_chase_cost cost =
        dh_chase_cost_of(&control, GENERATION | DH_CONTROL_SHOWN, clock_us, false);
    assert_int_equal(cost.waited, waited);
    assert_int_equal(cost.late, late);
}

/* The command has not even attended to it when its patience is over. It gets no processor then, and meanwhile another
 * thread comes: what it waits for that processor is not charged. */
static void late_when_met(void **state)
{
    (void)state;
    sleeps[0].at = clock_us + PATIENCE + LATE;
    sleeps[0].state = GENERATION | DH_CONTROL_SHOWN;
    sleeps[1].at = sleeps[0].at + 300; /* the command examines both */
    sleeps[1].state = (GENERATION + 16) | DH_CONTROL_OFF;
    come();
    check(PATIENCE + 300, LATE);
}

/* The same when the delay is over. */
static void late_after_delay(void **state)
{
    (void)state;
    control.delay_us = DELAY;
    control.attended_us = clock_us + 50;
    control.until_us = control.attended_us + DELAY;
    sleeps[0].at = control.attended_us;
    sleeps[0].state = GENERATION | DH_CONTROL_WATCHED;
    sleeps[1].at = control.until_us + LATE;
    sleeps[1].state = GENERATION | DH_CONTROL_SHOWN;
    sleeps[2].at = sleeps[1].at + 300;
    sleeps[2].state = (GENERATION + 16) | DH_CONTROL_OFF;
    come();
    check(50 + DELAY + 300, LATE);
}

/* Whoever is met in time is not late. */
static void in_time(void **state)
{
    (void)state;
    sleeps[0].at = clock_us + PATIENCE - 1;
    sleeps[0].state = GENERATION | DH_CONTROL_SHOWN;
    sleeps[1].at = sleeps[0].at + 300;
    sleeps[1].state = (GENERATION + 16) | DH_CONTROL_OFF;
    come();
    check(PATIENCE - 1 + 300, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(late_when_met, fresh),
        cmocka_unit_test_setup(late_after_delay, fresh),
        cmocka_unit_test_setup(in_time, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
