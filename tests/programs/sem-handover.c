// Ownership of a buffer handed to and fro by two semaphores.
// NO RACE
#include <semaphore.h>

#include "invisible.h"

sem_t full, empty;
int buffer[16];

THREAD(producer)
{
    for (int i = 0; i < 50; i++) {
        sem_wait(&empty);
        for (int j = 0; j < 16; j++)
            buffer[j] = i;
        sem_post(&full);
    }
    return NULL;
}

THREAD(consumer)
{
    for (int i = 0; i < 50; i++) {
        sem_wait(&full);
        for (int j = 0; j < 16; j++) {
            MUST(buffer[j] == i);
            buffer[j] = -1;
        }
        sem_post(&empty);
    }
    return NULL;
}

int main(void)
{
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    both(producer, consumer);
    return 0;
}
