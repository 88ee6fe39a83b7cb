// A read lock of a lock that nothing says was initialised before.
#include "invisible.h"

pthread_rwlock_t l;

THREAD(maker)
{
    pthread_rwlock_init(&l, NULL); // RACE a:write
    mark();
    return NULL;
}

THREAD(reader)
{
    after(1);
    pthread_rwlock_rdlock(&l); // RACE a:read
    pthread_rwlock_unlock(&l);
    return NULL;
}

int main(void)
{
    both(maker, reader);
    return 0;
}
