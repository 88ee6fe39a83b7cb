// Between two releases the thread in the middle does nothing but learn; the second must pass that on.
// NO RACE
#include <semaphore.h>

#include "invisible.h"

pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER, k = PTHREAD_RWLOCK_INITIALIZER;
sem_t s;
int x;

THREAD(source)
{
    after(2);
    x = 1;
    sem_post(&s);
    mark();
    return NULL;
}

THREAD(middle)
{
    pthread_rwlock_rdlock(&l);
    pthread_rwlock_unlock(&l);
    pthread_rwlock_rdlock(&k);
    pthread_rwlock_unlock(&k);
    mark();
    after(3);
    MUST(sem_wait(&s) == 0);
    pthread_rwlock_rdlock(&k);
    pthread_rwlock_unlock(&k);
    mark();
    return NULL;
}

THREAD(sink)
{
    after(1);
    pthread_rwlock_wrlock(&k);
    pthread_rwlock_unlock(&k);
    mark();
    after(4);
    pthread_rwlock_wrlock(&k);
    x = 2;
    pthread_rwlock_unlock(&k);
    return NULL;
}

int main(void)
{
    pthread_t t;

    sem_init(&s, 0, 0);
    t = spawn(source, NULL);
    both(middle, sink);
    join(t);
    return 0;
}
