/*
 * chase.c - RaceChaser's analysis, on the command's side (Caper and RaceChaser, CC 2017, section 4).
 *
 * Only one thread waits at a time. This differs from the paper, where several may: here a thread that comes
 * to the first side while another waits there passes, so that waiting is bounded whatever the number of
 * threads.
 */
#include "chase/chase.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "chase/cost.h"
#include "chase/watch.h"

enum {
    LOOK_US = 100000,
    WATCHFUL_US = 10000,
    RELOAD_US = 10000,
    FRESH_US = 10000,
    FOLLOW_US = 2000,
    UNHANDLED_US = 500000,
    EARLY = 2 /* turns of an access */
};

/* The processor time of this thread: what code changes take while nobody waits for them. */
static u64 own_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

/* Two threads that were at their accesses at the same time, not reported yet. */
struct pending {
    struct dh_chase_moment *moment;
    u64 pc; /* of the second */
};

struct chase {
    struct dh_chase_run *run;
    struct dh_chase_target *target;
    u64 start;
    u64 opened; /* when the first side was last armed, and the number of traps then */
    u64 opened_traps;
    u64 due;    /* when to decide about the next sample */
    u64 looked; /* when obstacles were last looked for */
    bool obstructed;
    u64 unhandled; /* since when SIGILL has had no handler; 0: it has */
    u64 code_kb;   /* machine code that was looked at: if there is more, there is a new library */
    bool closing;  /* the program should be left alone */
    struct dh_chase_watch watch;
    u64 most;         /* the most the window may cost, without the margin */
    u64 linger_until; /* the bytes of a finished wait are watched until then; 0: they are not */
    u64 linger_since; /* when that began or was last settled; and the number of traps then */
    u64 linger_traps;
    bool met; /* a thread was shown in this window */
    u32 n_pending;
    struct pending pending[DH_CONTROL_PASSED];
    struct dh_chase_track track;
};

static bool is_over(const struct chase *c)
{
    return (c->run->confirmed && !c->run->any) || c->run->trouble || c->run->filtered || c->closing;
}

/* Is the program ending? Its memory is gone a little earlier than the process. */
static bool is_ending(struct chase *c)
{
    const struct timespec pause = {0, 10000000};
    for (int i = 0; i < 50; i++) {
        if (c->run->ended(c->run->ctx))
            return true;
        nanosleep(&pause, NULL);
    }
    return false;
}

static void arm(struct chase *c, const bool wanted[DH_CONTROL_SITES])
{
    if (dh_chase_target_arm(c->target, wanted) != 0 && !is_ending(c))
        c->run->trouble =
            "the program has unloaded or changed the code of the pair, or become another by exec";
}

/* May the program set the action of SIGILL, or block it, unseen? A breakpoint would kill it then. */
static void look_for_signals(struct chase *c, const struct dh_chase_obstacle *o)
{
    if (o->code_kb != c->code_kb) {
        const char *why = dh_chase_loaded_signals(c->run->loaded, c->target);
        c->code_kb = o->code_kb;
        c->run->deaf |= why != NULL;
        c->run->trouble = c->run->trouble ? c->run->trouble : why;
    }
    /* A thread that is alone takes the handler away for a moment, to start another program (field/exec.c). */
    u64 now = dh_chase_now_us();
    c->unhandled = !o->unhandled ? 0 : c->unhandled ? c->unhandled : now;
    if (c->unhandled && now - c->unhandled > UNHANDLED_US && !c->run->trouble)
        c->run->trouble =
            "the program has set the action of SIGILL directly, not through libc, or become another "
            "by exec";
}

/* Checked again unless that was done just now. */
static bool is_obstructed(struct chase *c)
{
    u64 now = dh_chase_now_us();
    if (now - c->looked < FRESH_US)
        return c->obstructed;
    struct dh_chase_obstacle o = dh_chase_target_obstacle(c->target);
    c->run->traced |= o.traced;
    c->run->filtered |= o.filtered;
    c->looked = now;
    look_for_signals(c, &o);
    c->obstructed = o.traced || o.filtered || o.unhandled || c->run->trouble;
    return c->obstructed;
}

