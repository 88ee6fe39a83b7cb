// Loops that join what loops have created, in all the forms that loops have.
// WRONG 1: the last one is not joined
// WRONG 2: one thread is joined again and again
// WRONG 3: the handle of one thread is overwritten
// WRONG 4: the loop is left early
// WRONG 5: the step is another one
// WRONG 6: a thread is created again
#include "shapes.h"

enum { N = 8 };
int up, down, stepped, whiles, pairs, checked;

#define THREAD(x)                                  \
    static void *set_##x(void *arg)                \
    {                                              \
        __atomic_store_n(&x, 1, __ATOMIC_RELAXED); \
        return arg;                                \
    }
THREAD(up)      // HERE
THREAD(down)    // HERE
THREAD(stepped) // HERE
THREAD(whiles)  // HERE
THREAD(pairs)   // HERE
THREAD(checked) // HERE

int main(void)
{
    pthread_t t[N], u[N];
    int i, total = N;
    for (i = 0; i < total; i++)
        pthread_create(&t[i], NULL, set_up, NULL);
    W3(t[3] = t[2];, )
    for (int k = 0; k != N W1(-1, ); ++k)
        pthread_join(t[W2(0, k)], NULL);
    up = 0; // HERE

    for (i = 0; i < N; i++)
        pthread_create(&t[i], NULL, set_down, NULL);
    W6(pthread_create(&t[0], NULL, set_down, NULL);, )
    for (i = N - 1; i >= W1(1, 0); i--)
        pthread_join(t[i], NULL);
    down = 0; // HERE

    for (i = N - 1; i > 0; i -= 2)
        pthread_create(&t[i], NULL, set_stepped, NULL);
    for (unsigned k = 1; k < N; k += W5(4, 2))
        pthread_join(t[k], NULL);
    stepped = 0; // HERE

    i = 0;
    while (i < N) {
        pthread_create(&t[i], NULL, set_whiles, NULL);
        i++;
    }
    i = 0;
    do {
        pthread_join(t[i], NULL);
        W4(if (input()) break;, )
        i++;
    } while (i < N);
    whiles = 0; // HERE

    for (i = 0; i < N; i++) {
        pthread_create(&t[i], NULL, set_pairs, NULL);
        pthread_create(&u[i], NULL, set_pairs, NULL);
    }
    for (i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        pthread_join(W2(t, u)[i], NULL);
    }
    pairs = 0; // HERE

    for (int round = 0; round < 3; round++) {
        for (i = 0; i < N; i++)
            if (pthread_create(&t[i], NULL, set_checked, NULL) != 0)
                exit(1);
        for (i = 0; i < N; i++)
            if (pthread_join(t[i], NULL) != 0)
                exit(1);
        checked = 0; // HERE
    }
    return 0;
}
