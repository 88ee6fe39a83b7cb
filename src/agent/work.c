/*
 * work.c - see work.h.
 *
 * A validation has two parts. In one the schedule is steered: a thread that comes to the access which should
 * be second is held for tau, once for each instruction, and if another thread comes to the first access
 * meanwhile, that is a race, in the requested order. In the other the pair is tracked: from the access that
 * should be first on, happens-before is tracked as far as the budget allows (RaceMob's on-demand detection),
 * which finds races between accesses that are apart in time, and pairs that are ordered. In every second run,
 * and in a program whose synchronisation cannot be tracked completely, two threads have to be caught at the
 * same time instead, which never yields NoRace. The paper does both at once; here the second part follows if
 * the first was inconclusive, and each of them comes first in half of the runs, since a program may reach the
 * accesses in one phase only.
 *
 * An inference (section 3.2.1) alternates between two ways. One is the second part of a validation, for all
 * accesses of a bundle. In the other, a thread is stopped for a moment at any of them and the bytes it is
 * about to access are watched by hardware for a while, which costs nothing until another thread accesses
 * them. It sees every access to them, in the bundle or not; the first also sees pairs that do not meet. The
 * outcome is which accesses came to the same bytes.
 */
#include "agent/work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/trial.h"
#include "chase/progress.h"
#include "chase/watch.h"