/* Which sites of the first side to sample next. False: none. */
static bool choose(struct chase *c, bool only_new, bool ret_wanted[DH_CONTROL_SITES])
{
    struct dh_chase_policy *p = c->run->policy;
    bool any = false;
    for (u32 i = 0; i < c->target->control->n_sites; i++) {
        bool may =
            c->run->draw ? c->run->draw->active[i] : c->target->control->sites[i].sides & DH_CONTROL_FIRST;
        may &= !(only_new && p->sites[i].samples);
        p->sites[i].turns = c->run->draw ? dh_chase_draw_times(c->run->draw, i) : p->sites[i].samples;
        ret_wanted[i] = may && dh_chase_policy_decide(p, i, dh_chase_now_us() - c->start);
        any |= ret_wanted[i];
    }
    return any;
}

static void add_sides(const struct chase *c, u8 sides, bool wanted[DH_CONTROL_SITES])
{
    for (u32 i = 0; i < c->target->control->n_sites; i++)
        wanted[i] |= (c->target->control->sites[i].sides & sides) != 0;
}

static u64 traps_of(const struct chase *c)
{
    return __atomic_load_n(&c->target->control->traps, __ATOMIC_RELAXED);
}

/* By this moment whatever is armed will have been attended to; otherwise the program removes it after a
 * while. With vector clocks it is never to be removed. */
static void allow(struct chase *c, u64 due_us)
{
    const bool always = c->track.analysis == DH_CHASE_FULLHB;
    dh_chase_target_allow(c->target, due_us, always ? 0 : dh_chase_policy_spare(c->run->policy));
}

enum which { NONE, NEW, ALL };

/* Begins the next window; or a pause in which nothing is armed, and then returns false. Called in a state in
 * which no thread makes transitions. */
static bool restart(struct chase *c, enum which which)
{
    bool wanted[DH_CONTROL_SITES] = {false};
    bool open = which != NONE && !is_over(c) && choose(c, which == NEW, wanted) && !is_obstructed(c);
    if (!open)
        memset(wanted, 0, sizeof(wanted));
    if (!is_over(c) && !is_obstructed(c))
        add_sides(c, dh_chase_track_standing(&c->track), wanted);
    allow(c, 0);
    arm(c, wanted);
    c->run->armed |= open;
    c->opened = dh_chase_now_us();
    c->opened_traps = traps_of(c);
    c->due = c->opened + c->run->policy->delay;
    c->target->control->grant_us = dh_chase_policy_left(c->run->policy, c->opened - c->start, 0);
    dh_chase_target_restart(c->target, open ? DH_CONTROL_OPEN : DH_CONTROL_OFF);
    return open;
}

/* What the window may cost, counted from when the thread came to the first side; `spent` of it is used up. */
static void grant(struct chase *c, u64 now, u64 spent)
{
    const u64 came = c->target->control->first.time_us;
    c->target->control->grant_us =
        (now > came ? now - came : 0) + dh_chase_policy_left(c->run->policy, now - c->start, spent);
}

/* How much of the delay remains for the thread at the first side: the time since it came is used up. */
static void limit_delay(struct chase *c)
{
    const struct dh_chase_policy *p = c->run->policy;
    struct dh_control *control = c->target->control;
    const u32 site = control->first.site % DH_CONTROL_SITES;
    u64 now = dh_chase_now_us(), spent = now > control->first.time_us ? now - control->first.time_us : 0;
    control->delay_us = p->whole ? p->delay : dh_chase_policy_delay(p, site, now - c->start, spent);
    control->attended_us = now;
    control->until_us = now + control->delay_us;
    c->most = control->delay_us + 2 * p->patience;
    grant(c, now, spent);
    allow(c, control->until_us + p->patience);
}

