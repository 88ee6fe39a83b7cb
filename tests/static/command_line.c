// The arguments of main are memory that threads can share.
#include <pthread.h>

static char **arguments;

static void *thread(void *arg)
{
    arguments[1][0] = 'x'; // PAIR a
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    (void)argc;
    arguments = argv; // NO PAIR
    pthread_create(&a, NULL, thread, NULL);
    pthread_create(&b, NULL, thread, NULL);
    pthread_join(a, NULL);
    return pthread_join(b, NULL);
}
