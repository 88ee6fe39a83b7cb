/* Compiled four times, as BY. */
#include <pthread.h>

extern int shared_by_all, guarded;
extern pthread_mutex_t guard;

void BY(void)
{
    shared_by_all++;
    pthread_mutex_lock(&guard);
    guarded++;
    pthread_mutex_unlock(&guard);
}
