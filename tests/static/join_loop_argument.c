// As many as the caller says: the same value in both loops. If it is 0, neither runs.
#include <pthread.h>
#include <stdlib.h>

int x;

static void *thread(void *arg)
{
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); // NO PAIR
    return NULL;
}

__attribute__((noinline)) static int run(int n)
{
    pthread_t *t = malloc((size_t)n * sizeof *t);
    if (!t)
        return 1;
    for (int i = 0; i < n; i++)
        if (pthread_create(&t[i], NULL, thread, NULL))
            abort();
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    x = 1; // NO PAIR
    return 0;
}

int main(int argc, char **argv)
{
    return run(argc) + x; // NO PAIR
}
