// Attempts to lock what another thread holds, and has initialised: they fail, and order nothing, but use the lock. Their thread
// was started first, so in a recording nothing but the attempts themselves says that they came later.
// TSAN: it does not look at a lock that was not acquired
#include <errno.h>
#include <semaphore.h>
#include <threads.h>

#include "invisible.h"

pthread_mutex_t mutex, timed;
pthread_rwlock_t read_lock, write_lock;
pthread_spinlock_t spin;
mtx_t c11;
sem_t sem, value;

THREAD(tries)
{
    static const struct timespec past;
    int left;

    after(1);
    MUST(pthread_mutex_trylock(&mutex) == EBUSY);              // RACE a:read
    MUST(pthread_mutex_timedlock(&timed, &past) == ETIMEDOUT); // RACE b:read
    MUST(pthread_rwlock_tryrdlock(&read_lock) == EBUSY);       // RACE c:read
    MUST(pthread_rwlock_trywrlock(&write_lock) == EBUSY);      // RACE d:read
    MUST(pthread_spin_trylock(&spin) == EBUSY);                // RACE e:read
    MUST(mtx_trylock(&c11) == thrd_busy);                      // RACE f:read
    MUST(sem_trywait(&sem) == -1 && errno == EAGAIN);          // RACE g:read
    MUST(sem_getvalue(&value, &left) == 0 && left == 1);       // RACE h:read
    mark();
    return NULL;
}

THREAD(holds)
{
    pthread_mutex_init(&mutex, NULL);       // RACE a:write
    pthread_mutex_init(&timed, NULL);       // RACE b:write
    pthread_rwlock_init(&read_lock, NULL);  // RACE c:write
    pthread_rwlock_init(&write_lock, NULL); // RACE d:write
    pthread_spin_init(&spin, 0);            // RACE e:write
    mtx_init(&c11, mtx_plain);              // RACE f:write
    sem_init(&sem, 0, 0);                   // RACE g:write
    sem_init(&value, 0, 1);                 // RACE h:write
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&timed);
    pthread_rwlock_wrlock(&read_lock);
    pthread_rwlock_rdlock(&write_lock);
    pthread_spin_lock(&spin);
    mtx_lock(&c11);
    mark();
    after(2);
    mtx_unlock(&c11);
    pthread_spin_unlock(&spin);
    pthread_rwlock_unlock(&write_lock);
    pthread_rwlock_unlock(&read_lock);
    pthread_mutex_unlock(&timed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    both(tries, holds);
    return 0;
}
