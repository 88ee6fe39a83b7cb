// A wait that times out has let the mutex go and taken it again: both sides stay protected.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
long count;
static const struct timespec past = {1, 0};

THREAD(worker)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&m);
        count++;
        MUST(pthread_cond_timedwait(&c, &m, &past) == ETIMEDOUT);
        count++;
        MUST(pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
        count++;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(count == 300);
    return 0;
}
