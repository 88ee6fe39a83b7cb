// A library with a counter: one way in takes the lock, the other does not.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int library_count;

void counter_add(void)
{
    pthread_mutex_lock(&m);
    library_count++;
    pthread_mutex_unlock(&m);
}

void counter_add_unlocked(void)
{
    library_count++; // RACE a
}
