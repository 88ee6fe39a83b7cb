/*
 * caper_run.c - one run of a Caper build: the queries to enable go into the run file, the program runs, and
 * its answers go into the state.
 *
 * The state is locked before and after the run, not while the program runs: any number of runs may be in
 * progress at once, and each merges into the state as it is by then.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/caper.h"
#include "cli/cmd.h"
#include "util/path.h"

/* ---- Into the state ---- */

/* Were no queries enabled in the run? */
static bool is_silent(const struct dh_cli_caper *c, const struct dh_caper_run *run)
{
    return c->ask == DH_CAPER_ASK_NONE || !run->started || run->trouble & DH_CAPER_NO_PATCH;
}

static void add_record(struct dh_cli_caper *c, const struct dh_caper_runfile *r, const char *end,
                       u64 new_sites)
{
    struct dh_caper_state *s = &c->state;
    const struct dh_caper_merged *last = s->n_merged ? &s->merged[s->n_merged - 1] : NULL;
    bool same = last && strcmp(last->build_id, s->build_id) == 0 && last->escaped == c->sets.n_escaped &&
                (!c->alias || last->dp == c->sets.n_seen);
    if (same) { /* nothing has changed, so nothing need be counted */
        c->count = (struct dh_caper_count){last->sp, last->dp};
        c->counted = true;
    } else {
        c->counted = false;
        dh_cli_caper_count(c);
    }
    const struct dh_caper_merged m = {.time = time(NULL),
                                      .runs = 1,
                                      .new_sites = new_sites,
                                      .escaped = c->sets.n_escaped,
                                      .sp = c->count.sp,
                                      .dp = c->count.dp,
                                      .end = end,
                                      .build_id = s->build_id,
                                      .silent = is_silent(c, r->run),
                                      .file = dh_path_base(r->path)};
    dh_caper_state_add_merged(s, &m);
}

/* A run that was left behind: merges it, and records it as a run once. */
static void merge_left(struct dh_cli_caper *c, struct dh_caper_runfile *r)
{
    u64 n = dh_caper_runfile_merge(r, &c->build, &c->sets, &c->state);
    bool known = dh_caper_state_has_run(&c->state, dh_path_base(r->path));
    c->left += n;
    if (n || (!known && !r->in_use))
        add_record(c, r, r->in_use ? "running" : "unknown", n);
}

/* Merges run files that no command waits for. Returns the paths of those that can be removed once the state
 * is written. */
static size_t merge_all_left(struct dh_cli_caper *c, const char ***ret_done)
{
    const char **all;
    size_t n = dh_caper_runfile_list(&c->state, &all), done = 0;
    for (size_t i = 0; i < n; i++) {
        struct dh_caper_runfile r;
        if (!dh_caper_runfile_open(all[i], &r))
            continue;
        bool read = dh_caper_runfile_read(&r), ours = read && dh_caper_runfile_fits(&r, &c->build);
        if (ours)
            merge_left(c, &r);
        else if (read && !r.in_use)
            dh_cli_warn(c->command, "'%s' is of a run of another build, and is dropped", r.path);
        if (!r.in_use)
            all[done++] = r.path;
        dh_caper_runfile_close(&r);
    }
    *ret_done = all;
    return done;
}

static int lock(struct dh_cli_caper *c, int *ret)
{
    const char *why;
    if (dh_caper_state_lock(&c->state, ret, &why) != 0)
        return dh_cli_fail(c->command, "cannot lock the state '%s': %s", c->state_name, why);
    return 0;
}

static int begin(struct dh_cli_caper *c)
{
    const char *why, **done;
    u32 asked;
    int rc = dh_cli_caper_load(c);
    if (rc)
        return rc;
    size_t n = merge_all_left(c, &done);
    if (dh_caper_state_write(&c->state, &why) != 0)
        return dh_cli_fail(c->command, "cannot write the state '%s': %s", c->state_name, why);
    for (size_t i = 0; i < n; i++)
        unlink(done[i]);
    if (dh_caper_runfile_new(&c->state, &c->build, &c->sets, c->ask, &c->run, &asked, &why) != 0)
        return dh_cli_fail(c->command, "cannot make a file for the run beside '%s': %s", c->state_name, why);
    return 0;
}

int dh_cli_caper_begin(struct dh_cli_caper *c)
{
    int fd, rc = lock(c, &fd);
    if (rc)
        return rc;
    rc = begin(c);
    close(fd);
    return rc;
}

/* ---- The program ---- */

struct start {
    char **argv;
    const char *command, *run, *variable;
    int failed; /* written to if it cannot be run; closed when it is */
};

/* The program is in production: it survives if the command is killed. */
static void become(void *ctx)
{
    const struct start *with = ctx;
    if (setenv(with->variable, with->run, 1) != 0)
        dh_util_no_memory();
    execvp(with->argv[0], with->argv);
    int status = errno == ENOENT ? 127 : 126;
    dh_cli_fail(with->command, "cannot run '%s': %s", with->argv[0], strerror(errno));
    ssize_t rc = write(with->failed, "", 1);
    (void)rc; /* then it is taken for a short run */
    _exit(status);
}

