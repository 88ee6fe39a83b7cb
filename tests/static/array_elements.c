// Elements of one array are told apart as long as all their numbers are written down.
#include <pthread.h>

int a[4];
int b[4];

static void *thread(void *arg)
{
    a[0] = 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    a[1] = 2; // NO PAIR
    b[0] = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
