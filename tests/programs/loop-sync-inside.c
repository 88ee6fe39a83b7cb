// A loop that hands elements over one by one: each element is checked when it is touched, in its own epoch.
// NO RACE
// FLAGS: -O2
#include <semaphore.h>

#include "invisible.h"

int a[100];
sem_t filled, emptied;

THREAD(producer)
{
    for (int i = 0; i < 100; i++) {
        a[i] = i;
        sem_post(&filled);
    }
    for (int i = 0; i < 100; i++) {
        sem_wait(&emptied);
        a[i] += 1;
    }
    return NULL;
}

THREAD(consumer)
{
    for (int i = 0; i < 100; i++) {
        sem_wait(&filled);
        MUST(a[i] == i);
        a[i] = 0;
        sem_post(&emptied);
    }
    return NULL;
}

int main(void)
{
    sem_init(&filled, 0, 0);
    sem_init(&emptied, 0, 0);
    both(producer, consumer);
    return 0;
}
