/*
 * measure.c - run one command and write down what it took.
 *
 * usage: measure RESULT COMMAND [ARGUMENT...]
 *
 * RESULT receives one line: wall seconds, processor seconds (user and system), peak resident kilobytes, and
 * the wait status. The peak is that of the largest process of the command's family that was waited for.
 *
 * A separate small program because a process's peak starts from its parent's size at the moment of exec:
 * started from an interpreter, every small program would seem as large as the interpreter. SIGTERM and SIGINT
 * are passed on to the command, which dies with this process in any case.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void pass_on(int sig)
{
    if (child > 0)
        kill(child, sig);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status;

    if (argc < 3) {
        fprintf(stderr, "usage: measure RESULT COMMAND [ARGUMENT...]\n");
        return 2;
    }
    /* Caught only once there is somebody to pass it to: a signal before that must not be lost. */
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    sigprocmask(SIG_BLOCK, &both, &before);

    double start = now();
    pid_t pid = fork();
    if (pid < 0) {
        perror("measure: fork");
        return 2;
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[2], argv + 2);
        fprintf(stderr, "measure: %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    child = pid;
    struct sigaction action = {.sa_handler = pass_on};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);

    while (wait4(pid, &status, 0, &used) < 0)
        if (errno != EINTR) {
            perror("measure: wait4");
            return 2;
        }
    double wall = now() - start;

    FILE *f = fopen(argv[1], "w");
    if (!f ||
        fprintf(f, "%.6f %.6f %ld %d\n", wall, seconds(used.ru_utime) + seconds(used.ru_stime),
                used.ru_maxrss, status) < 0 ||
        fclose(f) != 0) {
        perror(argv[1]);
        return 2;
    }
    return 0;
}
