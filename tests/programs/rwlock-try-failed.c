// Failed tries and timeouts on a read-write lock order nothing.
#include <errno.h>
#include <time.h>

#include "invisible.h"

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int x;
static const struct timespec past = {1, 0};

THREAD(first)
{
    pthread_rwlock_wrlock(&l);
    x = 1; // RACE a:write
    mark();
    after(2);
    pthread_rwlock_unlock(&l);
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(pthread_rwlock_tryrdlock(&l) == EBUSY);
    MUST(pthread_rwlock_timedrdlock(&l, &past) == ETIMEDOUT);
    use(x); // RACE a:read
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
