// Each side holds a lock, but not the same one.
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int x;

THREAD(first)
{
    pthread_mutex_lock(&m);
    x = 1; // RACE a:write
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_mutex_lock(&n);
    x = 2; // RACE a:write
    pthread_mutex_unlock(&n);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