enum {
    SAVED_US = 1000000, /* no more is saved up than the budget of a run of this length */
    START_US = 1000,    /* what it takes to set the first breakpoints, if nothing is in the way */
    HOLD_US = 200000,   /* how long, at most, the second waits for the first to be made, once they have met */
    DELAY_US = 10000,   /* how long a thread waits where ordering cannot be tracked */
    WINDOW_US = 1000000,  /* how long one access is tracked */
    SETTLE_US = 200000,   /* how long the other instructions of a line get to be reached as well */
    FOLLOW_US = 5000000,  /* the second part of a validation */
    ORDERED_US = 1000000, /* ... if the accesses were seen to be ordered */
    INFER_US = 30000000,  /* an inference */
    PART_US = 1000000,    /* ... that long in each of two ways, in turn */
    GLANCE_US = 1000,     /* how long a thread waits until its bytes are watched */
    LINGER_US = 100000,   /* how long they are watched afterwards */
    MET_US = 2000000,     /* ... after two accesses have met: others of the bundle may, too */
    ANNOUNCE_US = 900000, /* the program waits a second to be told whether it will be tracked */
    LOOK_US = 20000,      /* between two checks of the program */
    IDLE_US = 30000000,
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

/* ---- The program, while it runs ---- */

static bool has_ended(void *ctx)
{
    struct dh_agent_trial *t = ctx;
    struct pollfd p = {t->w->pidfd, POLLIN, 0};
    struct dh_control *c = t->w->target.control;
    __atomic_store_n(&c->beat_us, dh_chase_now_us(), __ATOMIC_RELEASE);
    t->w->ended = t->w->ended || poll(&p, 1, 0) != 0;
    return t->w->ended;
}

/* Has the task been replaced or withdrawn? */
static bool is_stale(const struct dh_agent_trial *t)
{
    return stopped || dh_agent_board_turn(t->w->with->board) != t->turn;
}

/* Has the program refused further chasing? */
static const char *refusal(const struct dh_agent_program *w)
{
    const struct dh_control *c = w->target.control;
    if (__atomic_load_n(&c->left, __ATOMIC_ACQUIRE))
        return "the program has not heard of the agent for too long";
    if (__atomic_load_n(&c->refused, __ATOMIC_ACQUIRE))
        return "the program does not know what it was to be stopped at";
    return NULL;
}

/* Has a thread come to the second side in this part, ordered after the first access? */
static void note_ordered(struct dh_agent_trial *t)
{
    u32 now = __atomic_load_n(&t->w->target.control->ordered, __ATOMIC_RELAXED);
    t->ordered |= now != t->ordered_before;
}

static bool is_withdrawn(void *ctx)
{
    struct dh_agent_trial *t = ctx;
    u64 now = dh_chase_now_us();
    u32 n = 0, sampled = 0;
    t->w->trouble = refusal(t->w);
    if (is_stale(t) || t->w->trouble || t->raced || t->run->trouble || t->run->filtered || now >= t->until_us)
        return true;
    for (u32 i = 0; t->part == DH_AGENT_STEER && i < t->w->target.control->n_sites; i++) {
        bool first = t->w->target.control->sites[i].sides & DH_CONTROL_FIRST;
        n += first;
        sampled += first && t->policy.sites[i].samples;
    }
    if (sampled && !t->reached_us)
        t->reached_us = now;
    if (t->part == DH_AGENT_STEER)
        return sampled && (sampled == n || now - t->reached_us >= SETTLE_US);
    if (t->task.kind == DH_AGENT_INFERENCE)
        return t->met_us && now - t->met_us >= MET_US;
    note_ordered(t);
    return t->ordered && now - t->since_us >= ORDERED_US;
}

static const char *find_unseen(void *ctx)
{
    struct dh_agent_trial *t = ctx;
    return dh_chase_loaded_check(&t->w->build->loaded, &t->w->target);
}

static void ignore_change(void *ctx, u32 site, const struct dh_control_span *span)
{
    (void)ctx;
    (void)site;
    (void)span;
}

/* ---- The budget ---- */

/* How long the program has been running; not at all while it is connecting. */
static u64 run_for(const struct dh_agent_program *w)
{
    return w->start_us ? dh_chase_now_us() - w->start_us : 0;
}

/* Not before there is a task: meanwhile the directory of a new user is created. */
static void take_balance(struct dh_agent_program *w)
{
    if (!w->taken)
        w->balance = dh_agent_balance_take(w->with->balance);
    w->taken = true;
}

static void give_balance(struct dh_agent_program *w)
{
    const u64 now = dh_chase_now_us();
    const double rmax = w->with->settings->rmax, earned = (double)(now - w->start_us) * rmax;
    take_balance(w);
    struct dh_agent_balance left = {
        .left_us = w->balance.left_us + (int64_t)earned - (int64_t)(w->waited_us + w->late_us),
        .run_us = w->balance.run_us + (int64_t)(now - w->told_us),
        .waited_us = w->balance.waited_us + (int64_t)(w->waited_us - w->told_waited_us),
        .ran_us = w->balance.ran_us + (int64_t)(now - w->start_us),
    };
    dh_agent_balance_give(w->with->balance, &left, (u64)(SAVED_US * rmax));
}

/* How long the program has been kept from beginning: that is a wait, too. */
static u64 kept_for(const struct dh_agent_program *w)
{
    const u64 most = w->target.control->begin_us, kept = dh_chase_now_us() - w->hello_us;
    return w->with->socket < 0 ? 0 : kept < most ? kept : most;
}

/* Lets the program start, if it has not: it should not be delayed while the instructions of many accesses are
 * found. */
static void let_begin(struct dh_agent_program *w)
{
    if (w->with->socket < 0)
        return;
    dh_chase_target_let_go(w->with->socket);
    w->waited_us += w->taken ? kept_for(w) : 0;
    close(w->with->socket);
    w->with->socket = -1;
}

/* ---- Parts ---- */

static u64 delay_of(const struct dh_agent_trial *t, enum dh_agent_part part)
{
    if (part == DH_AGENT_STEER)
        return t->task.tau_us;
    return part == DH_AGENT_WATCH && t->task.kind == DH_AGENT_INFERENCE ? GLANCE_US : DELAY_US;
}

/* The smaller the budget, the less time threads have for this process to do its part: a window that it misses
 * is a loss, but one that the budget does not cover is never begun. */
static u64 patience_of(u64 left)
{
    enum { LEAST = DH_CHASE_POLICY_PATIENCE_US / 2, SHARE = 8 };
    u64 patience = left / SHARE > LEAST ? left / SHARE : LEAST;
    return patience < DH_CHASE_POLICY_PATIENCE_US ? patience : DH_CHASE_POLICY_PATIENCE_US;
}

static struct dh_chase_policy policy_of(const struct dh_agent_trial *t, enum dh_agent_part part)
{
    struct dh_chase_policy p = {.rmax = t->w->with->settings->rmax,
                                .delay = delay_of(t, part),
                                .whole = part == DH_AGENT_STEER,
                                .carried = t->w->balance.left_us,
                                .ran = (u64)t->w->balance.ran_us,
                                .reserved = DH_AGENT_BALANCE_RAN_US,
                                .waited = t->w->waited_us,
                                .late = t->w->late_us};
    p.patience = patience_of(dh_chase_policy_left(&p, run_for(t->w), 0));
    return p;
}

/* Delaying the start of the program is only worthwhile if the rest of the budget covers a window. */
static bool can_delay(const struct dh_agent_trial *t, enum dh_agent_part part)
{
    const struct dh_agent_program *w = t->w;
    struct dh_chase_policy p = policy_of(t, part);
    p.waited += START_US + (w->hello_us ? kept_for(w) : 0);
    return dh_chase_policy_budget(&p, 0, run_for(w)) > 0;
}

static void run_part(struct dh_agent_trial *t, enum dh_agent_part part, u64 length_us)
{
    struct dh_agent_program *w = t->w;
    const bool follow = part == DH_AGENT_TRACK && !w->unfollowed, watch = part == DH_AGENT_WATCH;
    t->ordered_before = __atomic_load_n(&w->target.control->ordered, __ATOMIC_RELAXED);
    t->part = part;
    t->since_us = dh_chase_now_us();
    t->until_us = t->since_us + length_us;
    t->policy = policy_of(t, part);
    if (getrandom(&t->policy.random, sizeof(t->policy.random), GRND_NONBLOCK) < 0)
        t->policy.random = t->since_us;
    t->policy.random |= 1;
    struct dh_chase_run run = {.target = &w->target,
                               .policy = &t->policy,
                               .loaded = &w->build->loaded,
                               .sites = watch ? &t->watched.sites : &t->sides.sites,
                               .ended = has_ended,
                               .withdrawn = is_withdrawn,
                               .window = dh_agent_trial_window,
                               .found = dh_agent_trial_race,
                               .unseen = find_unseen,
                               .changed = ignore_change,
                               .ctx = t,
                               .analysis = follow ? DH_CHASE_LITEHB : DH_CHASE_COLLISION,
                               .window_us = WINDOW_US,
                               .any = watch,
                               .linger_us = watch && t->task.kind == DH_AGENT_INFERENCE ? LINGER_US : 0,
                               .known = watch ? dh_agent_trial_known : NULL,
                               .met = watch ? dh_agent_trial_met : NULL,
                               .start_us = w->start_us,
                               .kept_us = w->with->socket >= 0 ? w->hello_us : 0};
    t->run = &run;
    dh_chase_target_forget(&w->target);
    w->target.control->hold_us = part == DH_AGENT_STEER ? HOLD_US : 0;
    int socket = w->with->socket;
    w->with->socket = -1;
    dh_chase_run(&run, socket);
    if (socket >= 0)
        close(socket);
    w->waited_us = t->policy.waited;
    w->late_us = t->policy.late;
    t->tried |= run.armed || run.filtered || (run.trouble && !w->ended) ||
                dh_chase_policy_budget(&t->policy, 0, run_for(w)) > 0;
    t->reached |= run.reached > 0;
    t->held |= part == DH_AGENT_STEER && run.reached > 0;
    note_ordered(t);
    if (run.filtered)
        w->trouble = "the program has restricted its system calls";
    else if (run.deaf)
        w->trouble = run.trouble;
    else if (run.trouble && follow)
        w->unfollowed = true; /* there are other ways */
    else if (run.trouble && watch)
        w->unwatched = true;
    else if (run.trouble && !w->ended)
        w->trouble = run.trouble;
}

/* ---- Results ---- */

/* What happened to the program after the race. Threads that have begun to stand still get the time after
 * which they count as hanging. */
static const char *consequence_of(struct dh_agent_trial *t)
{
    struct dh_agent_program *w = t->w;
    struct dh_chase_progress progress = {.pid = w->with->pid, .tids = {t->tids[0], t->tids[1]}};
    const u64 hang = w->with->settings->hang_us, start = dh_chase_now_us();
    bool hangs = false;
    for (u64 now = start; !has_ended(t) && !stopped && !hangs; now = dh_chase_now_us()) {
        struct pollfd p = {w->pidfd, POLLIN, 0};
        hangs = dh_chase_progress_is_stalled(&progress, now, hang);
        if (now - start >= hang && now - progress.since_us < hang / 4)
            break;
        poll(&p, 1, LOOK_US / 1000);
    }
    if (w->ended && __atomic_load_n(&w->target.control->fatal, __ATOMIC_ACQUIRE))
        return "crash";
    return hangs ? "hang" : "none";
}

static void tell(struct dh_agent_trial *t, struct dh_agent_result r)
{
    struct dh_agent_program *w = t->w;
    u64 now = dh_chase_now_us();
    char id[DH_AGENT_ID + 1];
    dh_agent_draw(id);
    r.id = id;
    r.run = w->run;
    r.task = t->task.number;
    r.waited_us = w->waited_us - w->told_waited_us + (u64)w->balance.waited_us;
    r.run_us = now - w->told_us + (u64)w->balance.run_us;
    char *text = dh_agent_result_text(&r);
    if (dh_agent_spool_add(w->with->spool, id, text) == 0) {
        w->told_us = now;
        w->told_waited_us = w->waited_us;
        w->balance.run_us = w->balance.waited_us = 0;
        if (w->with->poke >= 0 && write(w->with->poke, "", 1) < 0) {
            /* the reader checks by itself now and then */
        }
    }
    free(text);
}

/* Nothing could be tried: that is so for this task in any run of this build. */
static void tell_unseen(struct dh_agent_trial *t)
{
    bool inference = t->task.kind == DH_AGENT_INFERENCE;
    struct dh_agent_result r = {.result = inference ? "inference" : "not-seen",
                                .alternate = t->task.alternate};
    for (int i = 0; i < 2 && !inference; i++)
        r.none[i] = t->sides.none[i];
    tell(t, r);
}

static void tell_validation(struct dh_agent_trial *t)
{
    struct dh_agent_result r = {.alternate = t->task.alternate};
    if (t->raced) {
        r.result = "race";
        r.consequence = consequence_of(t);
        for (int i = 0; i < 2; i++) {
            r.stacks[i] = t->stacks[i];
            r.n_stacks[i] = t->n_stacks[i];
        }
    } else if (t->ordered) {
        r.result = "no-race";
    } else if (t->held && !(t->seen & (DH_CONTROL_SEEN_OTHER | DH_CONTROL_SEEN_SELF))) {
        r.result = "timeout";
    } else {
        r.result = "not-seen";
        r.saw = t->reached ? dh_agent_result_saw(t->seen) : NULL;
    }
    tell(t, r);
}

static void tell_inference(struct dh_agent_trial *t)
{
    struct dh_agent_result r = {
        .result = "inference",
        .alternate = t->task.alternate,
        .met = t->met,
        .n_met = t->n_met,
        .reached = t->reached_sites,
        .n_reached = t->n_reached,
    };
    tell(t, r);
}

/* ---- Tasks ---- */

static const char *find_sides(struct dh_agent_trial *t, bool steering)
{
    /* Steering holds the thread that would come too early; tracking starts from the one that comes first. */
    t->first = t->task.alternate != steering ? 1 : 0;
    return dh_agent_build_sides(t->w->build, &t->arena, &t->task, t->first, t->w->start_us, &t->sides);
}

/* At random, and only if the budget covers tau: otherwise a short program would only wait for that. All sites
 * have the same budget here, since the delay does not grow. */
static bool steers_first(const struct dh_agent_trial *t)
{
    const struct dh_chase_policy p = policy_of(t, DH_AGENT_STEER);
    return dh_chase_policy_budget(&p, 0, run_for(t->w)) > 0 && t->w->run[0] & 1;
}

/* The pair is tracked in half of the runs. In the others a thread waits at either access, and its bytes are
 * watched: that finds fewer races, but where synchronisation is frequent, a budget that is used up by
 * tracking in milliseconds allows for many times that long a wait. */
static enum dh_agent_part other_part(struct dh_agent_trial *t)
{
    if (t->w->unwatched || !(t->w->run[1] & 1))
        return DH_AGENT_TRACK;
    dh_agent_build_watched(&t->arena, &t->sides, &t->watched);
    return DH_AGENT_WATCH;
}

/* False: the budget did not suffice to try anything, so there is no result. The same for an inference. */
static bool validate(struct dh_agent_trial *t)
{
    bool steering = steers_first(t);
    if (!can_delay(t, steering ? DH_AGENT_STEER : DH_AGENT_TRACK))
        let_begin(t->w);
    const u64 bound_us = t->w->with->settings->bound_us;
    if (find_sides(t, steering) != NULL) {
        tell_unseen(t);
        return true;
    }
    run_part(t, steering ? DH_AGENT_STEER : other_part(t),
             steering || bound_us < FOLLOW_US ? bound_us : FOLLOW_US);
    bool goes_on = !t->raced && !t->ordered && !t->w->ended && !is_stale(t) && !t->w->trouble &&
                   (t->reached || !steering);
    if (goes_on && find_sides(t, !steering) == NULL)
        run_part(t, steering ? other_part(t) : DH_AGENT_STEER, steering ? FOLLOW_US : bound_us);
    if (t->tried && (t->raced || !is_stale(t) || t->w->ended))
        tell_validation(t);
    return t->tried;
}

static bool infers_on(struct dh_agent_trial *t, u64 end)
{
    const u64 now = dh_chase_now_us();
    return now < end && !has_ended(t) && !is_stale(t) && !t->w->trouble &&
           !(t->met_us && now - t->met_us >= MET_US);
}

static bool infer(struct dh_agent_trial *t)
{
    let_begin(t->w);
    if (find_sides(t, false) != NULL) {
        tell_unseen(t);
        return true;
    }
    dh_agent_build_watched(&t->arena, &t->sides, &t->watched);
    const u64 end = dh_chase_now_us() + INFER_US;
    bool watch = t->w->run[0] & 1;
    while (infers_on(t, end)) {
        u64 left = end - dh_chase_now_us();
        run_part(t, watch && !t->w->unwatched ? DH_AGENT_WATCH : DH_AGENT_TRACK,
                 t->w->unwatched || left < PART_US ? left : PART_US);
        watch = !watch;
    }
    if (t->tried && (!is_stale(t) || t->w->ended))
        tell_inference(t);
    return t->tried;
}

/* Until the board shows another task, the program has ended, or the time is over. */
static void wait_for_task(struct dh_agent_trial *t, u64 us, bool until_asked)
{
    const u64 until = dh_chase_now_us() + us;
    while (!has_ended(t) && !is_stale(t) && dh_chase_now_us() < until) {
        struct pollfd p = {t->w->pidfd, POLLIN, 0};
        poll(&p, 1, until_asked ? 1 : LOOK_US / 1000);
    }
}

static void serve(struct dh_agent_program *w)
{
    while (!w->ended && !stopped && !w->trouble) {
        bool asked;
        struct dh_agent_trial t = {.w = w};
        t.task = dh_agent_board_read(w->with->board, &t.turn, &asked);
        u64 now = dh_chase_now_us();
        if (!asked && w->with->socket >= 0 && now < w->begin_us) {
            wait_for_task(&t, w->begin_us - now, true);
            w->hello_us = dh_chase_now_us();
            continue;
        }
        if (t.task.kind == DH_AGENT_NOTHING || w->done == t.turn + 1 ||
            dh_agent_build_check(w->build, &t.task) != NULL) {
            let_begin(w);
            wait_for_task(&t, IDLE_US, false);
            continue;
        }
        take_balance(w);
        if ((t.task.kind == DH_AGENT_INFERENCE ? infer : validate)(&t))
            w->done = t.turn + 1;
        free(t.met);
        dh_arena_done(&t.arena);
    }
}

/* ---- Connecting ---- */

/* The running file may be a copy of the one that the agent was given, or that one may have been replaced
 * since. */
static int open_program(struct dh_agent_program *w, struct dh_agent_build *own)
{
    char link[64];
    struct stat runs, known, named;
    const struct dh_agent_build *given = w->with->build;
    const char *why;
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)w->with->pid);
    if (stat(link, &runs) != 0)
        return -errno;
    if (given && stat(given->path, &known) == 0 && known.st_dev == runs.st_dev && known.st_ino == runs.st_ino)
        return 0;
    char *real = realpath(link, NULL);
    bool there =
        real && stat(real, &named) == 0 && named.st_dev == runs.st_dev && named.st_ino == runs.st_ino;
    int rc = dh_agent_build_open(own, there ? real : link, true, &why);
    free(real);
    w->build = own;
    return !rc && given && strcmp(given->id, own->id) != 0 ? -EINVAL : rc;
}

