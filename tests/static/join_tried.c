// pthread_tryjoin_np need not join.
// FLAGS -O1 -D_GNU_SOURCE
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_tryjoin_np(t, NULL);
    x = 2; // PAIR a
    return 0;
}
