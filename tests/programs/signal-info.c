// SA_SIGINFO handlers, signal(), masks and errno: all as without us, also while a thread waits.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <signal.h>

#include "invisible.h"

static __thread int got;
sem_t s;

static void with_info(int signal, siginfo_t *info, void *context)
{
    MUST(signal == SIGUSR1 && info->si_signo == SIGUSR1 && context);
    got++;
    mark();
}

static void simple(int sig)
{
    MUST(sig == SIGUSR2);
    got += 10;
}

THREAD(target)
{
    mark();
    while (sem_wait(&s) == -1)
        MUST(errno == EINTR);
    MUST(got == 1);
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO}, old;
    sigset_t set;
    pthread_t t;

    sem_init(&s, 0, 0);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    MUST(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_sigaction == with_info);
    MUST(signal(SIGUSR2, simple) == SIG_DFL);
    MUST(signal(SIGUSR2, simple) == simple);
    t = spawn(target, NULL);
    after(1);
    pthread_kill(t, SIGUSR1);
    after(2);
    sem_post(&s);
    join(t);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    MUST(got == 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    MUST(got == 10);
    return 0;
}
