/* Memory that was freed, and is another block then, has no history but that it was freed. pairs: A-F; not: A-B B-F */
#include "alias.h"
int *volatile shared[2];
volatile int done, left = 0, right = 1;
__attribute__((noinline)) static int *fresh(void)
{
    return malloc(1000);
}
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
    int *was = fresh();
    pthread_create(&t[0], NULL, first, NULL);
    pthread_create(&t[1], NULL, second, NULL);
    shared[left] = was;
    while (!done)
        ;
    free(was); /* F */
    int *now = fresh();
    shared[right] = now;
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return now == was ? 0 : 1; /* the test is of use only if it is the same address */
}