/* The first thread resumes at once, and the window costs what other threads' traps cost. */
static void limit_following(struct chase *c)
{
    u64 now = dh_chase_now_us(), came = c->target->control->first.time_us;
    c->target->control->attended_us = c->target->control->until_us = now;
    c->most = FOLLOW_US + 2 * c->run->policy->patience;
    grant(c, now, now > came ? now - came : 0);
    allow(c, now + FOLLOW_US);
}

/* How often watchpoints may trap; each thread need be seen only once if that ends the wait. */
static u32 hits(const struct chase *c)
{
    const u64 now = dh_chase_now_us(), came = c->target->control->first.time_us;
    const u32 n = dh_chase_policy_hits(c->run->policy, c->target->control->first.site % DH_CONTROL_SITES,
                                       now - c->start, now > came ? now - came : 0);
    return n && !c->run->known ? 1 : n;
}

/* Nobody need wait for accesses already known to meet the one at the first side. */
static void pass_known(struct chase *c, bool at_once)
{
    u64 pcs[DH_CONTROL_PASSED];
    u32 site = c->target->control->first.site % DH_CONTROL_SITES;
    size_t n = c->run->known(c->run->ctx, site, at_once, pcs, DH_ARRAY_LEN(pcs));
    dh_chase_target_pass_none(c->target);
    for (size_t i = 0; i < n; i++)
        dh_chase_target_pass(c->target, pcs[i]);
}

/* A thread waits at the first side. */
static void watch(struct chase *c, u32 seen)
{
    const u64 now = dh_chase_now_us(), came = c->target->control->first.time_us;
    dh_chase_policy_expect(c->run->policy, now > came ? now - came : 0);
    c->met = false;
    bool wanted[DH_CONTROL_SITES] = {false};
    bool may = !is_obstructed(c), follow = c->track.analysis != DH_CHASE_COLLISION;
    if (may)
        add_sides(c, DH_CONTROL_SECOND | (follow ? DH_CONTROL_ATOMIC : 0), wanted);
    arm(c, wanted);
    if (follow && may && !c->run->trouble) {
        c->target->control->delay_us = c->run->policy->delay;
        dh_chase_track_begin(&c->track, c->target, dh_chase_now_us());
        limit_following(c);
        dh_chase_target_move(c->target, seen, DH_CONTROL_TRACKED);
        return;
    }
    if (c->run->known)
        pass_known(c, true);
    int rc = c->run->any && may ? dh_chase_watch_set(&c->watch, c->target, !c->run->unwatched, hits(c)) : 0;
    if (rc)
        c->run->trouble = rc == -EMFILE ? "there are too many threads to watch for the number of files that "
                                          "may be open; raise it (ulimit -n)"
                                        : "the kernel refuses hardware watchpoints (perf_event_open)";
    limit_delay(c);
    dh_chase_target_move(c->target, seen, DH_CONTROL_WATCHED);
}

/* What the window has cost so far. */
static struct dh_chase_cost cost_of(const struct chase *c, u64 now)
{
    return dh_chase_cost_of(c->target->control, dh_chase_target_state(c->target), now,
                            c->track.analysis == DH_CHASE_FULLHB);
}

/* Sleeps while other threads may trap. If the sleep took longer than it should have, the next one may,
 * too. */
static void sleep_step(struct chase *c, u32 seen, u64 now, u64 us)
{
    dh_chase_target_sleep(c->target, seen, us);
    u64 slept = dh_chase_now_us() - now;
    if (dh_chase_target_state(c->target) == seen && slept > us)
        dh_chase_policy_expect(c->run->policy, slept - us);
}

/* The first thread has resumed, and its access is tracked for as long as the budget covers one more step,
 * even if other threads do nothing but trap in it. */
