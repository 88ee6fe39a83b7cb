/*
 * chase.c - RaceChaser's analysis, from the side of the command (Caper and RaceChaser, CC 2017, section 4).
 *
 * Only one thread waits at a time. That departs from the paper, where several may: here whoever comes to the
 * first side while another waits there passes, so that waiting is bounded whatever the number of threads.
 */
#include "chase/chase.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "chase/watch.h"

enum {
    LOOK_US = 100000,
    WATCHFUL_US = 10000,
    RELOAD_US = 10000,
    FRESH_US = 10000,
    TRAP_US = 10,
    SHORT_PATIENCE_US = 2000,
    FOLLOW_US = 2000,
    EARLY = 2 /* turns of an access */
};

u64 dh_chase_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

/* Two threads that were at once at their accesses, of which nobody has been told yet. */
struct pending {
    struct dh_chase_moment *moment;
    u64 pc; /* of the second */
};

struct chase {
    struct dh_chase_run *run;
    struct dh_chase_target *target;
    u64 start;
    u64 traps;  /* counted when the window began */
    u64 opened; /* when the first side was armed last */
    u64 due;    /* when to decide about the next sample */
    u64 looked; /* when obstacles were looked for last */
    bool obstructed;
    bool closing; /* the program is to be left alone */
    struct dh_chase_watch watch;
    u64 linger_until; /* the bytes of a wait that is over are watched; 0: they are not */
    bool met;         /* somebody was shown in this window */
    u32 n_pending;
    struct pending pending[DH_CONTROL_PASSED];
    struct dh_chase_track track;
};

static bool is_over(const struct chase *c)
{
    return (c->run->confirmed && !c->run->any) || c->run->trouble || c->run->filtered || c->closing;
}

/* Is the program coming to its end? Its memory goes a little earlier than it does. */
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

/* Looked up again if that was not done just now. */
static bool is_obstructed(struct chase *c)
{
    u64 now = dh_chase_now_us();
    if (now - c->looked < FRESH_US)
        return c->obstructed;
    struct dh_chase_obstacle o = dh_chase_target_obstacle(c->target);
    c->run->traced |= o.traced;
    c->run->filtered |= o.filtered;
    c->looked = now;
    c->obstructed = o.traced || o.filtered;
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

enum which { NONE, NEW, ALL };

/* Begins the next window, or a pause in which nothing is armed: then false. The state is one in which no
 * thread moves. */
static bool restart(struct chase *c, enum which which)
{
    bool wanted[DH_CONTROL_SITES] = {false};
    bool open = which != NONE && !is_over(c) && choose(c, which == NEW, wanted) && !is_obstructed(c);
    if (!open)
        memset(wanted, 0, sizeof(wanted));
    if (!is_over(c) && !is_obstructed(c))
        add_sides(c, dh_chase_track_standing(&c->track), wanted);
    arm(c, wanted);
    c->opened = dh_chase_now_us();
    c->due = c->opened + c->run->policy->delay;
    c->traps = __atomic_load_n(&c->target->control->traps, __ATOMIC_RELAXED);
    dh_chase_target_restart(c->target, open ? DH_CONTROL_OPEN : DH_CONTROL_OFF);
    return open;
}

/* What of the delay the thread at the first side may still wait: the time since it came is spent. */
static void limit_delay(struct chase *c)
{
    const struct dh_chase_policy *p = c->run->policy;
    const u32 site = c->target->control->first.site % DH_CONTROL_SITES;
    u64 now = dh_chase_now_us(), came = c->target->control->first.time_us;
    c->target->control->delay_us =
        p->whole ? p->delay : dh_chase_policy_delay(p, site, now - c->start, now > came ? now - came : 0);
}

/* Nobody need wait for those that are known already to meet who is at the first side. */
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
    c->met = false;
    bool wanted[DH_CONTROL_SITES] = {false};
    bool may = !is_obstructed(c), follow = c->track.analysis != DH_CHASE_COLLISION;
    if (may)
        add_sides(c, DH_CONTROL_SECOND | (follow ? DH_CONTROL_ATOMIC : 0), wanted);
    arm(c, wanted);
    if (follow && may && !c->run->trouble) {
        c->target->control->delay_us = c->run->policy->delay;
        dh_chase_track_begin(&c->track, c->target, dh_chase_now_us());
        dh_chase_target_move(c->target, seen, DH_CONTROL_TRACKED);
        return;
    }
    if (c->run->known)
        pass_known(c, true);
    int rc = c->run->any && may ? dh_chase_watch_set(&c->watch, c->target, !c->run->unwatched) : 0;
    if (rc)
        c->run->trouble =
            rc == -EMFILE ? "there are too many threads to watch, for the number of files that may be open"
                          : "the kernel refuses hardware watchpoints (perf_event_open)";
    limit_delay(c);
    dh_chase_target_move(c->target, seen, DH_CONTROL_WATCHED);
}

