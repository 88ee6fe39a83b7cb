/*
 * compare_child.c - one process for each detector, so that its time and its peak memory can be measured.
 *
 * The child leads a process group of its own, which is killed as a whole when its time is over: nothing it
 * started must outlive it. Signals that end this process end the group too, and remove the files that would
 * be removed at the end.
 */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/compare.h"

static volatile sig_atomic_t group;   /* of the child; 0: none */
static volatile sig_atomic_t alarmed; /* its time is over */

static const char *const *litter_files; /* up to NULL; set before the first child */
static const char *litter_dir;

void dh_compare_child_litter(const char *const *files, const char *dir)
{
    litter_files = files;
    litter_dir = dir;
}

void dh_compare_child_clean(void)
{
    for (size_t i = 0; litter_dir && litter_files[i]; i++)
        unlink(litter_files[i]);
    if (litter_dir)
        rmdir(litter_dir);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_signal(int number)
{
    if (group)
        kill(-group, SIGKILL);
    if (number == SIGALRM) {
        alarmed = 1;
        return;
    }
    dh_compare_child_clean();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int caught[] = {SIGALRM, SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < DH_ARRAY_LEN(caught); i++) {
        struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigaction(caught[i], &sa, NULL);
    }
}

/* The child's pid, or a negative errno. Returns in the child too, with 0. */
static pid_t start(u64 timeout)
{
    catch_signals();
    alarmed = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        signal(SIGALRM, SIG_DFL);
        setpgid(0, 0);
        return 0;
    }
    setpgid(pid, pid); /* in both processes, whichever is first */
    group = pid;
    alarm((unsigned)timeout);
    return pid;
}

static void finish(pid_t pid, double began, struct dh_compare_child *ret)
{
    struct rusage usage = {0};
    while (wait4(pid, &ret->status, 0, &usage) < 0 && errno == EINTR)
        ;
    alarm(0);
    group = 0;
    ret->seconds = now() - began;
    ret->cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    ret->peak = (u64)usage.ru_maxrss * 1024;
    ret->timed_out = alarmed;
}

int dh_compare_child_run(void (*run)(void *ctx), void *ctx, u64 timeout, struct dh_compare_child *ret)
{
    double began = now();
    pid_t pid = start(timeout);
    if (pid < 0)
        return (int)pid;
    if (pid == 0) {
        run(ctx);
        fflush(NULL);
        _exit(0);
    }
    finish(pid, began, ret);
    return 0;
}

struct json_t *dh_compare_child_read(void (*run)(void *ctx, int fd), void *ctx, u64 timeout,
                                     struct dh_compare_child *ret)
{
    int fds[2];
    *ret = (struct dh_compare_child){.status = 2 << 8};
    if (pipe(fds) != 0)
        return NULL;
    double began = now();
    pid_t pid = start(timeout);
    if (pid == 0) {
        close(fds[0]);
        run(ctx, fds[1]);
        fflush(NULL);
        _exit(0);
    }
    close(fds[1]);
    json_t *root = NULL;
    if (pid > 0) {
        root = json_loadfd(fds[0], 0, NULL);
        finish(pid, began, ret);
    }
    close(fds[0]);
    return root;
}

const char *dh_compare_child_error(struct dh_compare *c, const struct dh_compare_child *child)
{
    if (child->timed_out)
        return dh_arena_printf(&c->arena, "not ended after %llu s", (unsigned long long)c->timeout);
    if (WIFSIGNALED(child->status))
        return dh_arena_printf(&c->arena, "killed by signal %d (%s)", WTERMSIG(child->status),
                               strsignal(WTERMSIG(child->status)));
    return NULL;
}
