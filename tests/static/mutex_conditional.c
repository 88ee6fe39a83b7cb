// Locked on one way only.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add(int careful)
{
    if (careful)
        pthread_mutex_lock(&m);
    x++; // PAIR a
    if (careful)
        pthread_mutex_unlock(&m);
}

static void *thread(void *arg)
{
    add(arg != NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, argv[0]);
    add(argc > 1);
    pthread_join(t, NULL);
    return 0;
}
