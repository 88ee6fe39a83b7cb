/*
 * chase_run.c - one run of a program with a pair to confirm: starts it with the library preloaded, connects
 * to it, chases, and turns what was seen into race records.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chase/progress.h"
#include "cli/chase.h"
#include "cli/cmd.h"
#include "util/path.h"

/* HOLD_US: in a steered run, how long, at most, the access that should be second waits for the other to be
 * made. */
enum { ID_DIGITS = 32, T_MIN_US = 1000000, HOLD_US = 200000, LOOK_US = 100000 };
/* In an inference run: how long the bytes of a wait are watched after it. */
enum { LINGER_US = 20000, LEAST_LINGER_US = 2000 };

/* ---- Records ---- */

struct records {
    struct dh_reporter *reporter;
    int output;      /* -1: none */
    bool *unwritten; /* set when a record does not get into the output; said once */
    FILE *copy;      /* NULL: none */
    u64 number;
    bool reported;
    char process[ID_DIGITS + 1];
    pid_t pid;
};

static void take_line(void *ctx, const char *text, size_t len)
{
    struct records *r = ctx;
    r->reported |= dh_reporter_take(r->reporter, text, len, ++r->number);
    if (r->copy)
        fprintf(r->copy, "%.*s\n", (int)len, text);
    if (r->output < 0)
        return;
    /* One write per line: others may append to the same file. */
    char *line = dh_util_alloc(len + 1);
    memcpy(line, text, len);
    line[len] = '\n';
    errno = ENOSPC; /* what a short write means */
    if (write(r->output, line, len + 1) != (ssize_t)len + 1 && !*r->unwritten) {
        dh_cli_fail("chase", "cannot write the records: %s", strerror(errno));
        *r->unwritten = true;
    }
    free(line);
}

static void tell(struct records *r, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    if (!text)
        dh_util_no_memory();
    take_line(r, text, strlen(text));
    free(text);
    json_decref(line);
}

