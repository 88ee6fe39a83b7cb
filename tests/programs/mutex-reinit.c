// A mutex destroyed and made anew at the same address starts without a past: the second life does not inherit
// the order of the first.
#include "invisible.h"

pthread_mutex_t m;
int x;

THREAD(first)
{
    pthread_mutex_init(&m, NULL);
    pthread_mutex_lock(&m);
    x = 1; // RACE a:write
    pthread_mutex_unlock(&m);
    pthread_mutex_destroy(&m); // RACE b:write
    mark();
    after(2);
    return NULL;
}

THREAD(second)
{
    pthread_mutex_t *own = &m;

    after(1);
    __asm__ volatile("" : "+r"(own));
    pthread_mutex_init(own, NULL); // RACE b:write
    pthread_mutex_lock(own);
    x = 2; // RACE a:write
    pthread_mutex_unlock(own);
    mark();
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
