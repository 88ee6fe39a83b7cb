// Each thread has a block of its own, which the creator keeps in an array, with the handle in it, or with more blocks.
// WRONG 1: the block is freed before the thread is joined
// WRONG 2: two threads are given one block
// WRONG 3: another block is used behind the join
// WRONG 4: the array is changed in between
// WRONG 5: a thread finds the block of another one
// WRONG 6: the block is made once
#include "shapes.h"

enum { N = 8 };
struct work {
    pthread_t handle;
    int count, *part;
} *table[N];
int x;

static void *worker(void *arg)
{
    struct work *w = arg;
    w->count++;              // HERE
    W5(table[1]->count++;, ) // HERE
    for (int k = 0; k < 4; k++)
        w->part[k] = k; // HERE
    __atomic_store_n(&x, 1, __ATOMIC_RELAXED);
    return arg;
}

static void *releasing(void *arg)
{
    struct work *w = arg;
    w->count = 1; // HERE
    free(w);
    return NULL;
}

int main(void)
{
    pthread_t t[N];
    int total = 0;
    W6(int *once = calloc(4, sizeof *once);, )
    for (int i = 0; i < N; i++) {
        struct work *w = malloc(sizeof *w);
        w->count = 0; // HERE
        w->part = W6(once, malloc(4 * sizeof *w->part));
        table[i] = w;
        pthread_create(&w->handle, NULL, worker, W2(table[0], w));
    }
    W4(table[2] = table[3];, )
    for (int i = 0; i < N; i++) {
        W1(free(table[i]);, ) // HERE
        pthread_join(table[i]->handle, NULL);
        total += table[W3((i + 1) % N, i)]->count; // HERE
        W1(, free(table[i]);)
    }
    x = 0;
    for (int i = 0; i < N; i++) {
        table[i] = malloc(sizeof *table[i]);
        table[i]->count = i; // HERE
        pthread_create(&t[i], NULL, releasing, table[W2(i / 2, i)]);
    }
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return total;
}
