// A block is shown by an instruction that the compiler does not look into: nothing says what orders it.
#include <pthread.h>
#include <stdlib.h>

static int *shown;

static void put(int *n)
{
    __asm__ volatile("movq %1, %0" : "=m"(shown) : "r"(n) : "memory");
}

static void *thread(void *arg)
{
    int *n;
    __asm__ volatile("movq %1, %0" : "=r"(n) : "m"(shown) : "memory");
    if (n)
        *n = 1; // PAIR a
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    int *n = malloc(sizeof *n);
    if (!n)
        abort();
    *(volatile int *)n = 2; // PAIR a
    put(n);
    return 0;
}
