// Each object is initialised and used by one thread, and then used by another that nothing has told of it. What it orders, it
// orders from then on, but not its own initialisation.
// TSAN: it does not know C11 mutexes, and takes semaphores and spin locks for ordered with their initialisation
#include <semaphore.h>
#include <threads.h>

#include "invisible.h"

pthread_mutex_t mutex, tried;
pthread_rwlock_t read_lock, write_lock;
pthread_spinlock_t spin;
mtx_t c11;
sem_t sem;
int behind_mutex, behind_rwlock;

THREAD(first)
{
    pthread_mutex_init(&mutex, NULL);       // RACE a:write
    pthread_mutex_init(&tried, NULL);       // RACE b:write
    pthread_rwlock_init(&read_lock, NULL);  // RACE c:write
    pthread_rwlock_init(&write_lock, NULL); // RACE d:write
    pthread_spin_init(&spin, 0);            // RACE e:write
    mtx_init(&c11, mtx_plain);              // RACE f:write
    sem_init(&sem, 0, 0);                   // RACE g:write

    pthread_mutex_lock(&mutex);
    behind_mutex = 1;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&tried);
    pthread_mutex_unlock(&tried);
    pthread_rwlock_wrlock(&read_lock);
    behind_rwlock = 1;
    pthread_rwlock_unlock(&read_lock);
    pthread_rwlock_wrlock(&write_lock);
    pthread_rwlock_unlock(&write_lock);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    mtx_lock(&c11);
    mtx_unlock(&c11);
    sem_post(&sem);
    mark();
    return NULL;
}

/* Each in a thread of its own: what one has ordered would order the others. */
THREAD(locks)
{
    after(1);
    pthread_mutex_lock(&mutex); // RACE a:read
    use(behind_mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

THREAD(tries)
{
    after(1);
    MUST(pthread_mutex_trylock(&tried) == 0); // RACE b:read
    pthread_mutex_unlock(&tried);
    return NULL;
}

THREAD(reads)
{
    after(1);
    pthread_rwlock_rdlock(&read_lock); // RACE c:read
    use(behind_rwlock);
    pthread_rwlock_unlock(&read_lock);
    return NULL;
}

THREAD(writes)
{
    after(1);
    pthread_rwlock_wrlock(&write_lock); // RACE d:read
    pthread_rwlock_unlock(&write_lock);
    return NULL;
}

THREAD(spins)
{
    after(1);
    pthread_spin_lock(&spin); // RACE e:read
    pthread_spin_unlock(&spin);
    return NULL;
}

THREAD(locks_c11)
{
    after(1);
    mtx_lock(&c11); // RACE f:read
    mtx_unlock(&c11);
    return NULL;
}

THREAD(waits)
{
    after(1);
    sem_wait(&sem); // RACE g:read
    return NULL;
}

int main(void)
{
    void *(*const all[])(void *) = {first, locks, tries, reads, writes, spins, locks_c11, waits};
    enum { N = sizeof(all) / sizeof(all[0]) };
    pthread_t t[N];

    for (int i = 0; i < N; i++)
        t[i] = spawn(all[i], NULL);
    for (int i = 0; i < N; i++)
        join(t[i]);
    return 0;
}