static void begin_records(struct records *r, struct dh_chase_request *q, pid_t pid)
{
    u64 id[2] = {(u64)pid, q->seed};
    if (getrandom(id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
        id[1] ^= dh_hash64((u64)getpid() << 32 | r->number);
    snprintf(r->process, sizeof(r->process), "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
    r->pid = pid;
    char *cwd = getcwd(NULL, 0);
    tell(r, json_pack("{s:i, s:s, s:s, s:i, s:s, s:s, s:s, s:s}", "v", 2, "type", "process", "process",
                      r->process, "pid", (int)pid, "exe", q->modules[0].path, "detector",
                      dh_chase_track_name(q) ? dh_chase_track_name(q) : "racechaser", "guarantee", "precise",
                      "cwd", cwd ? cwd : ""));
    free(cwd);
}

static void end_records(struct records *r, int races)
{
    tell(r, json_pack("{s:i, s:s, s:s, s:i, s:i}", "v", 2, "type", "end", "process", r->process, "pid",
                      (int)r->pid, "races", races));
}

/* ---- Starting ---- */

struct start {
    char **argv;
    pid_t parent;
    int socket;          /* the program's end; not close-on-exec */
    const char *library; /* NULL: it is linked into the program */
    bool follows;
};

static void preload(const char *library)
{
    const char *own = getenv("LD_PRELOAD");
    size_t n = strlen(library) + (own ? strlen(own) : 0) + 2;
    char *list = malloc(n);
    if (!list)
        return;
    snprintf(list, n, "%s%s%s", library, own && *own ? ":" : "", own ? own : "");
    setenv("LD_PRELOAD", list, 1);
}

static void become(void *ctx)
{
    const struct start *with = ctx;
    char number[16];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* killing this command by SIGKILL must kill the program */
    if (getppid() != with->parent)
        raise(SIGKILL);
    snprintf(number, sizeof(number), "%d%c", with->socket, with->follows ? DH_CONTROL_FOLLOWS : 0);
    if (with->library)
        preload(with->library);
    setenv(DH_CONTROL_ENV, number, 1);
    fcntl(with->socket, F_SETFD, 0);
    execvp(with->argv[0], with->argv);
    int status = errno == ENOENT ? 127 : 126;
    dh_cli_fail("chase", "cannot run '%s': %s", with->argv[0], strerror(errno));
    _exit(status);
}

/* What to preload: nothing for a field build. False after a message. */
static bool find_library(struct dh_chase_request *q, const char **ret)
{
    if (dh_chase_lines_is_field(q->modules[0].file)) {
        *ret = NULL;
        return true;
    }
    const char *self = dh_path_self(&q->arena);
    const char *path = self ? dh_path_join(&q->arena, self, "../../lib/deadheat/libdeadheat-field.so") : "";
    if (access(path, R_OK) != 0) {
        dh_cli_fail("chase", "deadheat's library '%s' is missing", path);
        return false;
    }
    *ret = path;
    return true;
}

static void notice_child(int number)
{
    (void)number; /* it only interrupts a wait */
}

/* ---- The trial ---- */

struct watching {
    pid_t pid;
    int status;
    bool ended;
    struct dh_chase_target *target;
    struct dh_chase_stream stream;
    bool told[DH_CONTROL_SITES]; /* the change of the bytes there has been reported */
    bool steered, again;
    struct dh_chase_moment *kept; /* of a steered run: reported when its consequence is known */
    struct dh_chase_progress progress;
    u64 hang_us;
    u64 deadline_us; /* 0: none */
    bool broken_off;
    u64 look_again; /* not before this time */
    bool hung;
    struct dh_chase_request *q;
};

/* Looks the race up in the program's table. */
static void look_up(struct watching *w, struct dh_chase_moment *moment)
{
    struct dh_chase_place places[2];
    if (dh_chase_moment_places(moment, w->q->modules, w->q->n_modules, places))
        dh_chase_is_missed(w->q, places);
}

/* Reports what happened to the program after the accesses were made in the requested order. */
static void tell_consequence(struct watching *w, const char *consequence, const char *detail)
{
    struct dh_chase_stream *s = &w->stream;
    if (__atomic_load_n(&w->target->control->waived, __ATOMIC_ACQUIRE))
        s->order = NULL;
    s->consequence = consequence;
    s->detail = detail;
    if (dh_chase_moment_tell(w->kept, s))
        look_up(w, w->kept);
    dh_chase_moment_free(w->kept);
    w->kept = NULL;
}

/* Have the two threads of the race stopped making progress; or, if they have not met, all threads? A program
 * that only waits for something to do looks the same. So it is left alone, unless it is to be run again. */
static void look_for_hang(struct watching *w)
{
    char detail[64];
    u64 now = dh_chase_now_us();
    if (!w->steered || w->hung || (!w->kept && !w->again) || now < w->look_again)
        return;
    w->look_again = now + LOOK_US;
    if (!dh_chase_progress_is_stalled(&w->progress, now, w->hang_us))
        return;
    w->hung = true;
    snprintf(detail, sizeof(detail), "no progress for %.3g s", (double)w->hang_us / 1e6);
    fprintf(stderr, "deadheat chase: %s made %s%s\n",
            w->kept ? "in this order the program hangs: the two threads have"
                    : "the program hangs: its threads have",
            detail, w->again ? "; it is killed" : "");
    if (w->kept)
        tell_consequence(w, "hang", detail);
    if (w->again)
        kill(w->pid, SIGKILL);
}

static bool has_ended(void *ctx)
{
    struct watching *w = ctx;
    w->ended = w->ended || dh_cli_child_ended(w->pid, &w->status);
    if (!w->ended && w->deadline_us && dh_chase_now_us() >= w->deadline_us) {
        w->broken_off = true;
        kill(w->pid, SIGKILL);
    }
    if (!w->ended)
        look_for_hang(w);
    dh_chase_live_tick(w->q->live);
    return w->ended;
}

static bool tell_race(void *ctx, struct dh_chase_moment *moment)
{
    struct watching *w = ctx;
    if (w->steered) {
        const struct dh_control *c = w->target->control;
        w->kept = moment;
        w->progress = (struct dh_chase_progress){.pid = w->pid, .tids = {c->first.tid, c->second.tid}};
        return true;
    }
    bool is_race = dh_chase_moment_tell(moment, &w->stream);
    if (is_race)
        look_up(w, moment);
    dh_chase_moment_free(moment);
    return is_race;
}

static const char *find_unseen(void *ctx)
{
    struct watching *w = ctx;
    return dh_chase_loaded_check(&w->q->loaded, w->target);
}

/* An atomic object may well have been changed by an atomic access. */
static bool is_atomic(const struct watching *w, const struct dh_chase_site *site,
                      const struct dh_control_span *span)
{
    u64 bias;
    return site->access->code.atomic ||
           (dh_chase_target_bias(w->target, site->module, &bias) == 0 &&
            dh_chase_lines_is_atomic(site->module->file, span->address - bias, span->size));
}

static void tell_change(void *ctx, u32 site, const struct dh_control_span *span)
{
    struct watching *w = ctx;
    const struct dh_chase_access *a = w->target->sites[site]->access;
    if (!w->told[site] && !is_atomic(w, w->target->sites[site], span))
        dh_cli_warn("chase",
                    "the memory that %s:%d:%d was about to access changed while a thread waited there, but "
                    "no thread was "
                    "seen writing: a race of unknown origin",
                    a->file, a->line, a->column);
    w->told[site] = true;
}

static size_t known(void *ctx, u32 site, bool at_once, u64 *ret_pcs, size_t n)
{
    const struct watching *w = ctx;
    return dh_chase_infer_known(w->q->inference, site, at_once, ret_pcs, n);
}

static void take_meeting(void *ctx, u32 site, u64 pc, struct dh_chase_moment *moment, bool at_once)
{
    struct watching *w = ctx;
    dh_chase_infer_met(w->q->inference, site, pc, moment, at_once);
}

/* A program may handle SIGHUP and SIGQUIT and work on. */
static bool was_ended_by_user(int status)
{
    const int sent = dh_cli_child_end_signal(), number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return number == SIGINT || (sent && number == sent) || (!number && (sent == SIGINT || sent == SIGTERM));
}

/* Reports how it ended, if that was not known before. */
static void tell_end(struct watching *w)
{
    int number = WIFSIGNALED(w->status) ? WTERMSIG(w->status) : 0, exit = number ? 0 : WEXITSTATUS(w->status);
    u32 fatal = __atomic_load_n(&w->target->control->fatal, __ATOMIC_ACQUIRE);
    int handled = exit ? (int)(fatal & DH_CONTROL_FATAL) : 0; /* it may well end by its own handler */
    if (!w->kept)
        return;
    if (was_ended_by_user(w->status)) {
        tell_consequence(w, "interrupted", "by the user");
    } else if (number) {
        tell_consequence(w, "crash", sigdescr_np(number));
        fprintf(stderr, "deadheat chase: in this order the program was killed by SIG%s\n",
                sigabbrev_np(number));
    } else if (handled) {
        tell_consequence(w, "crash", sigdescr_np(handled));
        fprintf(stderr, "deadheat chase: in this order the program ended in its handler of SIG%s\n",
                sigabbrev_np(handled));
    } else {
        tell_consequence(w, exit ? "failure" : "none", NULL);
    }
}

static void say_what_hindered(const struct dh_chase_run *run, struct dh_chase_trial *ret)
{
    if (run->trouble)
        dh_cli_warn("chase", "given up: %s", run->trouble);
    else if (run->filtered)
        dh_cli_warn(
            "chase",
            "given up: the program has restricted its system calls (seccomp), and might be killed for those "
            "of a breakpoint");
    else if (!run->placed)
        dh_cli_warn("chase", "the program has never loaded the module of the pair");
    else if (run->traced)
        dh_cli_warn("chase", "no breakpoint was set while a debugger was attached to the program");
    else if (run->direct)
        dh_cli_warn("chase",
                    "code cannot be written through /proc/self/mem here, so the program has made its own "
                    "writable (mprotect) for this run");
    ret->blind = run->trouble || run->filtered || !run->placed;
    ret->deaf = run->deaf;
}

static void say_excess(const struct dh_chase_policy *p, u64 total_us)
{
    const u64 excess = dh_chase_policy_excess(p, total_us);
    if (excess)
        dh_cli_warn("chase",
                    "the budget was exceeded: %.1f ms of the program's time were spent, %.1f ms more than "
                    "--rmax allows",
                    (double)p->waited / 1e3, (double)excess / 1e3);
}

/* While the budget does not allow another wait, there is nothing better to do than watching; otherwise
 * watching takes time from waits, and only a wait can show a race. */
static u64 linger_of(const struct dh_chase_request *q)
{
    double pause = q->rmax > 0 ? (double)q->delay_us * (1 / q->rmax - 1) : LINGER_US;
    return pause < LEAST_LINGER_US ? LEAST_LINGER_US : pause < LINGER_US ? (u64)pause : LINGER_US;
}

/* A watchpoint reports an access after it was made, while the other is still to come. */
static const char *order_of(const struct dh_chase_request *q)
{
    return q->steer == DH_CHASE_ALTERNATE || (q->any && !q->unwatched) ? "reversed" : "shown";
}

static void chase(struct dh_chase_request *q, struct dh_chase_target *target, int socket, struct watching *w,
                  struct records *records, struct dh_chase_trial *ret)
{
    bool steered = q->steer != DH_CHASE_FREE;
    struct dh_chase_policy policy = {.rmax = q->rmax,
                                     .delay = steered ? q->tau_us : q->delay_us,
                                     .whole = steered,
                                     .longest = q->longest_us,
                                     .fair = q->inference,
                                     .patience = DH_CHASE_POLICY_PATIENCE_US,
                                     .min = T_MIN_US,
                                     .random = q->seed};
    if (!policy.random && getrandom(&policy.random, sizeof(policy.random), GRND_NONBLOCK) < 0)
        policy.random = (u64)w->pid;
    policy.random |= 1;
    struct dh_chase_draw draw = {.pools = q->pools,
                                 .n_pools = q->n_modules,
                                 .random = dh_hash64(q->seed ? q->seed : policy.random),
                                 .turns = q->inference ? &q->inference->turns : NULL};
    struct dh_chase_run run = {.target = target,
                               .policy = &policy,
                               .loaded = &q->loaded,
                               .sites = &q->sites,
                               .draw = q->drawn && !q->unwatched ? &draw : NULL,
                               .ended = has_ended,
                               .found = tell_race,
                               .unseen = find_unseen,
                               .changed = tell_change,
                               .ctx = w,
                               .swapped = q->steer == DH_CHASE_PRIMARY,
                               .analysis = q->analysis,
                               .window_us = q->window_us,
                               .any = q->any,
                               .unwatched = q->unwatched};
    if (q->inference) {
        run.linger_us = q->unwatched ? 0 : linger_of(q);
        run.linger_early_us = LINGER_US;
        run.known = known;
        run.met = take_meeting;
    }
    w->q = q;
    w->target = target;
    w->steered = steered;
    w->again = q->again;
    w->hang_us = q->hang_us;
    w->deadline_us = q->deadline_us;
    w->progress.pid = w->pid;
    w->stream = (struct dh_chase_stream){.process = records->process,
                                         .line = take_line,
                                         .ctx = records,
                                         .order = order_of(q),
                                         .analysis = dh_chase_track_name(q)};
    target->control->hold_us = steered ? HOLD_US : 0;
    dh_chase_run(&run, socket);
    tell_end(w);
    end_records(records, w->stream.races);
    say_what_hindered(&run, ret);
    say_excess(&policy, run.total_us);
    ret->broken_off = w->broken_off;
    ret->reached = run.reached;
    ret->drawn = q->drawn ? target->control->n_sites : 0;
    ret->timeout = steered && run.reached && !run.confirmed;
    ret->waited_us = policy.waited;
    ret->late_us = policy.late;
    ret->total_us = run.total_us;
    ret->traps = target->control->traps;
    ret->harmless = target->control->harmless;
    ret->ordered = target->control->ordered;
}

/* Processor time of the programs that have ended. */
static u64 children_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (u64)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
           (u64)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

struct dh_chase_trial dh_chase_try(struct dh_chase_request *q, struct dh_reporter *reporter, int output)
{
    struct dh_chase_trial trial = {0};
    struct dh_chase_target target;
    struct records records = {
        .reporter = reporter, .output = output, .unwritten = &q->unwritten, .copy = q->copy};
    const struct sigaction notice = {.sa_handler = notice_child};
    const u64 before = children_us();
    int ends[2];
    struct start with = {q->argv, getpid(), -1, NULL, q->analysis != DH_CHASE_COLLISION};
    if (!find_library(q, &with.library) || dh_chase_track_add(q) != 0)
        return trial;
    int rc = dh_chase_target_init(&target, &q->arena, q->delay_us);
    if (rc) {
        dh_cli_fail("chase", "cannot make memory to share with the program: %s", strerror(-rc));
        return trial;
    }
    target.control->full = q->analysis == DH_CHASE_FULLHB;
    target.control->watches = q->any && !q->unwatched;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        dh_cli_fail("chase", "cannot make a socket: %s", strerror(errno));
        goto out;
    }
    sigaction(SIGCHLD, &notice, NULL);
    with.socket = ends[1];
    struct watching w = {.pid = dh_cli_child_start(become, &with)};
    close(ends[1]);
    if (w.pid > 0) {
        const char *why = NULL;
        trial.ran = true;
        rc = dh_chase_target_meet(&target, ends[0], w.pid, &why);
        if (rc == 0 && !dh_chase_track_check(q, &target)) {
            trial.ran = false;
            kill(w.pid, SIGKILL); /* it has not started */
        } else if (rc == 0) {
            begin_records(&records, q, w.pid);
            chase(q, &target, ends[0], &w, &records, &trial);
        }
        close(ends[0]); /* a library that waits becomes dormant */
        trial.status = w.ended ? w.status : dh_cli_child_wait(w.pid);
        if (rc) {
            trial.blind = true;
            if (!WIFEXITED(trial.status) || WEXITSTATUS(trial.status) < 126)
                dh_cli_warn("chase", "%s", why);
        }
    } else {
        close(ends[0]);
        dh_cli_fail("chase", "cannot start a process: %s", strerror(-w.pid));
    }
    trial.confirmed = records.reported;
    trial.cpu_us = children_us() - before;
out:
    dh_chase_target_done(&target);
    return trial;
}

bool dh_chase_was_interrupted(const struct dh_chase_trial *t)
{
    const int sent = dh_cli_child_end_signal();
    return t->ran && (sent == SIGINT || sent == SIGTERM || was_ended_by_user(t->status));
}
