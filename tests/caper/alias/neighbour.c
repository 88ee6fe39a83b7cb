/* A small local variable that is new takes no history from its neighbour in the same word. pairs: A-B; not: C-D */
#include "alias.h"
#include <semaphore.h>
struct places {
    volatile char *first, *second;
};
struct places *volatile shared;
sem_t there[2], done[2];
static void *helper(void *arg)
{
    sem_wait(&there[0]);
    *shared->first = 2; /* B */
    sem_post(&done[0]);
    sem_wait(&there[1]);
    if (!arg)
        *shared->second = 2; /* D */
    sem_post(&done[1]);
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t t;
    volatile char one;
    struct places places = {&one, NULL};
    for (int i = 0; i < 2; i++) {
        sem_init(&there[i], 0, 0);
        sem_init(&done[i], 0, 0);
    }
    shared = &places;
    pthread_create(&t, NULL, helper, argv);
    one = (char)argc; /* A */
    for (int i = 0; i < 2; i++) {
        volatile char two;
        places.second = &two;
        two = 1; /* C */
        sem_post(&there[i]);
        sem_wait(&done[i]);
    }
    pthread_join(t, NULL);
    return 0;
}