/* What the window has cost so far. The first thread may have gone on by itself, and nobody has waited since:
 * then the traps of others are what it costs. Vector clocks always cost theirs, whatever the budget. */
static u64 cost_of(const struct chase *c, u64 now, bool *ret_alone)
{
    u64 came = c->target->control->first.time_us;
    u64 left = __atomic_load_n(&c->target->control->left_us, __ATOMIC_ACQUIRE);
    u64 traps = __atomic_load_n(&c->target->control->traps, __ATOMIC_RELAXED) - c->traps;
    *ret_alone = left > came && left < now;
    if (*ret_alone)
        return left - came + (c->track.analysis == DH_CHASE_FULLHB ? 0 : traps * TRAP_US);
    return now > came ? now - came : 0;
}

/* The first thread has gone on, and its access is followed. */
static void follow(struct chase *c, u32 seen)
{
    bool alone;
    u64 now = dh_chase_now_us();
    const struct dh_chase_policy *p = c->run->policy;
    if (!c->run->trouble)
        c->run->trouble = dh_chase_track_trouble(c->target);
    if (dh_chase_track_is_over(&c->track, c->target, now) || is_over(c) || is_obstructed(c) ||
        !dh_chase_policy_delay(p, c->target->control->first.site % DH_CONTROL_SITES, now - c->start,
                               cost_of(c, now, &alone)))
        dh_chase_target_move(c->target, seen, DH_CONTROL_EXPIRED);
    else
        dh_chase_target_sleep(c->target, seen, FOLLOW_US);
}

/* A sample of the policy, and what it has cost. False: the thread has gone on by itself, so that nobody waits
 * until the next window begins. */
static bool account(struct chase *c)
{
    const struct dh_control_access *first = &c->target->control->first;
    u64 came = first->time_us;
    u32 site = first->site % DH_CONTROL_SITES;
    bool alone;
    u64 cost = cost_of(c, dh_chase_now_us(), &alone);
    if (c->run->draw)
        dh_chase_draw_drop(c->run->draw, site);
    dh_chase_policy_sampled(c->run->policy, site, came > c->opened ? came - c->opened : 0, cost,
                            c->target->control->delay_us);
    c->run->reached++;
    return !alone;
}

/* Those who were shown in the window that has ended: this opens files, and takes longer than anybody may
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
        c->due = dh_chase_now_us(); /* whether there is time for another window is the policy's to say */
    c->n_pending = 0;
}

/* It waits no more. What the thread executes next may be of the pair, too, and is armed before it goes on. */
static void end_window(struct chase *c)
{
    const struct dh_control_span span = c->target->control->first.spans[0];
    u32 site = c->target->control->first.site % DH_CONTROL_SITES;
    /* Of those that passed, one may have written. */
    bool changed = c->run->any && !c->met && !c->target->control->n_passed &&
                   dh_chase_watch_changed(&c->watch, c->target);
    dh_chase_watch_clear(&c->watch);
    u64 now = dh_chase_now_us();
    bool waits = account(c);
    dh_chase_track_end(&c->track, c->target);
    if (c->run->window)
        c->run->window(c->run->ctx, site);
    restart(c, c->met ? NONE : NEW); /* after a race there is something to be told first */
    if (waits)
        dh_chase_policy_add(c->run->policy, c->opened - now);
    if (changed && waits) /* or it may have been the thread itself */
        c->run->changed(c->run->ctx, site, &span);
    tell_pending(c, site);
}

/* May others be met in this window? Each is shown once. */
static bool goes_on(struct chase *c, u64 pc)
{
    u64 now = dh_chase_now_us(), came = c->target->control->first.time_us;
    return c->run->known && !is_over(c) && now < came + c->target->control->delay_us && !is_obstructed(c) &&
           c->n_pending < DH_ARRAY_LEN(c->pending) && dh_chase_target_pass(c->target, pc);
}

/* Two threads are at their accesses. */
static void show(struct chase *c)
{
    const u64 pc = c->target->control->second.registers[16];
    /* If others have passed, it may have been one of them who wrote. */
    bool changed =
        c->run->any && !c->target->control->n_passed && dh_chase_watch_changed(&c->watch, c->target);
    struct dh_chase_moment *m = dh_chase_track_take(&c->track);
    if (m)
        dh_chase_moment_meet(m, c->target, changed);
    else
        m = dh_chase_moment_new(c->target, changed, c->run->swapped);
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
    u64 before = dh_chase_now_us();
    bool waits = account(c);
    dh_chase_target_restart(c->target, DH_CONTROL_WATCHED);
    u64 now = dh_chase_now_us();
    if (waits)
        dh_chase_policy_add(c->run->policy, now - before);
    bool early = c->run->draw && dh_chase_draw_times(c->run->draw, site) <= EARLY;
    c->linger_until = now + (early ? c->run->linger_early_us : c->run->linger_us);
    pass_known(c, false);
}

