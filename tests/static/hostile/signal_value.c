// A signal handler follows the pointer that came with the signal.
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
int x;

static void handler(int s, siginfo_t *i, void *c)
{
    (void)s;
    (void)c;
    ++*(int *)i->si_value.sival_ptr; // RACE a
}

static void *f(void *p)
{
    x++; // RACE a
    return p;
}

int main(void)
{
    struct sigaction sa;
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = handler;
    sa.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &sa, 0);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    union sigval v = {.sival_ptr = &x};
    sigqueue(getpid(), SIGUSR1, v);
    pthread_join(t, 0);
    return 0;
}
