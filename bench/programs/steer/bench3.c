/*
 * bench3.c - RaceMob (SOSP 2013), figure 7, of which the caption says that it is similar to bench2. Here the
 * accidental order goes through a semaphore, that nobody waits at who reads x, and a lock held for reading.
 */
#include "../program.h"

#include <semaphore.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t posted;
static int version; /* lock */
static int x;

THREAD(t0)
{
    x = 1; // RACE x
    sem_post(&posted);
    return NULL;
}

THREAD(t2)
{
    int seen;

    after(1);
    pthread_rwlock_rdlock(&lock);
    seen = version;
    pthread_rwlock_unlock(&lock);
    use(seen + x); // RACE x
    return NULL;
}

THREAD(t3)
{
    sem_wait(&posted);
    pthread_rwlock_wrlock(&lock);
    version++;
    pthread_rwlock_unlock(&lock);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t waiting;

    sem_init(&posted, 0, 0);
    waiting = spawn(t3, NULL);
    both(t0, t2);
    join(waiting);
    printf("bench3: version %d\n", version);
    return 0;
}
