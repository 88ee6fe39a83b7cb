// Threads cancelled in each of many calls that wait: their clean-up handlers run, in order, and what they did
// is there for who joins. One is cancelled while it works, asynchronously.
// NO RACE
// TSAN: it does not survive a cancellation in pthread_join
// FLAGS: -D_GNU_SOURCE
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "invisible.h"

enum { CALLS = 13 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t s;
static int ends[2], pair[2], epoll;
static pthread_t waited_for;
static int before[CALLS], cleaned[CALLS], order[CALLS];

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void wait_in(int call)
{
    struct pollfd p = {.fd = ends[0], .events = POLLIN};
    struct epoll_event event;
    sigset_t set;
    char byte;

    switch (call) {
    case 0:
        read(ends[0], &byte, 1);
        break;
    case 1:
        recv(pair[0], &byte, 1, 0);
        break;
    case 2:
        sem_wait(&s);
        break;
    case 3:
        sem_timedwait(&s, &(struct timespec){1L << 33, 0});
        break;
    case 4:
        pthread_join(waited_for, NULL);
        break;
    case 5:
        poll(&p, 1, -1);
        break;
    case 6:
        epoll_wait(epoll, &event, 1, -1);
        break;
    case 7:
        nanosleep(&(struct timespec){1L << 30, 0}, NULL);
        break;
    case 8:
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigwaitinfo(&set, NULL);
        break;
    case 9:
        pause();
        break;
    case 10:
        pthread_mutex_lock(&m);
        pthread_cleanup_push(unlock, &m);
        pthread_cond_wait(&c, &m);
        pthread_cleanup_pop(1);
        break;
    case 11:
        for (;;)
            pthread_testcancel();
    default:
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        for (;;)
            __asm__ volatile("pause");
    }
}

static void inner(void *arg)
{
    cleaned[(int *)arg - before]++;
}

static void outer(void *arg)
{
    order[(int *)arg - before] = cleaned[(int *)arg - before];
}

THREAD(waits)
{
    int *mine = arg;

    *mine = 1;
    mark();
    pthread_cleanup_push(outer, mine);
    pthread_cleanup_push(inner, mine);
    for (;;)
        wait_in((int)(mine - before));
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return NULL;
}

THREAD(lives)
{
    after(CALLS + 1);
    return NULL;
}

int main(void)
{
    pthread_t t[CALLS];

    MUST(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 &&
         (epoll = epoll_create1(0)) >= 0);
    sem_init(&s, 0, 0);
    waited_for = spawn(lives, NULL);
    for (int i = 0; i < CALLS; i++)
        t[i] = spawn(waits, &before[i]);
    after(CALLS);
    for (int i = 0; i < CALLS; i++)
        MUST(pthread_cancel(t[i]) == 0);
    for (int i = 0; i < CALLS; i++) {
        MUST(join(t[i]) == PTHREAD_CANCELED);
        MUST(before[i] == 1 && cleaned[i] == 1 && order[i] == 1);
        before[i] = 2;
    }
    pthread_mutex_lock(&m);
    mark();
    join(waited_for);
    return 0;
}
