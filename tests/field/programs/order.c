/*
 * order.c - one write, and one read that comes later: order HOW, where HOW is what orders the two, if anything does. The read
 * comes after the write in every run: by a counter that only inline assembly touches, where nothing else sees to it.
 */
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <unistd.h>

#include "../../programs/invisible.h"

enum { BLOCK = 4096 }; /* more than libc keeps for one thread */

static const char *how;
static long *shared;
static volatile long sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static mtx_t mtx;
static int pipe_ends[2], timer;
static FILE *stream;
static atomic_int flag, *local;
static int undeclared; /* atomic by builtins of the compiler */
static int said;       /* under the lock */

static int is(const char *this)
{
    return strcmp(how, this) == 0;
}

__attribute__((noinline)) static void put(void)
{
    *shared = 1; // FIRST
}

__attribute__((noinline)) static void get(void)
{
    sink = *shared; // SECOND
}

static void *get_in_thread(void *arg)
{
    get();
    return arg;
}

/* Takes what protects the data while it is accessed. */
static void enter(int writes)
{
    if (is("mutex"))
        pthread_mutex_lock(&lock);
    if (is("mutexes"))
        pthread_mutex_lock(writes ? &lock : &other);
    if (is("rwlock"))
        writes ? pthread_rwlock_wrlock(&rwlock) : pthread_rwlock_rdlock(&rwlock);
    if (is("spin"))
        pthread_spin_lock(&spin);
    if (is("mtx"))
        mtx_lock(&mtx);
    if (is("flockfile"))
        flockfile(stream);
}

static void leave(int writes)
{
    if (is("mutex"))
        pthread_mutex_unlock(&lock);
    if (is("mutexes"))
        pthread_mutex_unlock(writes ? &lock : &other);
    if (is("rwlock"))
        pthread_rwlock_unlock(&rwlock);
    if (is("spin"))
        pthread_spin_unlock(&spin);
    if (is("mtx"))
        mtx_unlock(&mtx);
    if (is("flockfile"))
        funlockfile(stream);
}

/* A call that locks the stream. */
static void use_stream(void)
{
    if (is("putc"))
        putc('x', stream);
    if (is("printf"))
        fprintf(stream, "%s %d", how, said);
    if (is("feof"))
        feof(stream);
}

/* Says that the data is there. */
static void tell(void)
{
    pthread_t child;
    char byte = 0;
    if (is("cond")) {
        pthread_mutex_lock(&lock);
        said = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    if (is("barrier"))
        pthread_barrier_wait(&barrier);
    if (is("sem"))
        sem_post(&sem);
    if (is("timerfd"))
        timerfd_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 1}, NULL);
    if ((is("pipe") || is("epoll_pwait2")) && write(pipe_ends[1], &byte, 1) != 1)
        abort();
    if (is("atomic") || is("chain"))
        atomic_store_explicit(&flag, 1, memory_order_release);
    if (is("relaxed"))
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    if (is("builtin"))
        __atomic_store_n(&undeclared, 1, __ATOMIC_RELEASE);
    if (is("add"))
        atomic_fetch_add_explicit(&flag, 1, memory_order_acq_rel);
    if (is("local"))
        atomic_store(local, 1);
    if (is("create")) {
        pthread_create(&child, NULL, get_in_thread, NULL);
        pthread_join(child, NULL);
    }
    if (is("free"))
        free(shared);
    use_stream();
}

static void hear(void)
{
    char byte;
    if (is("cond")) {
        pthread_mutex_lock(&lock);
        while (!said)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    if (is("barrier"))
        pthread_barrier_wait(&barrier);
    if (is("sem") || is("chain"))
        sem_wait(&sem);
    if (is("timerfd") && read(timer, &(long){0}, sizeof(long)) != sizeof(long))
        abort();
    if (is("epoll_pwait2")) {
        struct epoll_event event = {.events = EPOLLIN};
        int epoll = epoll_create1(0);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_ends[0], &event) != 0 ||
            epoll_pwait2(epoll, &event, 1, NULL, NULL) != 1)
            abort();
    }
    if (is("pipe") && read(pipe_ends[0], &byte, 1) != 1)
        abort();
    while (is("atomic") && !atomic_load_explicit(&flag, memory_order_acquire))
        continue;
    while (is("relaxed") && !atomic_load_explicit(&flag, memory_order_relaxed))
        continue;
    while (is("builtin") && !__atomic_load_n(&undeclared, __ATOMIC_ACQUIRE))
        continue;
    while (is("add") && !atomic_fetch_add_explicit(&flag, 0, memory_order_acq_rel))
        continue;
}

static void *writer(void *arg)
{
    if (is("once")) {
        pthread_once(&once, put);
    } else {
        enter(1);
        put();
        leave(1);
        tell();
    }
    mark();
    return arg;
}

static void *reader(void *arg)
{
    void *volatile own = malloc(1); /* and what libc needs itself for a thread */
    free(own);
    mark();
    hear();
    after(2);
    use_stream();
    if (is("once"))
        pthread_once(&once, put);
    if (is("free")) {
        long *before = shared;
        shared = malloc(BLOCK);
        if (shared != before)
            puts("another block");
    }
    enter(0);
    get();
    leave(0);
    return arg;
}

/* Between the two in a chain. */
static void *middle(void *arg)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        continue;
    sem_post(&sem);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b, c;
    atomic_int own = 0;
    how = argc > 1 ? argv[1] : "none";
    local = &own;
    mallopt(M_ARENA_MAX, 1);
    stream = fopen("/dev/null", "w+");
    shared = calloc(1, BLOCK);
    if (pipe(pipe_ends) != 0 || !stream)
        abort();
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&sem, 0, 0);
    mtx_init(&mtx, mtx_plain);
    int reads_here = is("local") || is("join") || is("create");
    if (!reads_here) {
        pthread_create(&b, NULL, reader, NULL);
        after(1);
    }
    if (is("chain"))
        pthread_create(&c, NULL, middle, NULL);
    pthread_create(&a, NULL, writer, NULL);
    while (is("local") && !atomic_load(&own))
        continue;
    if (is("local"))
        get();
    pthread_join(a, NULL);
    if (is("join"))
        get();
    if (!reads_here)
        pthread_join(b, NULL);
    if (is("chain"))
        pthread_join(c, NULL);
    puts("OK");
    return 0;
}
