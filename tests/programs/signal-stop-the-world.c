// A collector stops a thread by a signal, works on its data while the handler waits, and lets it go on: the
// interrupted loop comes before and after.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "invisible.h"

enum { STOPS = 20, SIZE = 64 };
static sem_t stopped, resumed;
static atomic_int quit;
long objects[SIZE], *current = objects;

static void handler(int sig)
{
    (void)sig;
    sem_post(&stopped);
    while (sem_wait(&resumed) != 0)
        ;
}

THREAD(mutator)
{
    mark();
    while (!atomic_load_explicit(&quit, memory_order_relaxed))
        for (int i = 0; i < SIZE; i++)
            current[i]++;
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    pthread_t t;
    long sum = 0;

    sem_init(&stopped, 0, 0);
    sem_init(&resumed, 0, 0);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0);
    t = spawn(mutator, NULL);
    after(1);
    for (int i = 0; i < STOPS; i++) {
        MUST(pthread_kill(t, SIGUSR1) == 0 && sem_wait(&stopped) == 0);
        for (int j = 0; j < SIZE; j++) {
            sum += objects[j];
            objects[j] = 0;
        }
        sem_post(&resumed);
    }
    atomic_store_explicit(&quit, 1, memory_order_relaxed);
    join(t);
    use(sum);
    return 0;
}
