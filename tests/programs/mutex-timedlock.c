// Timed locks: one that gets the lock acquires; one that timed out orders nothing and holds nothing.
// FLAGS: -D_GNU_SOURCE
#include <errno.h>
#include <time.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x, y;
static const struct timespec past = {1, 0}, far_away = {1L << 33, 0};

THREAD(first)
{
    MUST(pthread_mutex_timedlock(&m, &far_away) == 0);
    x = 1;
    pthread_mutex_unlock(&m);
    MUST(pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &far_away) == 0);
    x++;
    pthread_mutex_unlock(&m);
    mark();
    after(2);
    pthread_mutex_lock(&m);
    y = 1; // RACE a:write
    mark();
    after(4);
    pthread_mutex_unlock(&m);
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(pthread_mutex_timedlock(&m, &far_away) == 0);
    x++;
    pthread_mutex_unlock(&m);
    MUST(pthread_mutex_clocklock(&m, CLOCK_REALTIME, &far_away) == 0);
    x++;
    pthread_mutex_unlock(&m);
    mark();
    after(3);
    MUST(pthread_mutex_timedlock(&m, &past) == ETIMEDOUT);
    MUST(pthread_mutex_clocklock(&m, CLOCK_REALTIME, &past) == ETIMEDOUT);
    use(y); // RACE a:read
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    MUST(x == 4);
    return 0;
}
