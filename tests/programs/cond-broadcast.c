// One broadcast starts many; each sees what was written before it.
// NO RACE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c;
int go, waiting, data[8];

THREAD(worker)
{
    pthread_mutex_lock(&m);
    waiting++;
    pthread_cond_broadcast(&c);
    while (!go)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 8; i++)
        MUST(data[i] == i);
    return NULL;
}

int main(void)
{
    pthread_t t[4];

    pthread_cond_init(&c, NULL);
    for (int i = 0; i < 4; i++)
        t[i] = spawn(worker, NULL);
    for (int i = 0; i < 8; i++)
        data[i] = i;
    pthread_mutex_lock(&m);
    while (waiting < 4)
        pthread_cond_wait(&c, &m);
    go = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    pthread_cond_destroy(&c);
    return 0;
}
