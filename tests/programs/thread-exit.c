// pthread_exit from deep inside, with clean-up handlers; join sees all of it.
// NO RACE
#include "invisible.h"

int x, cleaned;

static void cleanup(void *arg)
{
    cleaned += *(int *)arg;
}

__attribute__((noinline)) static void deep(int n)
{
    if (n == 0) {
        x = 3;
        pthread_exit(&x);
    }
    deep(n - 1);
    x = 4;
}

THREAD(child)
{
    int two = 2;

    pthread_cleanup_push(cleanup, &two);
    deep(20);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    int *result = join(spawn(child, NULL));

    MUST(result == &x && x == 3 && cleaned == 2);
    x = 0;
    cleaned = 0;
    return 0;
}