/* The program begins at once if the budget covers nothing; otherwise by itself, at the latest when the budget
 * is used up. */
static void bound_beginning(const struct dh_agent_trial *t)
{
    struct dh_agent_program *w = t->w;
    take_balance(w);
    const struct dh_chase_policy p = policy_of(t, DH_AGENT_TRACK);
    const u64 left = dh_chase_policy_left(&p, 0, 0);
    const bool inference = t->task.kind == DH_AGENT_INFERENCE;
    w->hurry = inference || !(can_delay(t, DH_AGENT_STEER) || can_delay(t, DH_AGENT_TRACK));
    if (left < w->target.control->begin_us)
        w->target.control->begin_us = left ? left : 1;
}

/* Tells the program whether there is anything to try, if that is known in time. If it starts without, its
 * synchronisation is not tracked later either: interception would cost it something all the time. */
static void announce(struct dh_agent_program *w)
{
    u64 now = dh_chase_now_us();
    const u64 until = now + ANNOUNCE_US < w->begin_us ? now + ANNOUNCE_US : w->begin_us;
    bool asked = false;
    struct dh_agent_trial t = {.w = w};
    for (; !asked && now <= until && !w->ended && !stopped; now = dh_chase_now_us()) {
        t.task = dh_agent_board_read(w->with->board, &t.turn, &asked);
        if (!asked)
            wait_for_task(&t, until - now + 1, true);
    }
    w->hurry = asked && t.task.kind == DH_AGENT_NOTHING;
    w->unfollowed = w->hurry || (w->build && w->build->unfollowed);
    if (asked && !w->hurry)
        bound_beginning(&t);
    dh_chase_target_announce(w->with->socket, !w->unfollowed);
}

