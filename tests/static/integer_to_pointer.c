// An address on its way through an integer.
#include <pthread.h>
#include <stdint.h>

int x, y;

static void *thread(void *arg)
{
    uintptr_t bits = (uintptr_t)arg;
    int *p = (int *)(bits & ~(uintptr_t)1);
    *p = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, (void *)((uintptr_t)&x | 1));
    x = 2; // PAIR a
    y = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
