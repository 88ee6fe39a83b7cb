// Joined in a loop what a loop created: both count to the same number.
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    return x; // NO PAIR
}
