/*
 * stress.c - stress LIBRARY PAIR PROGRAM [ARGUMENTS]: arms and clears every instruction of a pair a thousand times a second
 * while the program runs, and every fourth time lets a thread wait, if none does. Threads that meet are let go. The program
 * itself judges whether all of its instructions were executed; the exit status is its own.
 *
 * At the end all code is as it was, or the status is 100; what was done goes to standard error.
 *
 * stress --absent=held|expired|shown LIBRARY PAIR PROGRAM [ARGUMENTS]: sets the breakpoints, attends to the first thread that
 * comes until the window is in that phase, and from then on to nobody. The program must go on by itself; who did is said on
 * standard error.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chase/target.h"

enum { ROUND_US = 500, DELAY_US = 300, BEHIND_US = 20000 };

static struct dh_arena arena;
static struct dh_chase_sites sites;
static struct dh_chase_module module;
static struct dh_chase_target target;

static void die(const char *why)
{
    fprintf(stderr, "stress: %s\n", why);
    exit(99);
}

static void find_sites(const char *pair)
{
    struct dh_chase_position positions[2];
    const char *why;
    if (dh_chase_position_pair(&arena, pair, positions, &why) != 0 ||
        dh_chase_lines_open(&arena, module.path, &module.file, &why) != 0)
        die(why);
    for (int side = 0; side < 2; side++) {
        struct dh_chase_accesses *found = dh_arena_alloc(&arena, sizeof(*found));
        dh_chase_lines_find(module.file, &positions[side], found);
        for (size_t i = 0; i < found->n && sites.n < DH_CONTROL_SITES; i++) {
            bool known = false;
            for (size_t k = 0; k < sites.n; k++)
                known |= sites.at[k].access->address == found->at[i].address;
            if (!known && found->at[i].code.kind == DH_CHASE_CODE_ACCESS)
                sites.at[sites.n++] =
                    (struct dh_chase_site){&found->at[i], &module, DH_CONTROL_FIRST | DH_CONTROL_SECOND, 0};
        }
    }
    if (!sites.n)
        die("the pair names no access");
}

static pid_t start(const char *library, char **argv, int ends[2])
{
    char number[16];
    snprintf(number, sizeof(number), "%d", ends[1]);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        setenv("LD_PRELOAD", library, 1);
        setenv(DH_CONTROL_ENV, number, 1);
        execv(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    return pid;
}

static u64 now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

/* One step of a window, between two changes of the code, which do not wait for it: begins one if none is under way and one
 * is wanted, and lets a thread that waits go on when its time is over or it has met another. */
static void step_window(bool wanted, u64 *waits, u64 *meetings)
{
    u32 seen = dh_chase_target_state(&target);
    switch (seen & DH_CONTROL_PHASE) {
    case DH_CONTROL_OFF:
        if (wanted)
            dh_chase_target_restart(&target, DH_CONTROL_OPEN);
        break;
    case DH_CONTROL_HELD:
        target.control->attended_us = now_us();
        target.control->until_us = target.control->attended_us + DELAY_US;
        dh_chase_target_move(&target, seen, DH_CONTROL_WATCHED);
        break;
    case DH_CONTROL_SHOWN:
        (*meetings)++;
        /* fall through */
    case DH_CONTROL_EXPIRED:
        (*waits)++;
        dh_chase_target_restart(&target, DH_CONTROL_OFF);
        break;
    default:
        break;
    }
}

static u64 arming_us, late_us; /* where the time goes beside the pauses that are meant */

static int arm(const bool wanted[DH_CONTROL_SITES])
{
    u64 before = now_us();
    int rc = dh_chase_target_arm(&target, wanted);
    arming_us += now_us() - before;
    return rc;
}

