/*
 * stress_fork.c - many threads fork while others lock and allocate.
 *
 * Checks: no child hangs, atfork handlers of the program run outside the runtime, children can make threads.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress.h"

enum { FORKERS = 3, FORKS = 40, BUSY = 2 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long shared; /* under m */
static atomic_bool done;

static void lock(void)
{
    pthread_mutex_lock(&m);
    shared++;
}

static void unlock(void)
{
    shared--;
    pthread_mutex_unlock(&m);
}

static void *child_thread(void *arg)
{
    long *p = arg;
    ++*p;
    return NULL;
}

static void child(int how)
{
    long mine = 1;
    pthread_t th;
    lock();
    unlock();
    char *p = malloc(1000);
    CHECK(p != NULL);
    memset(p, 1, 1000);
    free(p);
    CHECK(pthread_create(&th, NULL, child_thread, &mine) == 0);
    CHECK(pthread_join(th, NULL) == 0);
    CHECK(mine == 2);
    _exit(how);
}

static void *fork_often(void *arg)
{
    int base = (int)(size_t)arg;
    for (int i = 0; i < FORKS; i++) {
        int status, how = 1 + (base * 31 + i) % 60;
        pid_t pid = i % 4 == 3 ? vfork() : fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            if (i % 4 == 3)
                _exit(how);
            child(how);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == how);
    }
    return NULL;
}

static void *busy(void *arg)
{
    while (!atomic_load(&done)) {
        lock();
        unlock();
        void *volatile p = malloc(64);
        free(p);
    }
    return arg;
}

int main(void)
{
    pthread_t forkers[FORKERS], others[BUSY];
    alarm(120); /* a hang must end; far above any honest run time */
    CHECK(pthread_atfork(lock, unlock, unlock) == 0);
    for (size_t i = 0; i < BUSY; i++)
        CHECK(pthread_create(&others[i], NULL, busy, NULL) == 0);
    for (size_t i = 0; i < FORKERS; i++)
        CHECK(pthread_create(&forkers[i], NULL, fork_often, (void *)i) == 0);
    for (int i = 0; i < FORKERS; i++)
        CHECK(pthread_join(forkers[i], NULL) == 0);
    atomic_store(&done, true);
    for (int i = 0; i < BUSY; i++)
        CHECK(pthread_join(others[i], NULL) == 0);
    CHECK(shared == 0);
    puts("OK");
    return 0;
}
