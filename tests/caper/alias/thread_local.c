/* The thread-local variables of a thread are where those of one that has ended were, and have no history. pairs: A-B; not: B-C */
#include "alias.h"
#include <semaphore.h>
static _Thread_local volatile int local;
volatile int *volatile shared, *was;
sem_t there, done;
static void *helper(void *arg)
{
    sem_wait(&there);
    *shared = 2; /* B */
    sem_post(&done);
    return arg;
}
static void *first(void *arg)
{
    shared = was = &local;
    local = 1; /* A */
    sem_post(&there);
    sem_wait(&done);
    return arg;
}
static void *second(void *arg)
{
    shared = &local;
    local = 1; /* C */
    return &local == was ? arg : NULL;
}
int main(void)
{
    pthread_t helps, t;
    void *same;
    sem_init(&there, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&helps, NULL, helper, NULL);
    pthread_create(&t, NULL, first, NULL);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, second, &t);
    pthread_join(t, &same);
    pthread_join(helps, NULL);
    return same ? 0 : 1; /* the test is of use only if it is the same address */
}
