/*
 * stress_exit.c - processes end in every way while their threads run.
 *
 * Checks: the status is the program's own, exit handlers run in order, none hangs.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

enum { ROUNDS = 20, KINDS = 7, THREADS = 3 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n; /* under m */
static sem_t started;
static int order; /* main thread of the child */
static int *exit_result;

/* The threads never end, so waiting for them longer tests nothing more. */
const char *__tsan_default_options(void)
{
    return "atexit_sleep_ms=50";
}

static void *spin(void *arg)
{
    sem_post(&started);
    for (;;) {
        pthread_mutex_lock(&m);
        n++;
        pthread_mutex_unlock(&m);
        void *volatile p = malloc(32);
        free(p);
    }
    return arg;
}

static void first(void)
{
    if (order++ != 1)
        _exit(99);
}

static void last(void)
{
    if (order++ != 0)
        _exit(98);
}

static void *end_it(void *arg)
{
    _exit(*(int *)arg);
}

static void *end_last(void *arg)
{
    (void)arg;
    return NULL; /* the last thread's end is exit(0) */
}

static void child(int kind)
{
    pthread_t th;
    static int eleven = 11;
    alarm(60);
    CHECK(sem_init(&started, 0, 0) == 0);
    for (int i = 0; kind != 5 && i < THREADS; i++)
        CHECK(pthread_create(&th, NULL, spin, NULL) == 0);
    for (int i = 0; kind != 5 && i < THREADS; i++)
        while (sem_wait(&started) != 0)
            ;
    switch (kind) {
    case 0:
        atexit(first);
        atexit(last);
        exit(10);
    case 1:
        _exit(10);
    case 2:
        at_quick_exit(first);
        at_quick_exit(last);
        quick_exit(10);
    case 3:
        CHECK(pthread_create(&th, NULL, end_it, &eleven) == 0);
        pause();
        break;
    case 4:
        abort();
    case 5:
        CHECK(pthread_create(&th, NULL, end_last, NULL) == 0);
        pthread_exit(NULL);
    case 6:
        *(volatile int *)exit_result = 1; /* NULL: a fault */
    }
    _exit(97);
}

int main(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (int i = 0; i < ROUNDS * KINDS; i++) {
        int kind = i % KINDS, status;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            child(kind);
        CHECK(waitpid(pid, &status, 0) == pid);
        static const int wanted[KINDS] = {10, 10, 10, 11, -SIGABRT, 0, -SIGSEGV};
        int got = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        if (got != wanted[kind])
            fprintf(stderr, "kind %d: status %d, wanted %d\n", kind, got, wanted[kind]);
        CHECK(got == wanted[kind]);
    }
    puts("OK");
    return 0;
}
