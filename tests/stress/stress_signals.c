/*
 * stress_signals.c - timers and queued signals hit threads that lock, allocate and wait.
 *
 * Checks: no deadlock, no lost queued signal, the right siginfo and mask in every handler, counters exact.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "stress.h"

enum { WORKERS = 3, ROUNDS = 60000, QUEUED = 10000, LOCKS = 4 };

static pthread_mutex_t locks[LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                       PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long counters[LOCKS];
static sem_t posted;
static atomic_long alarms, queued_sum, queued_count, users;
static atomic_int bad, sent;

static void on_alarm(int sig)
{
    sigset_t now;
    if (pthread_sigmask(SIG_BLOCK, NULL, &now) != 0 || sigismember(&now, sig) != 1 ||
        sigismember(&now, SIGUSR2) != 1)
        atomic_fetch_add(&bad, 1);
    atomic_fetch_add(&alarms, 1);
    sem_post(&posted);
}

static void on_queued(int sig, siginfo_t *info, void *context)
{
    if (sig != SIGRTMIN || info->si_signo != sig || info->si_code != SI_QUEUE || info->si_pid != getpid() ||
        context == NULL)
        atomic_fetch_add(&bad, 1);
    atomic_fetch_add(&queued_sum, info->si_value.sival_int);
    atomic_fetch_add(&queued_count, 1);
}

static void on_user(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (sig != SIGUSR1 || info->si_pid != getpid())
        atomic_fetch_add(&bad, 1);
    atomic_fetch_add(&users, 1);
}

static void *work(void *arg)
{
    unsigned seed = (unsigned)(size_t)arg;
    long rounds = 0;
    for (; rounds < ROUNDS || !atomic_load(&sent); rounds++) {
        seed = seed * 1103515245u + 12345u;
        unsigned k = (seed >> 16) % LOCKS;
        errno = 77;
        pthread_mutex_lock(&locks[k]);
        counters[k]++;
        pthread_mutex_unlock(&locks[k]);
        CHECK(errno == 77);
        void *p = malloc(16 + seed % 500);
        CHECK(p != NULL);
        memset(p, (int)k, 16);
        free(p);
        while (sem_trywait(&posted) == 0)
            ;
    }
    return (void *)rounds;
}

static void *send(void *arg)
{
    pthread_t *workers = arg;
    sigset_t one;
    sigemptyset(&one); /* the sender does not run the handler itself: a full queue would never drain */
    sigaddset(&one, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    for (int i = 1; i <= QUEUED; i++) {
        while (sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i}) != 0)
            CHECK(errno == EAGAIN);
        pthread_kill(workers[i % WORKERS], SIGUSR1);
    }
    atomic_store(&sent, 1);
    return NULL;
}

static void install(int sig, void (*plain)(int), void (*full)(int, siginfo_t *, void *))
{
    struct sigaction act = {0}, old;
    sigemptyset(&act.sa_mask);
    if (plain) {
        sigaddset(&act.sa_mask, SIGUSR2);
        act.sa_handler = plain;
    } else {
        act.sa_sigaction = full;
        act.sa_flags = SA_SIGINFO;
    }
    act.sa_flags |= SA_RESTART;
    CHECK(sigaction(sig, &act, NULL) == 0);
    CHECK(sigaction(sig, NULL, &old) == 0);
    CHECK(plain ? old.sa_handler == plain : old.sa_sigaction == full);
    CHECK((old.sa_flags & (SA_SIGINFO | SA_RESTART)) == (act.sa_flags & (SA_SIGINFO | SA_RESTART)));
    CHECK(sigismember(&old.sa_mask, SIGUSR2) == (plain != NULL));
}

/* ---- One thread: faults, masks, one-shot handlers ---- */

static sigjmp_buf back;
static void *fault_address;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    (void)sig;
    fault_address = info->si_addr;
    siglongjmp(back, 1);
}

static void test_faults(void)
{
    volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction act = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSEGV, &act, NULL) == 0);
    for (int i = 0; i < 200; i++) {
        if (sigsetjmp(back, 1) == 0) {
            page[i] = 1;
            CHECK(!"the store did not fault");
        }
        CHECK(fault_address == page + i);
    }
    CHECK(signal(SIGSEGV, SIG_DFL) != SIG_ERR);
    munmap((void *)page, 4096);
}

static atomic_int shots;

static void on_shot(int sig)
{
    struct sigaction now;
    CHECK(sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    atomic_fetch_add(&shots, 1);
}

static void test_once(void)
{
    struct sigaction act = {.sa_handler = on_shot, .sa_flags = (int)SA_RESETHAND};
    for (int i = 0; i < 100; i++) {
        CHECK(sigaction(SIGURG, &act, NULL) == 0); /* ignored by default, so the second one is harmless */
        raise(SIGURG);
        raise(SIGURG);
    }
    CHECK(atomic_load(&shots) == 100);
}

static void test_masks(void)
{
    sigset_t all, old, now;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &old) == 0);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0);
    CHECK(sigismember(&now, SIGSEGV) == 1 && sigismember(&now, SIGALRM) == 1);
    CHECK(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
    CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0);
    CHECK(sigismember(&now, SIGSEGV) == 0);
}

int main(void)
{
    pthread_t workers[WORKERS], sender;
    test_masks();
    test_faults();
    test_once();
    CHECK(sem_init(&posted, 0, 0) == 0);
    install(SIGALRM, on_alarm, NULL);
    install(SIGRTMIN, NULL, on_queued);
    install(SIGUSR1, NULL, on_user);
    struct itimerval storm = {{0, 200}, {0, 200}}, calm = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &storm, NULL) == 0);
    for (size_t i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&workers[i], NULL, work, (void *)(i + 1)) == 0);
    CHECK(pthread_create(&sender, NULL, send, workers) == 0);
    CHECK(pthread_join(sender, NULL) == 0);
    long total = 0;
    for (int i = 0; i < WORKERS; i++) {
        void *rounds;
        CHECK(pthread_join(workers[i], &rounds) == 0);
        total += (long)rounds;
    }
    CHECK(setitimer(ITIMER_REAL, &calm, NULL) == 0);
    while (atomic_load(&queued_count) < QUEUED)
        sched_yield();
    for (int i = 0; i < LOCKS; i++)
        total -= counters[i];
    CHECK(total == 0);
    CHECK(atomic_load(&queued_sum) == (long)QUEUED * (QUEUED + 1) / 2);
    CHECK(atomic_load(&bad) == 0);
    CHECK(atomic_load(&users) > 0);
    puts("OK");
    return 0;
}
