// Try and timed variants acquire when they succeed.
// NO RACE
// FLAGS: -D_GNU_SOURCE
// TSAN: it does not know the clock variants
#include <errno.h>
#include <time.h>

#include "invisible.h"

pthread_rwlock_t l;
int x;
static const struct timespec past = {1, 0}, far_away = {1L << 33, 0};

THREAD(first)
{
    MUST(pthread_rwlock_trywrlock(&l) == 0);
    x++;
    pthread_rwlock_unlock(&l);
    MUST(pthread_rwlock_timedwrlock(&l, &far_away) == 0);
    x++;
    pthread_rwlock_unlock(&l);
    MUST(pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &far_away) == 0);
    x++;
    mark();
    after(2);
    pthread_rwlock_unlock(&l);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(pthread_rwlock_tryrdlock(&l) == EBUSY);
    MUST(pthread_rwlock_trywrlock(&l) == EBUSY);
    MUST(pthread_rwlock_timedrdlock(&l, &past) == ETIMEDOUT);
    MUST(pthread_rwlock_timedwrlock(&l, &past) == ETIMEDOUT);
    mark();
    after(3);
    MUST(pthread_rwlock_tryrdlock(&l) == 0);
    use(x);
    pthread_rwlock_unlock(&l);
    MUST(pthread_rwlock_timedrdlock(&l, &far_away) == 0);
    use(x);
    pthread_rwlock_unlock(&l);
    MUST(pthread_rwlock_clockrdlock(&l, CLOCK_REALTIME, &far_away) == 0);
    use(x);
    pthread_rwlock_unlock(&l);
    return NULL;
}

int main(void)
{
    pthread_rwlock_init(&l, NULL);
    both(first, second);
    pthread_rwlock_destroy(&l);
    return 0;
}
