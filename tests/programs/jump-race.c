// After longjmp the race is reported on the right lines.
#include <setjmp.h>
#include <signal.h>

#include "invisible.h"

int x;

__attribute__((noinline)) static void fall(sigjmp_buf env, int n)
{
    if (n == 0)
        siglongjmp(env, 1);
    fall(env, n - 1);
    use(n);
}

__attribute__((noinline)) static void touch(void)
{
    x++; // RACE a
}

THREAD(worker)
{
    sigjmp_buf env;

    after(*(int *)arg);
    if (sigsetjmp(env, 1) == 0)
        fall(env, 30);
    touch();
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
