// What is joined is something else.
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
    pthread_t u[8] = {0};
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    pthread_create(&u[0], NULL, thread, argv);
    for (int i = 0; i < 8; i++)
        pthread_join((argc > 1 ? u : t)[i], NULL);
    return x; // PAIR a
}
