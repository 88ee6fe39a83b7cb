// Destructors of thread-specific data are code of their threads and race like it.
#include "invisible.h"

pthread_key_t key;
int freed;

static void destroy(void *value)
{
    after((int)(long)value - 1);
    freed++; // RACE a
    mark();
}

THREAD(worker)
{
    pthread_setspecific(key, arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_key_create(&key, destroy);
    a = spawn(worker, (void *)1);
    b = spawn(worker, (void *)2);
    join(a);
    join(b);
    return 0;
}
