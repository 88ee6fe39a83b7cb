// One side takes the lock, the other forgot.
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
long balance;

THREAD(deposit)
{
    pthread_mutex_lock(&m);
    balance += 10; // RACE a
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

THREAD(audit)
{
    after(1);
    use(balance); // RACE a:read
    return NULL;
}

int main(void)
{
    both(deposit, audit);
    return 0;
}
