// A thread hands on what it learned from one lock by another, and records nothing meanwhile. What it does afterwards
// it has not handed on.
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
int learned, later, seen;

THREAD(first)
{
    pthread_mutex_lock(&m);
    learned = 1;
    pthread_mutex_unlock(&m);
    mark();
    return NULL;
}

THREAD(second)
{
    for (int i = 0; i < 2; i++) {
        after(i);
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        pthread_mutex_lock(&n);
        pthread_mutex_unlock(&n);
    }
    mark();
    after(3);
    later = 1; // RACE a:write
    mark();
    return NULL;
}

THREAD(third)
{
    after(2);
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    seen = learned;
    mark();
    after(4);
    seen = later; // RACE a:read
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(first, NULL), b = spawn(second, NULL), c = spawn(third, NULL);
    join(a);
    join(b);
    join(c);
    return 0;
}
