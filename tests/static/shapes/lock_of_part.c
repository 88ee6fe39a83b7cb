// Locks and data in arrays of one structure, which is an element of an array: by two indices, by a pointer and an index, in a
// function that is given them. And elements of a table, locked by a function of the program.
// WRONG 1: the inner index changes under the lock
// WRONG 2: the pointer goes on to the next element under the lock
// WRONG 3: the lock is that of another element
// WRONG 4: an access is longer than a number
// WRONG 5: the lock is that of a fixed inner index
// WRONG 6: the function locks another entry of the table
#include "shapes.h"

enum { SIZE = 8, PARTS = 4 };
struct pool {
    pthread_mutex_t lock[PARTS];
    int data[PARTS];
};
struct account {
    pthread_mutex_t lock;
    int balance;
};
struct pool pools[SIZE + 1];
struct account *table[SIZE];

static void add(struct pool *p, unsigned i)
{
    pthread_mutex_lock(&p->lock[W5(0, i)]);
    p->data[i]++; // HERE
    pthread_mutex_unlock(&p->lock[W5(0, i)]);
}

static void *by_pointer(void *arg)
{
    struct pool *p = &pools[(unsigned)input() % SIZE], *last = p;
    unsigned i = (unsigned)input() % PARTS, k = i;
    pthread_mutex_lock(&p->lock[k]);
    i = W1((i + 1) % PARTS, i);
    p = W2(p + 1, p);
    p->data[i]++;                                 // HERE
    W4(*(volatile long long *)&p->data[i] = 2, ); // HERE
    pthread_mutex_unlock(&last->lock[k]);
    add(p, i);
    add(arg, i);
    return NULL;
}

static void *by_indices(void *arg)
{
    unsigned j = (unsigned)input() % SIZE, i = (unsigned)input() % PARTS;
    pthread_mutex_lock(&pools[W3((j + 1) % SIZE, j)].lock[i]);
    pools[j].data[i]--; // HERE
    pthread_mutex_unlock(&pools[W3((j + 1) % SIZE, j)].lock[i]);
    return arg;
}

static void lock(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
}

static void *by_table(void *arg)
{
    unsigned i = (unsigned)input() % SIZE;
    lock(&table[W6((i + 1) % SIZE, i)]->lock);
    table[i]->balance++; // HERE
    pthread_mutex_unlock(&table[W6((i + 1) % SIZE, i)]->lock);
    return arg;
}

int main(void)
{
    pthread_t a, b, c, d, e;
    for (int i = 0; i < SIZE; i++) {
        for (int k = 0; k < PARTS; k++)
            pthread_mutex_init(&pools[i].lock[k], NULL);
        table[i] = malloc(sizeof *table[i]);
        pthread_mutex_init(&table[i]->lock, NULL);
    }
    pthread_create(&a, NULL, by_pointer, &pools[1]);
    pthread_create(&b, NULL, by_pointer, &pools[2]);
    pthread_create(&c, NULL, by_indices, NULL);
    pthread_create(&d, NULL, by_table, NULL);
    pthread_create(&e, NULL, by_table, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    pthread_join(d, NULL);
    return pthread_join(e, NULL);
}