static void follow(struct chase *c, u32 seen)
{
    u64 now = dh_chase_now_us();
    const struct dh_chase_policy *p = c->run->policy;
    const struct dh_chase_cost cost = cost_of(c, now);
    if (!c->run->trouble)
        c->run->trouble = dh_chase_track_trouble(c->target);
    if (dh_chase_track_is_over(&c->track, c->target, now) || is_over(c) || is_obstructed(c) ||
        !dh_chase_policy_covers(p, now - c->start, cost.waited + cost.late, FOLLOW_US)) {
        dh_chase_target_move(c->target, seen, DH_CONTROL_EXPIRED);
        return;
    }
    c->most = cost.waited + FOLLOW_US + p->patience;
    grant(c, now, cost.waited + cost.late);
    allow(c, now + FOLLOW_US);
    sleep_step(c, seen, now, FOLLOW_US);
}

/* Reports a sample and its cost to the policy. */
static void account(struct chase *c, struct dh_chase_cost cost)
{
    const struct dh_control_access *first = &c->target->control->first;
    const u32 site = first->site % DH_CONTROL_SITES;
    if (c->run->draw)
        dh_chase_draw_drop(c->run->draw, site);
    dh_chase_policy_sampled(c->run->policy, site, first->time_us > c->opened ? first->time_us - c->opened : 0,
                            c->most, cost.waited, cost.late);
    c->run->reached++;
}

/* A window accounted for up to some moment, and the number of traps by then. */
struct settled {
    struct dh_chase_cost cost;
    u64 came, now, traps;
};

/* Accounts for the window so far. The command may have noticed its end late. */
static struct settled settle(struct chase *c)
{
    const struct dh_control *control = c->target->control;
    const u64 now = dh_chase_now_us();
    const struct settled s = {cost_of(c, now), control->first.time_us, now, traps_of(c)};
    const bool expired = (dh_chase_target_state(c->target) & DH_CONTROL_PHASE) == DH_CONTROL_EXPIRED;
    /* If the command has not even attended to the thread, until_us dates from before it came. */
    const u64 due = (control->until_us > s.came ? control->until_us : s.came) + s.cost.late;
    account(c, s.cost);
    if (expired && !c->track.first && now > due)
        dh_chase_policy_expect(c->run->policy, now - due);
    return s;
}

/* Accounts for the rest of the window, up to `end`. The thread may be first in another one by now. */
static void settle_rest(struct chase *c, const struct settled *s, u64 end)
{
    const struct dh_control *control = c->target->control;
    if (!s->cost.alone)
        dh_chase_policy_add(c->run->policy, dh_chase_cost_rest(control, s->came, s->now, end));
    else if (c->track.analysis != DH_CHASE_FULLHB)
        dh_chase_policy_add(c->run->policy, dh_chase_cost_traps(control, 0, s->traps, s->now, end));
}

/* Reports the meetings of the window that has ended: this opens files, and takes longer than any thread may
 * wait. */
static void tell_pending(struct chase *c, u32 site)
{
    for (u32 i = 0; i < c->n_pending; i++) {
        const struct pending *p = &c->pending[i];
        if (c->run->met)
            c->run->met(c->run->ctx, site, p->pc, p->moment, true);
        c->run->confirmed |= c->run->found(c->run->ctx, p->moment);
    }
    if (c->n_pending)
        c->due = dh_chase_now_us(); /* the policy decides whether there is time for another window */
    c->n_pending = 0;
}

/* The wait is over. The thread's next instruction may be part of the pair, too, so it is armed before the
 * thread resumes. */
static void end_window(struct chase *c)
{
    const struct dh_control_span span = c->target->control->first.spans[0];
    u32 site = c->target->control->first.site % DH_CONTROL_SITES;
    /* One of the threads that passed may have written. */
    bool changed = c->run->any && !c->met && !c->target->control->n_passed &&
                   dh_chase_watch_changed(&c->watch, c->target);
    dh_chase_watch_clear(&c->watch);
    const struct settled settled = settle(c);
    dh_chase_track_end(&c->track, c->target);
    if (c->run->window)
        c->run->window(c->run->ctx, site);
    restart(c, c->met ? NONE : NEW); /* after a race, it is reported first */
    settle_rest(c, &settled, c->opened);
    if (changed && !settled.cost.alone) /* otherwise the thread itself may have written */
        c->run->changed(c->run->ctx, site, &span);
    tell_pending(c, site);
}

