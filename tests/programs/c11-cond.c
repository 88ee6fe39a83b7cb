// Condition variables of C11.
// NO RACE
// TSAN: it does not know threads.h
#include <threads.h>
#include <time.h>

#include "invisible.h"

mtx_t m;
cnd_t c;
int ready, data;
static const struct timespec past = {1, 0};

static int consumer(void *arg)
{
    (void)arg;
    mtx_lock(&m);
    /* The mutex is free meanwhile, so it may be told all the same. */
    MUST(ready || cnd_timedwait(&c, &m, &past) == thrd_timedout || ready);
    while (!ready)
        cnd_wait(&c, &m);
    MUST(data == 42);
    mtx_unlock(&m);
    return 0;
}

int main(void)
{
    thrd_t t[3];

    mtx_init(&m, mtx_timed);
    cnd_init(&c);
    for (int i = 0; i < 3; i++)
        thrd_create(&t[i], consumer, NULL);
    data = 42;
    mtx_lock(&m);
    ready = 1;
    cnd_signal(&c);
    cnd_broadcast(&c);
    mtx_unlock(&m);
    for (int i = 0; i < 3; i++)
        thrd_join(t[i], NULL);
    cnd_destroy(&c);
    return 0;
}
