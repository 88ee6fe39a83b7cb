// Threads created detached, reporting through a semaphore.
// NO RACE
#include <semaphore.h>

#include "invisible.h"

sem_t done;
int x[8];

THREAD(child)
{
    x[(long)arg] = 1;
    sem_post(&done);
    return NULL;
}

int main(void)
{
    pthread_attr_t attr;

    sem_init(&done, 0, 0);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (long i = 0; i < 8; i++) {
        pthread_t t;

        MUST(pthread_create(&t, &attr, child, (void *)i) == 0);
    }
    for (int i = 0; i < 8; i++)
        sem_wait(&done);
    for (int i = 0; i < 8; i++)
        MUST(x[i] == 1);
    return 0;
}
