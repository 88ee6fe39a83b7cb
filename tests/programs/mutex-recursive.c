// A recursive mutex protects until its outermost unlock.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
long count;

static void add(int levels)
{
    pthread_mutex_lock(&m);
    if (levels > 0)
        add(levels - 1);
    count++;
    pthread_mutex_unlock(&m);
}

THREAD(worker)
{
    for (int i = 0; i < 100; i++)
        add(5);
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(count == 2 * 100 * 6);
    return 0;
}
