// A release with nothing before it publishes nothing new; what its thread does afterwards is still to come.
#include "invisible.h"

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER, k = PTHREAD_RWLOCK_INITIALIZER;
int x;

THREAD(first)
{
    pthread_rwlock_rdlock(&l);
    pthread_rwlock_unlock(&l);
    pthread_rwlock_rdlock(&k);
    pthread_rwlock_unlock(&k);
    mark();
    after(2);
    x = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_rwlock_wrlock(&k);
    pthread_rwlock_unlock(&k);
    mark();
    after(3);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
