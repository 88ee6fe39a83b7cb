/* Local variables are new each time: what a thread did with one is no history of the next at the same place.
 * pairs: A-B; not: B-C */
#include "alias.h"
#include <semaphore.h>
volatile int *volatile shared;
sem_t there, done;
static void *helper(void *arg)
{
    for (int i = 0; i < 3; i++) {
        sem_wait(&there);
        if (i == 0)
            *shared = 2; /* B */
        sem_post(&done);
    }
    return arg;
}
__attribute__((noinline)) static void once(void)
{
    volatile int local[4];
    shared = local;
    local[0] = 1; /* A */
    sem_post(&there);
    sem_wait(&done);
}
__attribute__((noinline)) static void again(void)
{
    volatile int local[4];
    shared = local;
    local[0] = 1; /* C */
    sem_post(&there);
    sem_wait(&done);
}
int main(void)
{
    pthread_t t;
    sem_init(&there, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&t, NULL, helper, NULL);
    once();
    again();
    again();
    pthread_join(t, NULL);
    return 0;
}
