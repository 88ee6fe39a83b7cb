// A handler on one thread touches what another thread writes: sending a signal orders nothing.
// FLAGS: -D_GNU_SOURCE
#include <semaphore.h>
#include <signal.h>

#include "invisible.h"

sem_t s;
int x;

static void handler(int signal)
{
    (void)signal;
    after(2);
    use(x); // RACE a:read
    mark();
}

THREAD(target)
{
    mark();
    while (sem_wait(&s) != 0)
        ;
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    pthread_t t;

    sem_init(&s, 0, 0);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    t = spawn(target, NULL);
    after(1);
    MUST(pthread_kill(t, SIGUSR1) == 0);
    x = 1; // RACE a:write
    mark();
    after(3);
    sem_post(&s);
    join(t);
    return 0;
}
