// A trylock that succeeds acquires.
// NO RACE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int x;

THREAD(first)
{
    MUST(pthread_mutex_trylock(&m) == 0);
    x = 1;
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(pthread_mutex_trylock(&m) == 0);
    x++;
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
