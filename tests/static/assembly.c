// What inline assembly does is not looked at; that there is some is counted.
// ASSUMED inline-asm 1
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    __asm__ volatile("incl %0" : "+m"(x)); // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    x = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
