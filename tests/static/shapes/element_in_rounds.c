// The loop that creates is run again and again, but only when all have been joined; and two loops share an array.
// WRONG 1: not all have been joined before the next round
// WRONG 2: the two loops overlap
// WRONG 3: the second loop begins before the first one's threads
// WRONG 4: a round is begun again without the join
// WRONG 5: the index is used when its loop has ended
#include "shapes.h"

enum { N = 8 };
int x[N], y[N + 1];

static void *thread(void *arg)
{
    x[(long)arg]++; // HERE
    return NULL;
}

static void *low(void *arg)
{
    y[(long)arg] = 1; // HERE
    return NULL;
}

static void *high(void *arg)
{
    y[(long)arg W3(-1, )] = 2; // HERE
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    for (int round = 0; round < 3; round++) {
        for (long i = 0; i < N; i++) {
            x[i] = 0; // HERE
            pthread_create(&t[i], NULL, thread, (void *)i);
        }
        W4(if (input()) continue;, )
        for (int i = 0; i < N W1(-1, ); i++)
            pthread_join(t[i], NULL);
    }
    long k;
    for (k = 0; k < 4 W2(+1, ); k++)
        pthread_create(&t[k], NULL, low, (void *)k);
    for (long i = 4; i < N; i++)
        pthread_create(&t[i], NULL, high, (void *)i);
    y[W5(k, N)] = 3; // HERE
    return 0;
}
