/*
 * waits.c - a program that blocks signals, and is sent them while it does: they come when it unblocks them, or to who waits for
 * them. waits NUMBER: with this signal. It stops at the pair all the while.
 */
#include "meet.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static volatile int shared, handled;
static int number;

__attribute__((noinline)) static void touch(void)
{
    shared++; // FIRST
}

static void on_signal(int which)
{
    handled += which == number;
}

static void check(int good, const char *what)
{
    if (!good) {
        printf("not so: %s\n", what);
        exit(1);
    }
}

static void send_to_process(void)
{
    kill(getpid(), number);
}

static void send_to_thread(void)
{
    pthread_kill(pthread_self(), number);
}

static int is_pending(void)
{
    sigset_t set;
    return sigpending(&set) == 0 && sigismember(&set, number);
}

static void wait_for_it(void (*send)(void), const sigset_t *set)
{
    const struct timespec long_enough = {10, 0};
    siginfo_t info;
    int got = 0;
    send();
    touch();
    check(is_pending(), "it is pending");
    check(sigwait(set, &got) == 0 && got == number, "sigwait gets it");
    check(!is_pending(), "it is no longer pending");
    send();
    check(sigwaitinfo(set, &info) == number && info.si_pid == getpid(), "sigwaitinfo gets it");
    send();
    check(sigtimedwait(set, &info, &long_enough) == number && info.si_signo == number,
          "sigtimedwait gets it");
    send();
    send();
    check(sigtimedwait(set, NULL, &long_enough) == number, "sigtimedwait gets it without information");
    check(sigtimedwait(set, NULL, &(struct timespec){0}) == -1, "it is pending only once");
}

static void unblock(void (*send)(void), const sigset_t *set)
{
    sigset_t old;
    int before = handled;
    send();
    touch();
    check(handled == before, "it is not handled while it is blocked");
    pthread_sigmask(SIG_UNBLOCK, set, &old);
    check(handled == before + 1, "it is handled when it is unblocked");
    check(!is_pending(), "once it is handled, it is not pending");
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* The same for as long as a call lasts, which it interrupts. */
static void suspend(void (*send)(void), const sigset_t *set)
{
    const struct timespec long_enough = {10, 0};
    sigset_t all;
    int before = handled;
    sigfillset(&all);
    sigdelset(&all, number);
    send();
    sigsuspend(&all);
    check(handled == before + 1, "it is handled in sigsuspend");
    send();
    check(ppoll(NULL, 0, &long_enough, &all) == -1 && handled == before + 2, "it is handled in ppoll");
    send();
    check(handled == before + 2, "it is blocked again");
    check(sigtimedwait(set, NULL, &long_enough) == number, "it can be waited for");
}

/* A thread waits, and another gets the signal. */
static void *wait_for_other(void *arg)
{
    sigset_t *set = arg;
    int got = 0;
    pthread_sigmask(SIG_BLOCK, set, NULL);
    check(sigwait(set, &got) == 0 && got == number, "the thread that waits gets it");
    return NULL;
}

static void hand_over(sigset_t *set)
{
    pthread_t waiting;
    pthread_create(&waiting, NULL, wait_for_other, set);
    usleep(20000);
    send_to_process();
    pthread_join(waiting, NULL);
}

/* Threads that are cancelled while they wait. */
static void *wait_for_ever(void *arg)
{
    int got;
    for (;;)
        sigwait(arg, &got);
}

static void cancel_many(sigset_t *set)
{
    for (int i = 0; i < 100; i++) {
        pthread_t waiting;
        pthread_create(&waiting, NULL, wait_for_ever, set);
        pthread_cancel(waiting);
        pthread_join(waiting, NULL);
    }
}

/* Only of a signal that deadheat leaves alone. */
static void read_it(const sigset_t *set)
{
    struct signalfd_siginfo info;
    int fd = signalfd(-1, set, 0);
    send_to_process();
    check(read(fd, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == (unsigned)number,
          "signalfd has it");
    close(fd);
}

static void *first(void *arg)
{
    await_other();
    touch();
    say_done();
    return arg;
}

int main(int argc, char **argv)
{
    sigset_t set;
    number = argc > 1 ? atoi(argv[1]) : SIGTRAP;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    cancel_many(&set);
    for (int i = 0; i < 2; i++) {
        wait_for_it(send_to_process, &set);
        wait_for_it(send_to_thread, &set);
        signal(number, on_signal);
        unblock(send_to_process, &set);
        unblock(send_to_thread, &set);
        suspend(send_to_process, &set);
        suspend(send_to_thread, &set);
        hand_over(&set);
        if (argc > 2)
            read_it(&set);
    }
    both(first, keep_calling, (void *)touch);
    puts("OK");
    return 0;
}