/* Half a round later than the last time. What a busy machine takes away is made up for by shorter pauses, for a while. */
static void pause_until(u64 *next)
{
    u64 now = now_us();
    *next += ROUND_US;
    if (now > *next + BEHIND_US)
        *next = now - BEHIND_US;
    if (now >= *next)
        return;
    struct timespec t = {(time_t)(*next / 1000000), (long)(*next % 1000000 * 1000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    now = now_us();
    late_us += now > *next ? now - *next : 0;
}

enum { PATIENCE_US = 1000, FOR_EVER_US = 60000000 };

/* Until the program has ended: its status. */
static int be_absent(const char *since, pid_t pid)
{
    int status;
    struct dh_control *c = target.control;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        u32 seen = dh_chase_target_state(&target);
        if ((seen & DH_CONTROL_PHASE) == DH_CONTROL_HELD && strcmp(since, "held") != 0) {
            c->attended_us = now_us();
            c->until_us = c->attended_us + (strcmp(since, "shown") == 0 ? FOR_EVER_US : 0);
            c->patience_us = PATIENCE_US; /* from here on */
            dh_chase_target_move(&target, seen, DH_CONTROL_WATCHED);
        }
        usleep(ROUND_US);
    }
    fprintf(stderr, "stress: the first %s, %s\n", c->left_us > c->first.time_us ? "went on" : "waits",
            !dh_chase_target_gone(&target) ? "nobody was to be shown"
            : dh_chase_target_gone(&target) == (DH_CONTROL_GONE_FIRST | DH_CONTROL_GONE_SECOND) &&
                    c->gone_us > c->second.time_us
                ? "two that were to be shown went on"
                : "one that was to be shown waits");
    return status;
}

int main(int argc, char **argv)
{
    static const bool none[DH_CONTROL_SITES];
    bool all[DH_CONTROL_SITES];
    int ends[2], status = 0;
    const char *why = "", *absent = NULL;
    u64 rounds = 0, waits = 0, meetings = 0;
    if (argc > 1 && strncmp(argv[1], "--absent=", 9) == 0) {
        absent = argv[1] + 9;
        argc--;
        argv++;
    }
    if (argc < 4)
        die("usage: stress LIBRARY PAIR PROGRAM [ARGUMENTS]");
    module.path = realpath(argv[3], NULL);
    if (!module.path)
        die("no such program");
    find_sites(argv[2]);
    memset(all, 1, sizeof(all));
    if (dh_chase_target_init(&target, &arena, DELAY_US) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        die("no memory or socket");
    pid_t pid = start(argv[1], argv + 3, ends);
    if (dh_chase_target_meet(&target, ends[0], pid, &why) != 0 ||
        dh_chase_target_place(&target, &sites, &why) != 0)
        die(why);
    dh_chase_target_arm(&target, all);
    if (absent) {
        /* Until the first has been attended to, however late that is on a busy machine, it has to be there. */
        target.control->patience_us = strcmp(absent, "held") == 0 ? PATIENCE_US : FOR_EVER_US;
        target.control->delay_us = FOR_EVER_US;
        dh_chase_target_restart(&target, DH_CONTROL_OPEN);
    }
    dh_chase_target_let_go(ends[0]);
    if (absent) {
        status = be_absent(absent, pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    u64 began = now_us(), next = began;
    bool ended = false;
    /* On a busy machine a short program might be over before anything is armed again. */
    while (!ended && __atomic_load_n(&target.control->traps, __ATOMIC_RELAXED) == 0) {
        usleep(ROUND_US);
        ended = waitpid(pid, &status, WNOHANG) != 0;
    }
    while (!ended && waitpid(pid, &status, WNOHANG) == 0) {
        bool gone = arm(all) != 0;
        step_window(++rounds % 4 == 0, &waits, &meetings);
        pause_until(&next);
        gone |= arm(none) != 0;
        if (gone && waitpid(pid, &status, WNOHANG) == 0 && kill(pid, 0) == 0 && arm(none) != 0) {
            usleep(100000); /* it may be ending */
            if (waitpid(pid, &status, WNOHANG) == 0)
                exit(100);
            break;
        }
        step_window(false, &waits, &meetings);
        pause_until(&next);
    }
    fprintf(stderr,
            "stress: %zu sites, %" PRIu64 " rounds in %" PRIu64 " ms, %" PRIu64 " waits, %" PRIu64
            " meetings, %" PRIu64 " traps; %" PRIu64 " ms arming, %" PRIu64 " ms late\n",
            sites.n, rounds, (now_us() - began) / 1000, waits, meetings, target.control->traps,
            arming_us / 1000, late_us / 1000);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