/* When the first thread resumed by itself in this window, or 0. */
static u64 left_us(const struct chase *c)
{
    const u64 left = __atomic_load_n(&c->target->control->left_us, __ATOMIC_ACQUIRE);
    return left > c->target->control->first.time_us ? left : 0;
}

/* Two have met: had the first, which was to be kept, resumed in an earlier generation? It may be anywhere
 * then. */
static bool is_first_gone(const struct chase *c)
{
    return c->track.analysis == DH_CHASE_COLLISION && left_us(c) &&
           !(dh_chase_target_gone(c->target) & DH_CONTROL_GONE_FIRST);
}

/* Can others still be met in this window? Each is shown once. */
static bool goes_on(struct chase *c, u64 pc)
{
    u64 now = dh_chase_now_us(), came = c->target->control->first.time_us;
    return c->run->known && !is_over(c) && now < came + c->target->control->delay_us && !is_obstructed(c) &&
           !dh_chase_target_gone(c->target) && c->n_pending < DH_ARRAY_LEN(c->pending) &&
           dh_chase_target_pass(c->target, pc);
}

/* Two threads are at their accesses. */
static void show(struct chase *c)
{
    const u64 pc = c->target->control->second.registers[16];
    /* If others have passed, one of them may have written. */
    bool changed =
        c->run->any && !c->target->control->n_passed && dh_chase_watch_changed(&c->watch, c->target);
    struct dh_chase_moment *m = dh_chase_track_take(&c->track);
    if (m)
        dh_chase_moment_meet(m, c->target, changed);
    else
        m = dh_chase_moment_new(c->target, changed, c->run->swapped);
    if (is_first_gone(c)) { /* asked after its stack was copied: it may have resumed meanwhile */
        dh_chase_moment_free(m);
        end_window(c);
        return;
    }
    c->met = true;
    if (c->run->draw)
        dh_chase_draw_met(c->run->draw, c->target->control->first.site % DH_CONTROL_SITES, pc);
    const char *unseen = c->track.analysis != DH_CHASE_COLLISION ? c->run->unseen(c->run->ctx) : NULL;
    if (unseen)
        c->run->trouble = unseen;
    if (unseen)
        dh_chase_moment_free(m);
    else
        c->pending[c->n_pending++] = (struct pending){m, pc};
    if (goes_on(c, pc))
        dh_chase_target_keep(c->target);
    else
        end_window(c);
}

/* ---- Inference: the bytes of a wait are watched a while longer ---- */

static void begin_linger(struct chase *c)
{
    const u32 site = c->target->control->first.site % DH_CONTROL_SITES;
    const struct settled settled = settle(c);
    c->target->control->grant_us = 0; /* an arriving thread is examined at once, or not at all */
    c->linger_traps = traps_of(c);
    allow(c, 0);
    dh_chase_target_restart(c->target, DH_CONTROL_WATCHED);
    u64 now = dh_chase_now_us();
    settle_rest(c, &settled, now);
    bool early = c->run->draw && dh_chase_draw_times(c->run->draw, site) <= EARLY;
    c->linger_since = now;
    c->linger_until = now + (early ? c->run->linger_early_us : c->run->linger_us);
    pass_known(c, false);
}

/* What traps have cost since the last call. */
static void account_linger(struct chase *c, u32 state, u64 now)
{
    dh_chase_policy_add(c->run->policy, dh_chase_cost_traps(c->target->control, state, c->linger_traps,
                                                            c->linger_since, now));
    c->linger_traps = traps_of(c);
    c->linger_since = now;
}