static void end_linger(struct chase *c)
{
    c->linger_until = 0;
    dh_chase_watch_clear(&c->watch);
    c->due = 0;
}

static void linger(struct chase *c, u32 seen)
{
    u64 now = dh_chase_now_us();
    if (now < c->linger_until)
        dh_chase_target_sleep(c->target, seen, c->linger_until - now);
    else if (dh_chase_target_move(c->target, seen, DH_CONTROL_OFF))
        end_linger(c);
}

/* Somebody has accessed the bytes, and waits. */
static void show_lingering(struct chase *c)
{
    const struct dh_control_access *second = &c->target->control->second;
    const u32 site = c->target->control->first.site % DH_CONTROL_SITES;
    const u64 pc = second->registers[16], came = second->time_us;
    struct dh_chase_moment *m = dh_chase_moment_new(c->target, false, c->run->swapped);
    if (c->run->draw)
        dh_chase_draw_met(c->run->draw, site, pc);
    end_linger(c);
    dh_chase_target_restart(c->target, DH_CONTROL_OFF);
    u64 now = dh_chase_now_us();
    dh_chase_policy_add(c->run->policy, now > came ? now - came : 0);
    c->run->met(c->run->ctx, site, pc, m, false);
    dh_chase_moment_free(m);
}

/* Takes back the breakpoints that are set, for so long, unless a thread has just come to one. */
static void withdraw(struct chase *c, u32 seen, u64 pause_us)
{
    static const bool none[DH_CONTROL_SITES];
    u64 before = dh_chase_now_us();
    if (!dh_chase_target_move(c->target, seen, DH_CONTROL_OFF))
        return;
    arm(c, none);
    dh_chase_policy_add(c->run->policy, dh_chase_now_us() - before);
    c->due = dh_chase_now_us() + pause_us;
}

/* How late is this process woken on this machine, now? Before the program begins, if that matters. */
static void try_sleeping(struct chase *c)
{
    enum { TIMES = 4, PAUSE_US = 200 };
    const struct timespec pause = {0, PAUSE_US * 1000};
    for (int i = 0; i < TIMES && c->run->policy->rmax < 1; i++) {
        u64 before = dh_chase_now_us();
        nanosleep(&pause, NULL);
        u64 slept = dh_chase_now_us() - before;
        dh_chase_policy_late(c->run->policy, slept > PAUSE_US ? slept - PAUSE_US : 0);
    }
}

/* A thread waits, which will say so when its time is over. If a debugger comes meanwhile, the second side is
 * given up. */
static void look_on(struct chase *c, u32 seen)
{
    static const bool none[DH_CONTROL_SITES];
    dh_chase_target_sleep(c->target, seen, WATCHFUL_US);
    if (dh_chase_target_state(c->target) == seen && is_obstructed(c))
        arm(c, none);
}

/* Nothing is armed; if something is to be, it is now. */
static void begin(struct chase *c)
{
    const char *why;
    if (c->run->draw && dh_chase_draw_fill(c->run->draw, c->target, &why) != 0)
        c->run->trouble =
            "the program has unloaded or changed the code to be sampled, or become another by exec";
    u64 before = dh_chase_now_us();
    if (restart(c, ALL))
        dh_chase_policy_add(c->run->policy, c->opened - before);
}

/* One step, at most so long. */
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

/* Where code cannot be written through the descriptor of the program's memory. It must be loaded by now. */
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

/* The program has ended while an access was followed. */
static void finish_track(struct chase *c)
{
    bool alone;
    if (c->track.first) {
        dh_chase_policy_add(c->run->policy, cost_of(c, dh_chase_now_us(), &alone));
        c->run->reached++;
    }
    dh_chase_track_end(&c->track, c->target);
}

/* Takes everything back while the program goes on. A race that is just being shown still counts. */
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
        /* While somebody may still meet, what orders threads has to be followed. */
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

void dh_chase_run(struct dh_chase_run *run, int socket)
{
    if (run->policy->rmax < 1)
        run->target->control->patience_us = SHORT_PATIENCE_US;
    struct chase c = {
        .run = run, .target = run->target, .track = {.analysis = run->analysis, .window_us = run->window_us}};
    dh_chase_track_start(&c.track, run->target);
    try_sleeping(&c);
    const u64 began = dh_chase_now_us();
    c.start = run->start_us ? run->start_us : began;
    place(&c);
    if (run->target->direct && !run->trouble)
        make_writable(&c, socket);
    if (run->placed && !run->trouble)
        step(&c); /* armed before the first instruction of the program */
    if (socket >= 0)
        dh_chase_target_let_go(socket);
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
    dh_chase_policy_add(run->policy, __atomic_load_n(&run->target->control->held_us, __ATOMIC_ACQUIRE));
    run->total_us = dh_chase_now_us() - began;
    dh_chase_watch_done(&c.watch);
    tell_pending(&c,
                 run->target->control->first.site % DH_CONTROL_SITES); /* it has ended within the window */
    finish_track(&c);
}
