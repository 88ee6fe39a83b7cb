// Each thread has every n-th element; its number is made narrower on the way.
// WRONG 1: the step is less than the number of threads
// WRONG 2: the number of the thread is cut off
// WRONG 3: two threads have one number
// WRONG 4: the step is cut off
// WRONG 5: the index is cut off
// WRONG 6: the next element is written, too
#include "shapes.h"

enum { TEAM = 400, SIZE = 4096 };
int n, fixed[SIZE], *x;

static void *of_constants(void *arg)
{
    long i = (long)arg;
    for (int k = W2((unsigned char)i, W3(i / 2, i)); k < SIZE;
         k += W1(TEAM - 1, W4((signed char)TEAM, TEAM))) {
        fixed[W5((short)(k * 16), k)]++; // HERE
        W6(fixed[k + 1]++, );            // HERE
    }
    return NULL;
}

static void *of_memory(void *arg)
{
    long i = (long)arg;
    for (int k = W2((short)i, W3((int)i & ~1, i)); k < 1 << 20; k += W1(n - 1, W4((short)n, n))) {
        x[W5((unsigned short)k, k)]++; // HERE
        W6(x[k + 1]++, );              // HERE
    }
    return NULL;
}

int main(void)
{
    n = input() & 0x3ffff;
    x = calloc(1 << 21, sizeof *x);
    pthread_t t[TEAM], *u = malloc((size_t)n * sizeof *u);
    for (long i = 0; i < TEAM; i++)
        pthread_create(&t[i], NULL, of_constants, (void *)i);
    for (int i = 0; i < TEAM; i++)
        pthread_join(t[i], NULL);
    for (long i = 0; i < n; i++)
        pthread_create(&u[i], NULL, of_memory, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(u[i], NULL);
    return 0;
}
