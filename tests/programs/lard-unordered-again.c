// A lock that the program took and its run-time system gave back is free: when it is taken again it orders as ever,
// and it protects nothing in between.
// TSAN: it does not know the interface
#include <deadheat/lard.h>

#include "invisible.h"

long ordered, unprotected, later;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

THREAD(first)
{
    pthread_mutex_lock(&lock);
    dh_lard_unordered_begin();
    pthread_mutex_unlock(&lock);
    dh_lard_unordered_end();
    unprotected = 1; // RACE a
    pthread_mutex_lock(&lock);
    ordered = 1;
    pthread_mutex_unlock(&lock);
    mark();
    after(2);
    later = 2; // RACE b
    return NULL;
}

THREAD(second)
{
    after(1);
    unprotected = 3; // RACE a
    later = 3;       // RACE b
    pthread_mutex_lock(&lock);
    ordered = 2;
    pthread_mutex_unlock(&lock);
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
