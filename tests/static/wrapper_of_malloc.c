// Blocks from a wrapper are told apart by who called it.
#include <pthread.h>
#include <stdlib.h>

__attribute__((noinline)) static void *xmalloc(size_t n)
{
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}

static void *thread(void *arg)
{
    int *p = arg;
    *p = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    int *given = xmalloc(sizeof *given);
    int *kept = xmalloc(sizeof *kept);
    pthread_create(&t, NULL, thread, given);
    *given = 2; // PAIR a
    *kept = 2;  // NO PAIR
    pthread_join(t, NULL);
    return *given + *kept; // NO PAIR
}
