/* realloc ends a block, as free does, and begins another. pairs: A-R; not: A-B B-R */
#include "alias.h"
int *volatile shared[2];
volatile int done, left = 0, right = 1;
static void *first(void *arg)
{
    while (!shared[left])
        ;
    *(volatile int *)shared[left] = 1; /* A */
    done = 1;
    return arg;
}
static void *second(void *arg)
{
    while (!shared[right])
        ;
    *(volatile int *)shared[right] = 2; /* B */
    return arg;
}
int main(void)
{
    pthread_t t[2];
    int *was = malloc(1000);
    unsigned long address = (unsigned long)was;
    pthread_create(&t[0], NULL, first, NULL);
    pthread_create(&t[1], NULL, second, NULL);
    shared[left] = was;
    while (!done)
        ;
    int *now = realloc(was, 900); /* R */
    shared[right] = now;
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return (unsigned long)now == address ? 0 : 1; /* the test is of use only if it is the same address */
}
