// Synchronisation of every kind in an unordered region orders nothing.
// TSAN: it does not know the interface
#include <deadheat/lard.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "invisible.h"

long by_mutex, by_atomic, by_semaphore, by_fence;
static atomic_int flag, fenced;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;

THREAD(first)
{
    by_mutex = 1;     // RACE a
    by_atomic = 1;    // RACE b
    by_semaphore = 1; // RACE c
    by_fence = 1;     // RACE d
    dh_lard_unordered_begin();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    atomic_store_explicit(&flag, 1, memory_order_release);
    sem_post(&semaphore);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&fenced, 1, memory_order_relaxed);
    dh_lard_unordered_end();
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    dh_lard_unordered_begin();
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    use(atomic_load_explicit(&flag, memory_order_acquire));
    sem_wait(&semaphore);
    use(atomic_load_explicit(&fenced, memory_order_relaxed));
    atomic_thread_fence(memory_order_acquire);
    dh_lard_unordered_end();
    by_mutex = 2;     // RACE a
    by_atomic = 2;    // RACE b
    by_semaphore = 2; // RACE c
    by_fence = 2;     // RACE d
    return NULL;
}

int main(void)
{
    sem_init(&semaphore, 0, 0);
    both(first, second);
    return 0;
}
