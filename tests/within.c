/*
 * within.c - runs a command within a limit that does not depend on how busy the machine is.
 *
 *     within SECONDS COMMAND [ARGUMENT...]
 *
 * A limit on time by the clock fails tests that are merely waiting for a processor. So the limit is on processor
 * time, of the command and of all that it starts: SECONDS for each processor of the machine. A command that waits for
 * itself uses none: it is broken off after SECONDS without any. What does hardly anything, but something, has
 * FACTOR times as long by the clock.
 *
 * The command is started with the default action for every signal, whatever is ignored here (nohup, shells in the
 * background): a shell cannot change that back, and what is tested would inherit it.
 *
 * The exit status is the command's, as a shell has it; 124: it was broken off, and why was said on standard error.
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FACTOR = 20, GRACE = 2, PROCESSES = 4096, BROKEN_OFF = 124, NOT_FOUND = 127 };

static pid_t command;
static sigset_t awaited; /* the end of a child, and what is passed on to the command */

struct process {
    pid_t pid, parent;
    long long ticks; /* processor time, with that of children it has waited for */
    bool ours;
};
static struct process table[PROCESSES];
static size_t count;

/* What /proc/PID/stat says; the name in it may contain anything but ends with the last parenthesis. */
static bool look_at(pid_t pid, struct process *ret)
{
    char path[64], line[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;
    if (f)
        fclose(f);
    line[n] = 0;
    const char *rest = strrchr(line, ')');
    int parent;
    long long user, system, user_of_children, system_of_children;
    if (!rest || sscanf(rest + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld", &parent,
                        &user, &system, &user_of_children, &system_of_children) != 5)
        return false;
    *ret = (struct process){.pid = pid, .parent = parent};
    ret->ticks = user + system + user_of_children + system_of_children;
    return true;
}

/* Those that descend from this one. Orphans of the command's are its own children (see main). */
static void find_ours(void)
{
    DIR *d = opendir("/proc");
    count = 0;
    for (struct dirent *e; d && (e = readdir(d)) != NULL && count < PROCESSES;)
        if (isdigit((unsigned char)e->d_name[0]) && look_at(atoi(e->d_name), &table[count]))
            count++;
    if (d)
        closedir(d);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++) {
            bool child = table[i].parent == getpid();
            for (size_t k = 0; k < count && !child; k++)
                child = table[k].ours && table[k].pid == table[i].parent;
            more |= child && !table[i].ours;
            table[i].ours |= child;
        }
    }
}

/* In seconds, since the command began. */
static double processor_time(void)
{
    struct rusage r;
    getrusage(RUSAGE_CHILDREN, &r);
    double sum = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
                 (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
    find_ours();
    for (size_t i = 0; i < count; i++)
        if (table[i].ours)
            sum += (double)table[i].ticks / (double)sysconf(_SC_CLK_TCK);
    return sum;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Waits up to a second for the command; orphans that end meanwhile are taken in. */
static bool has_ended(int *ret_status)
{
    const double until = now() + 1;
    for (double left = 1; left > 0; left = until - now()) {
        pid_t pid;
        while ((pid = waitpid(-1, ret_status, WNOHANG)) > 0)
            if (pid == command)
                return true;
        const struct timespec rest = {.tv_sec = (time_t)left,
                                      .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        int number = sigtimedwait(&awaited, NULL, &rest);
        if (number > 0 && number != SIGCHLD)
            kill(-command, number);
    }
    return false;
}

static void kill_ours(int number)
{
    find_ours();
    for (size_t i = 0; i < count; i++)
        if (table[i].ours)
            kill(table[i].pid, number);
}

static int break_off(const char *why, double seconds)
{
    int status;
    fprintf(stderr, "within: broken off: %s (%.0f s)\n", why, seconds);
    kill_ours(SIGTERM);
    for (int i = 0; i < GRACE; i++)
        if (has_ended(&status))
            break;
    kill_ours(SIGKILL);
    return BROKEN_OFF;
}

static int watch(double limit)
{
    const double processors = (double)sysconf(_SC_NPROCESSORS_ONLN), began = now();
    double used = 0, changed = began;
    int status;
    while (!has_ended(&status)) {
        double sum = processor_time();
        if (sum < used || sum > used) {
            used = sum;
            changed = now();
        }
        if (used > limit * processors)
            return break_off("it used too much processor time", used);
        if (now() - changed > limit)
            return break_off("it used no processor time for so long", now() - changed);
        if (now() - began > limit * FACTOR)
            return break_off("it went on for too long", now() - began);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    char *end = NULL;
    double limit = argc > 2 ? strtod(argv[1], &end) : 0;
    if (limit <= 0 || *end) {
        fprintf(stderr, "usage: within SECONDS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    const int numbers[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
    sigset_t before;
    sigemptyset(&awaited);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaddset(&awaited, numbers[i]);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    command = fork();
    if (command < 0) {
        perror("within: fork");
        return 2;
    }
    if (command == 0) {
        for (int i = 1; i < NSIG; i++)
            signal(i, SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        setpgid(0, 0); /* a signal for the command is one for all of it */
        execvp(argv[2], argv + 2);
        fprintf(stderr, "within: %s: %s\n", argv[2], strerror(errno));
        _exit(NOT_FOUND);
    }
    setpgid(command, command);
    return watch(limit);
}