static void end_linger(struct chase *c)
{
    c->linger_until = 0;
    dh_chase_watch_clear(&c->watch);
    c->due = 0;
}

/* In steps, as for a tracked access. */
static void linger(struct chase *c, u32 seen)
{
    u64 now = dh_chase_now_us();
    account_linger(c, seen, now);
    u64 left = now < c->linger_until ? c->linger_until - now : 0, step = left < FOLLOW_US ? left : FOLLOW_US;
    if (step && dh_chase_policy_covers(c->run->policy, now - c->start, 0, step))
        sleep_step(c, seen, now, step);
    else if (dh_chase_target_move(c->target, seen, DH_CONTROL_OFF))
        end_linger(c);
}

/* A thread has accessed the bytes, and waits. */
static void show_lingering(struct chase *c)
{
    const u32 site = c->target->control->first.site % DH_CONTROL_SITES;
    const u32 seen = dh_chase_target_state(c->target);
    const u64 pc = c->target->control->second.registers[16];
    struct dh_chase_moment *m = dh_chase_moment_new(c->target, false, c->run->swapped);
    if (c->run->draw)
        dh_chase_draw_met(c->run->draw, site, pc);
    end_linger(c);
    account_linger(c, seen, dh_chase_now_us());
    dh_chase_target_restart(c->target, DH_CONTROL_OFF);
    c->run->met(c->run->ctx, site, pc, m, false);
    dh_chase_moment_free(m);
}

/* Removes the breakpoints for this long, unless a thread has just come to one. Threads that may not wait have
 * trapped all the same. */
static void withdraw(struct chase *c, u32 seen, u64 pause_us)
{
    static const bool none[DH_CONTROL_SITES];
    u64 before = own_us();
    if (!dh_chase_target_move(c->target, seen, DH_CONTROL_OFF))
        return;
    arm(c, none);
    dh_chase_policy_changed(c->run->policy, own_us() - before);
    const u64 now = dh_chase_now_us();
    dh_chase_policy_add(c->run->policy,
                        dh_chase_cost_traps(c->target->control, seen, c->opened_traps, c->opened, now));
    c->due = now + pause_us;
}

/* Measures how late this process is woken on this machine at present, before the program begins, if it
 * matters. */
static void try_sleeping(struct chase *c)
{
    enum { TIMES = 4, PAUSE_US = 200 };
    const struct timespec pause = {0, PAUSE_US * 1000};
    for (int i = 0; i < TIMES && c->run->policy->rmax < 1; i++) {
        u64 before = dh_chase_now_us();
        nanosleep(&pause, NULL);
        u64 slept = dh_chase_now_us() - before;
        dh_chase_policy_expect(c->run->policy, slept > PAUSE_US ? slept - PAUSE_US : 0);
    }
}

/* A thread waits, and will say so when its time is over; unless it was to be kept, and had resumed already.
 * If a debugger attaches meanwhile, the second side is abandoned. */
static void look_on(struct chase *c, u32 seen)
{
    static const bool none[DH_CONTROL_SITES];
    if (left_us(c)) {
        dh_chase_target_move(c->target, seen, DH_CONTROL_EXPIRED);
        return;
    }
    dh_chase_target_sleep(c->target, seen, WATCHFUL_US);
    if (dh_chase_target_state(c->target) == seen && is_obstructed(c))
        arm(c, none);
}

/* Nothing is armed; arms what should be. */
static void begin(struct chase *c)
{
    const char *why;
    if (c->run->draw && dh_chase_draw_fill(c->run->draw, c->target, &why) != 0)
        c->run->trouble =
            "the program has unloaded or changed the code to be sampled, or become another by exec";
    u64 before = own_us();
    if (restart(c, ALL))
        dh_chase_policy_changed(c->run->policy, own_us() - before);
}

