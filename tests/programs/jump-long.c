// longjmp out of many frames, many times, in two threads: stacks stay right and nothing is confused.
// NO RACE
#include <setjmp.h>

#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
long count;

__attribute__((noinline)) static void fall(jmp_buf env, int n)
{
    if (n == 0)
        longjmp(env, 1);
    fall(env, n - 1);
    use(n);
}

THREAD(worker)
{
    for (volatile int i = 0; i < 500; i++) {
        jmp_buf env;

        if (setjmp(env) == 0)
            fall(env, 40);
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(count == 1000);
    return 0;
}
