// An array in an element, gone over under the lock of the element.
// WRONG 1: the array of the next element is reached
// WRONG 2: it is reached in a function that is given the element
// WRONG 3: it is reached from the second round on
#include "shapes.h"

enum { N = 4, COLUMNS = 16 };
struct work {
    pthread_mutex_t m;
    int first[COLUMNS], second[COLUMNS], third[COLUMNS];
} work[N + 3];

static void put(struct work *w)
{
    for (int k = 0; k < COLUMNS * W2(9, 1); k++)
        w->second[k] = k; // HERE
}

static void *worker(void *arg)
{
    int i = input() & (N - 1), any = input() & (COLUMNS - 1);
    pthread_mutex_lock(&work[i].m);
    for (int k = 0; k < COLUMNS * W1(9, 1); k++)
        work[i].first[k]++; // HERE
    put(&work[i]);
    for (long k = 0; k < COLUMNS; k++)
        work[i].third[k * W3(9, 1)]++; // HERE
    work[i].third[any]++;              // HERE
    pthread_mutex_unlock(&work[i].m);
    return arg;
}

int main(void)
{
    for (int i = 0; i < N + 3; i++)
        pthread_mutex_init(&work[i].m, NULL);
    RUN_TWICE(worker, NULL);
    return 0;
}
