// Not each round joins.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); // PAIR a:sound
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < 8; i++)
        if (argv[i])
            pthread_join(t[i], NULL);
    return x; // PAIR a
}
