// A mutex of each kind, made by attributes or by an initialiser, taken in each way there is: what was done
// before the unlock comes before what is done after the lock.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <time.h>

#include "invisible.h"

enum { TYPES = 4, MADE = TYPES * 2 * 2 * 2, STATIC = 4, KINDS = MADE + STATIC, WAYS = 4 };
static pthread_mutex_t m[WAYS][KINDS];
static long data[WAYS][KINDS];
static const struct timespec far_away = {1L << 33, 0};

static void make(pthread_mutex_t *mutex, int kind)
{
    static const int types[TYPES] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                                     PTHREAD_MUTEX_ADAPTIVE_NP};
    static const pthread_mutex_t ready[STATIC] = {
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
        PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
    pthread_mutexattr_t attr;

    if (kind >= MADE) {
        *mutex = ready[kind - MADE];
        return;
    }
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, types[kind % TYPES]);
    if (kind / TYPES & 1)
        pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    if (kind / TYPES & 2)
        MUST(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0);
    if (kind / TYPES & 4)
        MUST(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    MUST(pthread_mutex_init(mutex, &attr) == 0);
}

static int take(pthread_mutex_t *mutex, int way)
{
    switch (way) {
    case 0:
        return pthread_mutex_lock(mutex);
    case 1:
        return pthread_mutex_trylock(mutex);
    case 2:
        return pthread_mutex_timedlock(mutex, &far_away);
    default:
        return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, &far_away);
    }
}

static void all(void)
{
    for (int way = 0; way < WAYS; way++)
        for (int kind = 0; kind < KINDS; kind++) {
            MUST(take(&m[way][kind], way) == 0);
            data[way][kind]++;
            MUST(pthread_mutex_unlock(&m[way][kind]) == 0);
        }
}

THREAD(first)
{
    all();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    all();
    return NULL;
}

int main(void)
{
    for (int way = 0; way < WAYS; way++)
        for (int kind = 0; kind < KINDS; kind++)
            make(&m[way][kind], kind);
    both(first, second);
    for (int way = 0; way < WAYS; way++)
        for (int kind = 0; kind < KINDS; kind++)
            MUST(data[way][kind] == 2 && pthread_mutex_destroy(&m[way][kind]) == 0);
    return 0;
}
