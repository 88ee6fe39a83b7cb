/*
 * signals.c - a program that uses SIGTRAP itself, blocks it wherever it can, and stops at the pair all the while. It checks
 * that it cannot tell the difference.
 */
#include "meet.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

#define CHECK(cond)                                           \
    do {                                                      \
        if (!(cond)) {                                        \
            printf("line %d: not so: %s\n", __LINE__, #cond); \
            exit(1);                                          \
        }                                                     \
    } while (0)

static volatile int shared, traps, in_handler;
static struct sigaction before;

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)context;
    traps += number == SIGTRAP && info->si_signo == SIGTRAP;
}

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

static void on_user(int number)
{
    (void)number;
    touch(); /* with everything blocked */
    in_handler++;
}

static void once(int round)
{
    sigset_t all, none, old;
    sigemptyset(&none);
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &old) == 0 && sigismember(&old, SIGTRAP) == 1);
    touch();
    CHECK(pthread_sigmask(SIG_SETMASK, &none, &old) == 0 && sigismember(&old, SIGTRAP) == 1);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &old) == 0 && sigismember(&old, SIGTRAP) == 0);
    /* A handler that blocks everything, run while everything else is blocked. */
    sigdelset(&all, SIGUSR1);
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    sigsuspend(&all);
    pthread_kill(pthread_self(), SIGUSR1);
    struct timespec long_enough = {10, 0};
    CHECK(ppoll(NULL, 0, &long_enough, &all) == -1);
    CHECK(in_handler == 2 * round);
}

static void *first(void *arg)
{
    (void)arg;
    await_other();
    for (int i = 1; i <= 200; i++)
        once(i);
    say_done();
    return NULL;
}

int main(void)
{
    struct sigaction act = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
    sigfillset(&act.sa_mask);
    CHECK(sigaction(SIGTRAP, &act, &before) == 0 && before.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGTRAP, NULL, &old) == 0 && old.sa_sigaction == on_trap && old.sa_flags & SA_SIGINFO);
    raise(SIGTRAP);
    CHECK(traps == 1);
    __asm__ volatile("int3");
    CHECK(traps == 2);
    struct sigaction user = {.sa_handler = on_user};
    sigfillset(&user.sa_mask);
    sigaction(SIGUSR1, &user, NULL);
    both(first, keep_calling, (void *)touch);
    CHECK(traps == 2);
    CHECK(signal(SIGTRAP, SIG_IGN) != SIG_ERR);
    raise(SIGTRAP);
    CHECK(signal(SIGTRAP, SIG_DFL) == SIG_IGN);
    puts("OK");
    fflush(stdout);
    raise(SIGTRAP); /* and now it dies of it */
    return 1;
}
