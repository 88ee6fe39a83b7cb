// FLAGS -O0
// Loops that join what loops have created: bounds in memory that nothing writes meanwhile, handles in structures, arrays of
// any kind, loops that begin at 1.
#include <pthread.h>
#include <stdlib.h>

int x, y, z, v, threads = 4, limit = 6;
struct worker {
    int id;
    pthread_t handle;
    long state;
} workers[8];
pthread_t first[8];

static void *one(void *arg)
{
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); // NO PAIR
    return arg;
}

static void *two(void *arg)
{
    __atomic_fetch_add(&y, 1, __ATOMIC_RELAXED); // NO PAIR
    return arg;
}

static void *three(void *arg)
{
    __atomic_fetch_add(&z, 1, __ATOMIC_RELAXED); // NO PAIR
    return arg;
}

static void *four(void *arg)
{
    __atomic_fetch_add(&v, 1, __ATOMIC_RELAXED); // NO PAIR
    return arg;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        threads = atoi(argv[1]);
    for (int i = 0; i < threads; i++)
        pthread_create(&workers[i].handle, NULL, one, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].handle, NULL);
    x = 1; // NO PAIR

    for (int i = 1; i <= argc; i++)
        pthread_create(&first[i], NULL, two, NULL);
    for (int k = 1; k <= argc; k++)
        pthread_join(first[k], NULL);
    y = 1; // NO PAIR

    pthread_t many[argc];
    for (int i = 0; argc > i; i++)
        pthread_create(&many[i], NULL, three, NULL);
    for (int i = 0; argc > i; i++)
        pthread_join(many[i], NULL);
    z = 1; // NO PAIR

    pthread_t last[8] = {0};
    for (int i = 0; i < limit; i++)
        pthread_create(last + i, NULL, four, NULL);
    for (int i = 0; i < limit; i++)
        if (pthread_join(last[i], NULL) != 0)
            abort();
    v = 1; // NO PAIR
    return 0;
}
