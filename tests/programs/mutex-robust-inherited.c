// What the dead owner of a robust mutex did while holding it comes before what its heir does, however the
// heir gets the lock; nobody has joined the dead one.
// NO RACE
// TSAN: it does not order the end of the owner
// FLAGS: -D_GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "invisible.h"

enum { WAYS = 4 };
static pthread_mutex_t m[WAYS];
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int data[WAYS];
static const struct timespec past = {1, 0}, far_away = {1L << 33, 0};

THREAD(dies)
{
    for (int i = 0; i < WAYS; i++) {
        pthread_mutex_lock(&m[i]);
        data[i] = i;
    }
    MUST(pthread_cond_timedwait(&c, &m[0], &past) == ETIMEDOUT); /* lets go of it and takes it again */
    data[0] = 0;
    mark();
    return NULL;
}

static int take(int way)
{
    switch (way) {
    case 0:
        return pthread_mutex_lock(&m[0]);
    case 1:
        return pthread_mutex_trylock(&m[1]);
    case 2:
        return pthread_mutex_timedlock(&m[2], &far_away);
    default:
        return pthread_mutex_clocklock(&m[3], CLOCK_MONOTONIC, &far_away);
    }
}

THREAD(heir)
{
    after(1);
    for (int i = 0; i < WAYS; i++) {
        int rc;

        while ((rc = take(i)) == EBUSY) /* it still lives */
            ;
        MUST(rc == EOWNERDEAD && data[i]++ == i);
        MUST(pthread_mutex_consistent(&m[i]) == 0);
        pthread_mutex_unlock(&m[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_attr_t detached;
    pthread_t t;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    for (int i = 0; i < WAYS; i++)
        pthread_mutex_init(&m[i], &attr);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    MUST(pthread_create(&t, &detached, dies, NULL) == 0);
    heir(NULL);
    return 0;
}
