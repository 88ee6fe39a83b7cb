/*
 * blocks.c - blocks or ignores the two signals that a chase uses, as HOW says, and shows what it is told of that; then it makes
 * accesses: blocks HOW. What it prints does not depend on whether it is chased.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static const char *how;
static volatile long shared;
static atomic_int finished;

static int is(const char *this)
{
    return strcmp(how, this) == 0;
}

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

/* For long enough that breakpoints are set in the meantime. */
static void touch_often(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        touch();
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 200);
}

static void on_user(int number)
{
    (void)number;
    touch_often();
}

static void *thread(void *arg)
{
    touch_often();
    return arg;
}

static void on_timer(union sigval value)
{
    touch_often();
    printf("%d\n", value.sival_int);
    finished = 1;
}

static void show(void)
{
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    printf("%d %d\n", sigismember(&set, SIGILL), sigismember(&set, SIGTRAP));
}

static void wait_for_signal(void)
{
    struct pollfd none = {.fd = -1};
    struct epoll_event event;
    struct timespec limit = {10, 0};
    sigset_t all, user;
    volatile size_t n = 1; /* or the fortified function is not called */
    signal(SIGUSR1, on_user);
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &user, NULL);
    raise(SIGUSR1);
    sigfillset(&all);
    sigdelset(&all, SIGUSR1);
    printf("%d\n", is("ppoll") ? ppoll(&none, n, &limit, &all)
                               : epoll_pwait2(epoll_create1(0), &event, 1, &limit, &all));
}

static void await_timer(void)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer, .sigev_value.sival_int = 42};
    struct itimerspec soon = {.it_value.tv_nsec = 1000000};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &soon, NULL) != 0)
        abort();
    while (!finished)
        usleep(1000);
}

int main(int argc, char **argv)
{
    how = argc > 1 ? argv[1] : "";
    sigset_t all;
    pthread_attr_t attr;
    pthread_t t;
    sigfillset(&all);
    if (is("attr")) {
        pthread_attr_init(&attr);
        pthread_attr_setsigmask_np(&attr, &all);
        pthread_create(&t, &attr, thread, NULL);
        pthread_join(t, NULL);
    }
    if (is("sigblock"))
        printf("%d\n", sigblock(~0) & (1 << (SIGILL - 1)));
    if (is("sigsetmask"))
        printf("%d\n", sigsetmask(~0) & (1 << (SIGILL - 1)));
    if (is("sighold")) {
        sighold(SIGILL);
        sighold(SIGTRAP);
        sigrelse(SIGTRAP);
    }
    if (is("sigset")) {
        printf("%d\n", sigset(SIGILL, SIG_HOLD) == SIG_DFL);
        printf("%d\n", sigset(SIGTRAP, on_user) == SIG_DFL);
        printf("%d\n", sigset(SIGTRAP, SIG_HOLD) == on_user);
        printf("%d\n", sigset(SIGTRAP, SIG_IGN) == SIG_HOLD);
    }
    if (is("sigignore")) {
        sigignore(SIGILL);
        sigignore(SIGTRAP);
        raise(SIGILL);
        raise(SIGTRAP);
    }
    if (is("ppoll") || is("epoll_pwait2"))
        wait_for_signal();
    if (is("timer"))
        await_timer();
    show();
    touch_often();
    puts("OK");
    return 0;
}
