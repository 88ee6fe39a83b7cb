// A trylock that fails orders nothing.
#include <errno.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

THREAD(first)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    x = 1; // RACE a:write
    mark();
    after(2);
    pthread_mutex_unlock(&m);
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(pthread_mutex_trylock(&m) == EBUSY);
    use(x); // RACE a:read
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