int dh_agent_work(struct dh_agent_work *with)
{
    struct dh_arena arena = {0};
    struct dh_agent_build own = {0};
    struct dh_agent_program w = {.with = with, .build = with->build};
    const struct sigaction on_stop = {.sa_handler = stop};
    const char *why;
    stopped = 0;
    sigaction(SIGTERM, &on_stop, NULL);
    w.pidfd = (int)syscall(SYS_pidfd_open, with->pid, 0);
    if (w.pidfd < 0)
        return -errno;
    fcntl(w.pidfd, F_SETFD, FD_CLOEXEC);
    int rc = dh_chase_target_init(&w.target, &arena, DELAY_US);
    if (rc)
        goto out;
    w.target.many = true;
    w.target.control->begin_us = with->settings->begin_us + with->settings->begin_us / 4;
    w.target.control->beat_us = dh_chase_now_us();
    w.begin_us = dh_chase_now_us() + with->settings->begin_us;
    w.unwatched = dh_chase_watch_probe() != 0;
    w.target.control->watches = !w.unwatched;
    announce(&w);
    w.start_us = w.told_us = dh_chase_now_us();
    rc = dh_chase_target_meet(&w.target, with->socket, with->pid, &why);
    w.hello_us = dh_chase_now_us();
    if (w.hurry)
        let_begin(&w);
    if (!rc && w.target.direct)
        rc = -ENOTSUP; /* its code would have to stay writable */
    if (!rc)
        rc = open_program(&w, &own);
    if (!rc) {
        w.unfollowed |= w.build->unfollowed || dh_chase_loaded_check(&w.build->loaded, &w.target);
        dh_agent_draw(w.run);
        serve(&w);
        give_balance(&w);
    }
    dh_chase_target_done(&w.target);
out:
    close(w.pidfd);
    if (with->socket >= 0)
        close(with->socket);
    if (w.build == &own)
        dh_agent_build_close(&own);
    dh_arena_done(&arena);
    return rc;
}

/* A connection to the hive that a worker also held open would not be closed when it should. */
static void close_connections(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage at = {0};
        socklen_t n = sizeof(at);
        if (getsockname(fd, (struct sockaddr *)&at, &n) == 0 &&
            (at.ss_family == AF_INET || at.ss_family == AF_INET6))
            close(fd);
    }
}

pid_t dh_agent_work_start(struct dh_agent_work *w, int unused)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        sigset_t none;
        close_connections();
        close(unused);
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* which it takes as a request to stop */
        signal(SIGINT, SIG_IGN);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        _exit(getppid() == parent && dh_agent_work(w) == 0 ? 0 : 1);
    }
    int error = errno;
    close(w->socket);
    errno = error;
    return pid;
}
