// A condition variable may be destroyed, and its memory used for something else, as soon as those who waited
// have been woken: they need the mutex to go on, and not the condition variable.
// NO RACE
#include <string.h>

#include "invisible.h"

enum { WAITERS = 3 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, *go;
static int waiting, gone;

THREAD(waiter)
{
    pthread_mutex_lock(&m);
    waiting++;
    pthread_cond_signal(&arrived);
    while (!gone)
        pthread_cond_wait(go, &m);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 10; round++) {
        pthread_t t[WAITERS];

        waiting = gone = 0;
        go = malloc(sizeof *go);
        pthread_cond_init(go, NULL);
        for (int i = 0; i < WAITERS; i++)
            t[i] = spawn(waiter, NULL);
        pthread_mutex_lock(&m);
        while (waiting < WAITERS)
            pthread_cond_wait(&arrived, &m);
        gone = 1;
        pthread_cond_broadcast(go);
        pthread_mutex_unlock(&m);
        pthread_cond_destroy(go);
        memset(go, 0x55, sizeof *go);
        free(go);
        for (int i = 0; i < WAITERS; i++)
            join(t[i]);
    }
    return 0;
}
