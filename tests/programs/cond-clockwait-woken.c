// Waits with a time limit that end because they were woken: by either clock, and on a condition variable with
// a clock of its own. What was written before the predicate changed is theirs to use.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <time.h>

#include "invisible.h"

enum { STEPS = 30 };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c;
static int turn, data;
static const struct timespec far_away = {1L << 33, 0};

static int limited_wait(int i)
{
    switch (i % 3) {
    case 0:
        return pthread_cond_timedwait(&c, &m, &far_away);
    case 1:
        return pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &far_away);
    default:
        return pthread_cond_clockwait(&c, &m, CLOCK_REALTIME, &far_away);
    }
}

static void work(int me)
{
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&m);
        while (turn != me)
            MUST(limited_wait(i) == 0);
        pthread_mutex_unlock(&m);
        data++; /* it is mine until I say otherwise */
        pthread_mutex_lock(&m);
        turn = !me;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
}

THREAD(first)
{
    work(0);
    return NULL;
}

THREAD(second)
{
    work(1);
    return NULL;
}

int main(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c, &attr);
    both(first, second);
    MUST(data == 2 * STEPS);
    return 0;
}
