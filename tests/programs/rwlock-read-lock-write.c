// A read lock does not protect a write.
#include "invisible.h"

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
int hits;

THREAD(worker)
{
    after(*(int *)arg);
    pthread_rwlock_rdlock(&l);
    hits++; // RACE a
    pthread_rwlock_unlock(&l);
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
