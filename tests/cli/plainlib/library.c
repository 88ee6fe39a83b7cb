/* library.c - compiled by another compiler: makes its locks at their first use, as GLib does. The order is in atomics that nobody
 * sees. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t *lock;
static pthread_rwlock_t *rwlock;
static pthread_mutex_t *filled;

static pthread_mutex_t *the_lock(void)
{
    pthread_mutex_t *found = __atomic_load_n(&lock, __ATOMIC_ACQUIRE), *made;

    if (found)
        return found;
    made = malloc(sizeof(*made));
    pthread_mutex_init(made, NULL);
    if (__atomic_compare_exchange_n(&lock, &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    pthread_mutex_destroy(made);
    free(made);
    return found;
}

static pthread_rwlock_t *the_rwlock(void)
{
    pthread_rwlock_t *found = __atomic_load_n(&rwlock, __ATOMIC_ACQUIRE), *made;

    if (found)
        return found;
    made = malloc(sizeof(*made));
    pthread_rwlock_init(made, NULL);
    if (__atomic_compare_exchange_n(&rwlock, &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    pthread_rwlock_destroy(made);
    free(made);
    return found;
}

/* Zeros are an unlocked one. */
static pthread_mutex_t *the_filled(void)
{
    pthread_mutex_t *found = __atomic_load_n(&filled, __ATOMIC_ACQUIRE), *made;

    if (found)
        return found;
    made = malloc(4096);
    memset(made, 0, 4096);
    if (__atomic_compare_exchange_n(&filled, &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    free(made);
    return found;
}

void library_call(int (*fn)(void))
{
    pthread_mutex_lock(the_filled());
    pthread_mutex_unlock(the_filled());
    pthread_mutex_lock(the_lock());
    fn();
    pthread_mutex_unlock(the_lock());
    pthread_rwlock_rdlock(the_rwlock());
    pthread_rwlock_unlock(the_rwlock());
}
