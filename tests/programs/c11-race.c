// C11 threads race like any other: one side locks, the other does not.
// TSAN: it does not know threads.h
#include <threads.h>

#include "invisible.h"

mtx_t m;
int x;

static int locked(void *arg)
{
    (void)arg;
    mtx_lock(&m);
    x = 1; // RACE a:write
    mtx_unlock(&m);
    mark();
    return 0;
}

static int unlocked(void *arg)
{
    (void)arg;
    after(1);
    x = 2; // RACE a:write
    return 0;
}

int main(void)
{
    thrd_t a, b;

    mtx_init(&m, mtx_plain);
    thrd_create(&a, locked, NULL);
    thrd_create(&b, unlocked, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
