// Destructors of thread-specific data run in the thread and before the join.
// NO RACE
#include "invisible.h"

pthread_key_t key;
int sum[2];

static void destroy(void *value)
{
    *(int *)value += 10;
}

THREAD(worker)
{
    int *mine = &sum[(long)arg];

    *mine = 1;
    pthread_setspecific(key, mine);
    MUST(pthread_getspecific(key) == mine);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_key_create(&key, destroy);
    a = spawn(worker, (void *)0);
    b = spawn(worker, (void *)1);
    join(a);
    join(b);
    MUST(sum[0] == 11 && sum[1] == 11);
    return 0;
}