/* One step, at most this long. */
static void step(struct chase *c)
{
    u32 seen = dh_chase_target_state(c->target);
    u64 now = dh_chase_now_us();
    switch ((enum dh_control_phase)(seen & DH_CONTROL_PHASE)) {
    case DH_CONTROL_OFF:
        if (now < c->due)
            dh_chase_target_sleep(c->target, seen, c->due - now);
        else
            begin(c);
        break;
    case DH_CONTROL_OPEN:
        dh_chase_target_sleep(c->target, seen, WATCHFUL_US);
        if (dh_chase_target_state(c->target) != seen)
            break;
        if (is_obstructed(c)) /* no breakpoint may be set now */
            withdraw(c, seen, LOOK_US);
        else if (dh_chase_target_is_cleared(c->target)) /* nobody would come any more */
            withdraw(c, seen, 0);
        else if (c->run->draw && dh_chase_draw_ages(c->run->draw, dh_chase_now_us() - c->opened))
            withdraw(c, seen, 0);
        break;
    case DH_CONTROL_HELD:
        watch(c, seen);
        break;
    case DH_CONTROL_TRACKED:
        follow(c, seen);
        break;
    case DH_CONTROL_WATCHED:
        if (c->linger_until)
            linger(c, seen);
        else
            look_on(c, seen);
        break;
    case DH_CONTROL_CLAIMED:
    case DH_CONTROL_MET:
        dh_chase_target_sleep(c->target, seen, LOOK_US);
        break;
    case DH_CONTROL_SHOWN:
        (c->linger_until ? show_lingering : show)(c);
        break;
    case DH_CONTROL_EXPIRED:
        if (c->run->linger_us && !c->met)
            begin_linger(c);
        else
            end_window(c);
        break;
    }
}

/* Libraries may come later than the program. */
static void place(struct chase *c)
{
    const char *why = NULL;
    int rc = c->run->draw ? dh_chase_draw_fill(c->run->draw, c->target, &why)
                          : dh_chase_target_place(c->target, c->run->sites, &why);
    c->run->placed = rc == 0;
    if (rc && rc != -EAGAIN)
        c->run->trouble = why;
}

/* For code that cannot be written through the descriptor of the program's memory. It must be loaded by
 * now. */
static void make_writable(struct chase *c, int socket)
{
    struct dh_chase_target *t = c->target;
    struct dh_chase_draw *d = c->run->draw;
    c->run->direct = true;
    for (u32 i = 0; i < t->control->n_sites; i++)
        dh_chase_target_name_code(t, t->sites[i]->module, t->control->sites[i].pc,
                                  t->control->sites[i].pc + t->control->sites[i].length);
    for (size_t i = 0; d && i < d->n_pools; i++) {
        struct dh_chase_spots *spots = &d->pools[i].spots;
        if (!d->pools[i].loaded)
            spots->n = 0; /* nothing of it is drawn */
        else if (spots->n)
            dh_chase_target_name_code(t, d->pools[i].module, spots->at[0].address + d->pools[i].bias,
                                      spots->at[spots->n - 1].address + DH_CHASE_CODE_MAX + d->pools[i].bias);
    }
    if (!c->run->placed || dh_chase_target_make_writable(socket) != 0)
        c->run->trouble = c->run->placed
                              ? "the program's code cannot be written through /proc/self/mem here, and the "
                                "kernel does not let the program make it writable (mprotect) either"
                              : "the program's code cannot be written through /proc/self/mem here, and "
                                "what it loads later could not be made writable";
}

/* The program has ended, perhaps in the middle of a window. That may have been noticed late. */
static void finish(struct chase *c, u64 now)
{
    const u32 seen = dh_chase_target_state(c->target), phase = seen & DH_CONTROL_PHASE;
    struct dh_chase_cost cost = cost_of(c, now);
    cost.waited = !cost.alone && cost.waited > c->most ? c->most : cost.waited;
    if (c->linger_until)
        account_linger(c, seen, now);
    else if (phase != DH_CONTROL_OFF && phase != DH_CONTROL_OPEN && phase != DH_CONTROL_CLAIMED)
        account(c, cost);
    dh_chase_track_end(&c->track, c->target);
}

