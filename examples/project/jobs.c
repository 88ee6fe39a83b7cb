/*
 * jobs.c - see jobs.h. `count` is changed after the lock is dropped: that is the race.
 */
#include "jobs.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, count;

void jobs_submit(int amount)
{
    pthread_mutex_lock(&lock);
    total += amount;
    pthread_mutex_unlock(&lock);
    count++;
}

int jobs_total(void)
{
    pthread_mutex_lock(&lock);
    int sum = total;
    pthread_mutex_unlock(&lock);
    return sum;
}

int jobs_count(void)
{
    return count;
}
