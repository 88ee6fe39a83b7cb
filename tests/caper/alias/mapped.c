/* Memory that is mapped where other memory was has no history; one that is unmapped was accessed. pairs: A-F; not: A-B B-F */
#include "alias.h"
#include <sys/mman.h>
int *volatile shared[2];
volatile int done, left = 0, right = 1;
static void *first(void *arg)
{
    while (!shared[left])
        ;
    ((volatile int *)shared[left])[1500] = 1; /* A */
    done = 1;
    return arg;
}
static void *second(void *arg)
{
    while (!shared[right])
        ;
    ((volatile int *)shared[right])[1500] = 2; /* B */
    return arg;
}
__attribute__((noinline)) static void *fresh(void *at)
{
    return mmap(at, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int main(void)
{
    pthread_t t[2];
    int *was = fresh(NULL);
    pthread_create(&t[0], NULL, first, NULL);
    pthread_create(&t[1], NULL, second, NULL);
    shared[left] = was;
    while (!done)
        ;
    munmap(was, 8192); /* F */
    int *now = fresh(was);
    shared[right] = now;
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return now == was ? 0 : 1; /* the test is of use only if it is the same address */
}
