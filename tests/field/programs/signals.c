/*
 * signals.c - a program that uses SIGILL and SIGTRAP itself, blocks them wherever it can, and stops at the pair all the while. It
 * checks that it cannot tell the difference. signals [trap]: it dies of the one or the other in the end.
 */
#include "meet.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define CHECK(cond)                                           \
    do {                                                      \
        if (!(cond)) {                                        \
            printf("line %d: not so: %s\n", __LINE__, #cond); \
            exit(1);                                          \
        }                                                     \
    } while (0)

static volatile int shared, traps, in_handler;
static const int numbers[2] = {SIGILL, SIGTRAP};

static void on_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    traps += (number == SIGTRAP || number == SIGILL) && info->si_signo == number;
    if (number == SIGILL && info->si_code > 0)
        uc->uc_mcontext.gregs[REG_RIP] += 2; /* the length of ud2 */
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

static int has_both(const sigset_t *set)
{
    return sigismember(set, SIGILL) + sigismember(set, SIGTRAP);
}

static void once(int round)
{
    sigset_t all, none, old;
    sigemptyset(&none);
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &old) == 0 && has_both(&old) == 2);
    touch();
    CHECK(pthread_sigmask(SIG_SETMASK, &none, &old) == 0 && has_both(&old) == 2);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &old) == 0 && has_both(&old) == 0);
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

/* What it sets for one of the two signals is what it gets, whatever it sets for the other. */
static void use(int number)
{
    struct sigaction act = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
    sigfillset(&act.sa_mask);
    CHECK(sigaction(number, &act, &old) == 0 && old.sa_handler == SIG_DFL);
    CHECK(sigaction(number, NULL, &old) == 0 && old.sa_sigaction == on_trap && old.sa_flags & SA_SIGINFO);
    raise(number);
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < 2; i++)
        use(numbers[i]);
    CHECK(traps == 2);
    __asm__ volatile("int3");
    CHECK(traps == 3);
    __asm__ volatile("ud2");
    CHECK(traps == 4);
    struct sigaction user = {.sa_handler = on_user};
    sigfillset(&user.sa_mask);
    sigaction(SIGUSR1, &user, NULL);
    both(first, keep_calling, (void *)touch);
    CHECK(traps == 4);
    for (int i = 0; i < 2; i++) {
        CHECK(signal(numbers[i], SIG_IGN) != SIG_ERR);
        raise(numbers[i]);
        CHECK(signal(numbers[i], SIG_DFL) == SIG_IGN);
    }
    puts("OK");
    fflush(stdout);
    raise(numbers[argc > 1]); /* and now it dies of it */
    return 1;
}
