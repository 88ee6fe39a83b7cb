// One lock for each row of a table, and loops over its columns.
// WRONG 1: the columns go on to the next row
// WRONG 2: the lock is that of another row
// WRONG 3: the row changes under the lock
// WRONG 4: rows and columns are exchanged
// WRONG 5: the column is another one than that of the loop
// WRONG 6: the lock is released on the way
#include "shapes.h"

enum { N = 8 };
struct cell {
    int first, second;
};
struct store {
    pthread_mutex_t lock[N];
    long data[N + 1][N];
};
pthread_mutex_t locks[N], *held;
int table[N + 1][N], (*block)[N];
struct cell cells[N + 1][N];
struct store store;

static void *by_index(void *arg)
{
    unsigned i = (unsigned)input() % N, j = i;
    pthread_mutex_lock(&locks[W2((i + 1) % N, i)]);
    j = W3((unsigned)input() % N, i);
    for (int k = 0; k < N W1(+1, ); k++) {
        table[W4(k, j)][W5(k + 1, W4(j, k))]++; // HERE
        W6(pthread_mutex_unlock(&locks[i]);, )
    }
    table[j][0]++;                    // HERE
    for (long k = 1; k <= N - 2; k++) // inside of it
        table[j][k]--;                // HERE
    table[j][N - 1]++;                // HERE
    pthread_mutex_unlock(&locks[W2((i + 1) % N, i)]);
    return arg;
}

static void *by_constant(void *arg)
{
    pthread_mutex_lock(&locks[W2(3, 2)]);
    for (int k = 0; k < N; k++)
        table[2][k] = k; // HERE
    table[2][5] = 0;     // HERE
    pthread_mutex_unlock(&locks[W2(3, 2)]);
    return arg;
}

static void *of_members(void *arg)
{
    unsigned i = (unsigned)input() % N;
    pthread_mutex_lock(&locks[i]);
    for (unsigned k = 0; k < N W1(+1, ); k++)
        cells[W2((i + 1) % N, i)][k].second++; // HERE
    pthread_mutex_unlock(&locks[i]);
    return arg;
}

static void *of_block(void *arg)
{
    unsigned i = (unsigned)input() % N;
    pthread_mutex_lock(&held[i]);
    W6(pthread_mutex_unlock(&held[i]);, )
    for (int k = 0; k < N W1(+1, ); k++)
        block[W3(i / 2, i)][k]++; // HERE
    W6(return arg;, )
    pthread_mutex_unlock(&held[i]);
    return arg;
}

static void add(struct store *s, unsigned i)
{
    pthread_mutex_lock(&s->lock[i]);
    for (int k = 0; k < N W1(+1, ); k++)
        s->data[i W5(^1, )][k]++; // HERE
    pthread_mutex_unlock(&s->lock[i]);
}

static void *of_structure(void *arg)
{
    add(arg, (unsigned)input() % N);
    return NULL;
}

static void run(void *(*f)(void *), void *arg)
{
    RUN_TWICE(f, arg);
}

int main(void)
{
    held = calloc(N, sizeof *held);
    block = calloc(N + 1, sizeof *block);
    for (int i = 0; i < N; i++) {
        pthread_mutex_init(&locks[i], NULL);
        pthread_mutex_init(&held[i], NULL);
        pthread_mutex_init(&store.lock[i], NULL);
    }
    pthread_t a, b, c;
    pthread_create(&a, NULL, by_index, NULL);
    pthread_create(&b, NULL, by_index, NULL);
    pthread_create(&c, NULL, by_constant, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    run(of_members, NULL);
    run(of_block, NULL);
    run(of_structure, &store);
    return 0;
}
