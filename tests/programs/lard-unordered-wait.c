// The run-time system's condition variable works inside an unordered region: recursion, waiting and ownership
// are kept; what it protects is untracked, what the program does is not ordered by it.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

int program, ready;
static pthread_mutex_t lock;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

THREAD(waiter)
{
    dh_lard_system_begin();
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    while (!ready)
        pthread_cond_wait(&cond, &lock);
    MUST(pthread_mutex_unlock(&lock) == 0);
    MUST(pthread_mutex_unlock(&lock) != 0); /* not the owner any more */
    dh_lard_system_end();
    program = 2; // RACE a
    return NULL;
}

THREAD(signaller)
{
    program = 1; // RACE a
    dh_lard_system_begin();
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    dh_lard_system_end();
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    both(waiter, signaller);
    return 0;
}
