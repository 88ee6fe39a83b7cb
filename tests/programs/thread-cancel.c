// A thread cancelled while it waits: its clean-up runs, the mutex is free, join orders.
// NO RACE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int x, waiting;

static void unlock(void *arg)
{
    x++;
    pthread_mutex_unlock(arg);
}

THREAD(child)
{
    pthread_mutex_lock(&m);
    pthread_cleanup_push(unlock, &m);
    waiting = 1;
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(child, NULL);

    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&m);
        seen = waiting;
        pthread_mutex_unlock(&m);
    }
    pthread_cancel(t);
    MUST(join(t) == PTHREAD_CANCELED);
    MUST(x == 1);
    pthread_mutex_lock(&m);
    x++;
    pthread_mutex_unlock(&m);
    return 0;
}