/* Removes everything while the program continues. A race that is just being shown still counts. */
static void retreat(struct chase *c)
{
    enum { TIMES = 10 };
    static const bool none[DH_CONTROL_SITES];
    c->closing = true;
    for (int i = 0;; i++) {
        u32 seen = dh_chase_target_state(c->target), phase = seen & DH_CONTROL_PHASE;
        if (phase == DH_CONTROL_OFF ||
            (phase == DH_CONTROL_OPEN && dh_chase_target_move(c->target, seen, DH_CONTROL_OFF)))
            break;
        if (phase == DH_CONTROL_OPEN)
            continue;
        /* While a meeting is still possible, synchronisation has to be tracked. */
        if (phase == DH_CONTROL_TRACKED && !dh_chase_target_move(c->target, seen, DH_CONTROL_EXPIRED))
            continue;
        if ((phase == DH_CONTROL_CLAIMED || phase == DH_CONTROL_MET) && i < TIMES)
            dh_chase_target_sleep(c->target, seen, LOOK_US); /* a thread is about to move on */
        else if (phase == DH_CONTROL_SHOWN)
            (c->linger_until ? show_lingering : show)(c);
        else
            end_window(c);
    }
    arm(c, none);
}

/* The program waits until it is let go, or for as long as it does by itself. `before`: what was waited
 * earlier. This replaces what code changes meanwhile have been counted for. */
static void account_beginning(struct dh_chase_run *run, u64 before)
{
    const u64 now = dh_chase_now_us(), most = run->target->control->begin_us;
    const u64 kept = now > run->kept_us ? now - run->kept_us : 0;
    if (run->kept_us)
        run->policy->waited = before + (kept < most ? kept : most);
}

void dh_chase_run(struct dh_chase_run *run, int socket)
{
    const u64 waited = run->policy->waited;
    if (run->policy->rmax < 1)
        run->target->control->patience_us = run->policy->patience;
    struct chase c = {
        .run = run, .target = run->target, .track = {.analysis = run->analysis, .window_us = run->window_us}};
    dh_chase_track_start(&c.track, run->target);
    if (!run->kept_us)
        try_sleeping(&c);
    c.start = run->start_us ? run->start_us : dh_chase_now_us();
    place(&c);
    if (run->target->direct && !run->trouble)
        make_writable(&c, socket);
    if (!run->trouble)
        is_obstructed(&c); /* nothing is armed before all code has been looked at */
    account_beginning(run, waited);
    if (run->placed && !run->trouble)
        step(&c); /* armed before the first instruction of the program */
    const u64 began = dh_chase_now_us();
    c.start = run->start_us ? run->start_us : began;
    if (socket >= 0)
        dh_chase_target_let_go(socket);
    account_beginning(run, waited);
    while (!run->ended(run->ctx)) {
        if (run->withdrawn && run->withdrawn(run->ctx)) {
            retreat(&c);
            break;
        }
        if (is_over(&c) && !c.closing)
            retreat(&c); /* a window may be open, with all of its breakpoints */
        if (is_over(&c) || !run->placed)
            dh_chase_target_sleep(run->target, dh_chase_target_state(run->target),
                                  is_over(&c) ? LOOK_US : RELOAD_US);
        if (!run->placed && !is_over(&c))
            place(&c);
        else if (!is_over(&c))
            step(&c);
    }
    const u64 end = dh_chase_now_us();
    finish(&c, end);
    dh_chase_policy_add(run->policy, __atomic_load_n(&run->target->control->held_us, __ATOMIC_ACQUIRE));
    run->total_us = end - began;
    dh_chase_watch_done(&c.watch);
    tell_pending(&c,
                 run->target->control->first.site % DH_CONTROL_SITES); /* it has ended within the window */
}