static u64 now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

/* Waits for its end, up to this time. */
static bool ends_until(pid_t pid, int pidfd, u64 until, int *ret_status)
{
    for (u64 now = now_us(); now < until; now = now_us()) {
        struct pollfd p = {.fd = pidfd, .events = POLLIN};
        u64 ms = (until - now) / 1000 + 1;
        poll(&p, 1, ms < 1000 ? (int)ms : 1000);
        if (dh_cli_child_ended(pid, ret_status))
            return true;
    }
    return false;
}

/* Returns its wait status. When the time is over the program is asked to end, and killed a while later. */
static int wait_for(struct dh_cli_caper *c, pid_t pid)
{
    int status, pidfd = c->deadline_us ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (pidfd < 0)
        return dh_cli_child_wait(pid);
    bool ended = ends_until(pid, pidfd, c->deadline_us, &status);
    if (!ended) {
        c->broken_off = true;
        kill(pid, SIGTERM);
        ended = ends_until(pid, pidfd, now_us() + c->grace_us, &status);
    }
    close(pidfd);
    if (ended)
        return status;
    kill(pid, SIGKILL);
    return dh_cli_child_wait(pid);
}

static void drop_run(struct dh_cli_caper *c)
{
    unlink(c->run.path);
    dh_caper_runfile_close(&c->run);
}

int dh_cli_caper_run(struct dh_cli_caper *c, char **argv)
{
    int ends[2], status;
    char failed;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        drop_run(c);
        return -dh_cli_fail(c->command, "cannot run '%s': %s", argv[0], strerror(errno));
    }
    struct start with = {argv, c->command, c->run.path, c->alias ? DH_ALIAS_RUN : DH_CAPER_RUN, ends[1]};
    pid_t pid = dh_cli_child_start(become, &with);
    close(ends[1]);
    bool ran = pid > 0 && read(ends[0], &failed, 1) == 0;
    close(ends[0]);
    if (pid < 0)
        dh_cli_fail(c->command, "cannot run '%s': %s", argv[0], strerror(-pid));
    status = pid > 0 ? wait_for(c, pid) : 126 << 8;
    if (ran)
        return status;
    drop_run(c);
    return -dh_cli_child_status(status);
}

/* ---- The end ---- */

static void say_trouble(const struct dh_cli_caper *c, const struct dh_caper_run *run)
{
    if (!run->started)
        dh_cli_warn(c->command, "no process of build %.12s has begun, so this run says nothing",
                    c->build.id_text);
    if (run->trouble & DH_CAPER_NO_SHADOW)
        dh_cli_warn(c->command,
                    "the program found no room for its shadow memory (is the address space limited?), so all "
                    "memory counted as escaped");
    if (run->trouble & DH_CAPER_COROUTINES)
        dh_cli_warn(
            c->command,
            "the program makes coroutines (makecontext), which may go from one thread to another, so all "
            "memory counted as escaped from then on");
    if (run->trouble & DH_CAPER_FULL)
        dh_cli_warn(
            c->command,
            "there was not enough memory, or room on the disk, for all that the program did, so pairs "
            "may be missing");
    if (run->trouble & DH_CAPER_NO_PATCH)
        dh_cli_warn(
            c->command,
            "the program was not allowed to change its own code, so nothing was checked, and this run "
            "says nothing");
    if (run->trouble & DH_CAPER_OTHER_BUILD)
        dh_cli_warn(c->command,
                    "a process of another Caper build was started, too; it was not watched, since this state "
                    "is of build %.12s",
                    c->build.id_text);
}

static int finish(struct dh_cli_caper *c, const char *ended)
{
    const char *why;
    bool kept = c->migrate;
    c->migrate = false; /* that is done: a state of another build by now was migrated meanwhile */
    int rc = dh_cli_caper_load(c);
    c->migrate = kept;
    if (rc)
        return rc;
    if (!dh_caper_runfile_read(&c->run) || !dh_caper_runfile_fits(&c->run, &c->build))
        return dh_cli_fail(c->command, "'%s' was damaged while the program ran, so this run is lost",
                           c->run.path);
    c->new_sites = dh_caper_runfile_merge(&c->run, &c->build, &c->sets, &c->state);
    add_record(c, &c->run, ended, c->new_sites);
    if (dh_caper_state_write(&c->state, &why) != 0)
        return dh_cli_fail(
            c->command, "cannot write the state '%s': %s; what this run has found stays in '%s' for the next",
            c->state_name, why, c->run.path);
    say_trouble(c, c->run.run);
    if (!c->run.in_use)
        unlink(c->run.path);
    return 0;
}

int dh_cli_caper_end(struct dh_cli_caper *c, int status)
{
    const char *ended = c->broken_off         ? "broken off"
                        : WIFSIGNALED(status) ? dh_arena_printf(&c->arena, "signal %d", WTERMSIG(status))
                                              : dh_arena_printf(&c->arena, "exit %d", WEXITSTATUS(status));
    int fd, rc = lock(c, &fd);
    if (rc)
        return rc;
    rc = finish(c, ended);
    close(fd);
    dh_caper_runfile_close(&c->run);
    return rc;
}
