// Compiled by the plain compiler: its accesses are not seen, its locks are.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int unseen;

void plain_enter(void)
{
    pthread_mutex_lock(&m);
    unseen++;
}

void plain_leave(void)
{
    unseen++;
    pthread_mutex_unlock(&m);
}

void plain_unlocked(void)
{
    unseen++;
}

void plain_call(void (*back)(void *), void *arg)
{
    back(arg);
}
