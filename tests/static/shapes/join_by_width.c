// The loop that creates and the loop that joins count with numbers of different width.
// WRONG 1: the last one is not joined
// WRONG 2: the number is cut off before it is compared
// WRONG 3: a negative number is a large one for the loop that creates
// WRONG 4: the number changes before the threads are joined
// WRONG 5: the index is too narrow for the number
// WRONG 6: the joins begin with the second thread
#include "shapes.h"

enum { MAX = 1 << 16 };
int wide_first, wide_second, from_long, in_memory, at_end, total;
pthread_t t[MAX];

#define THREAD(x)                                  \
    static void *set_##x(void *arg)                \
    {                                              \
        __atomic_store_n(&x, 1, __ATOMIC_RELAXED); \
        return arg;                                \
    }
THREAD(wide_first)  // HERE
THREAD(wide_second) // HERE
THREAD(from_long)   // HERE
THREAD(in_memory)   // HERE
THREAD(at_end)      // HERE

int main(void)
{
    int n = input() % MAX;
    long many = input() % MAX;
    total = input() % MAX;

    for (long i = 0; i < W3((unsigned)n, n); i++)
        pthread_create(&t[i], NULL, set_wide_first, NULL);
    W4(n = input();, )
    for (int i = W6(1, 0); i < W1(n - 1, W2((short)n, n)); i++)
        pthread_join(t[i], NULL);
    wide_first = 0; // HERE

    for (int i = 0; i < n; i++)
        pthread_create(&t[i], NULL, set_wide_second, NULL);
    for (long i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    wide_second = 0; // HERE

    for (W5(signed char, long) i = 0; i < many; i++)
        pthread_create(&t[i], NULL, set_from_long, NULL);
    for (int i = 0; i < W2((int)many, many); i++)
        pthread_join(t[i], NULL);
    from_long = 0; // HERE

    for (W3(long, int) i = 0; i < W3((unsigned)total, total); i++)
        pthread_create(&t[i], NULL, set_in_memory, NULL);
    W4(total--;, )
    for (long i = 0; i < total; i++)
        pthread_join(t[i], NULL);
    in_memory = 0; // HERE

    long i = 0;
    int k = 0;
    do {
        pthread_create(&t[i], NULL, set_at_end, NULL);
    } while (++i < n);
    do {
        pthread_join(t[k], NULL);
    } while (++k < n);
    at_end = 0; // HERE
    return 0;
}
