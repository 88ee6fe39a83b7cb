// Elements that a table leads to, which is read each time: of a variable, of a structure, of the heap. And locks that elements
// lead to.
// WRONG 1: an entry is replaced while the threads run
// WRONG 2: the index changes under the lock
// WRONG 3: the lock is reached by another index
// WRONG 4: an element is given another lock while the threads run
// WRONG 5: the element is another one in the next round of a loop, the lock is not
// WRONG 6: two members lead to two locks
#include "shapes.h"

enum { SIZE = 8 };
struct account {
    pthread_mutex_t lock;
    int balance;
};
struct item {
    pthread_mutex_t *lock, *other;
    int count;
};
struct bank {
    int open;
    struct account **accounts;
};
struct account *table[SIZE];
struct item items[SIZE];
struct bank bank;

static void *by_table(void *arg)
{
    unsigned i = (unsigned)input() % SIZE, k = W3((i + 1) % SIZE, i);
    pthread_mutex_lock(&table[k]->lock);
    i = W2((i + 1) % SIZE, i);
    table[i]->balance++; // HERE
    pthread_mutex_unlock(&table[i]->lock);
    return arg;
}

static void *by_loop(void *arg)
{
    for (unsigned i = 0; i < SIZE; i++) {
        if (W5(i == 0, 1))
            pthread_mutex_lock(&table[i]->lock);
        table[i]->balance = 0; // HERE
        if (W5(i == SIZE - 1, 1))
            pthread_mutex_unlock(&table[i]->lock);
    }
    return arg;
}

static void *by_structure(void *arg)
{
    struct bank *b = arg;
    unsigned i = (unsigned)input() % SIZE;
    pthread_mutex_lock(&b->accounts[i]->lock);
    b->accounts[i]->balance++; // HERE
    pthread_mutex_unlock(&b->accounts[i]->lock);
    return NULL;
}

static void *by_item(void *arg)
{
    struct item *it = &items[(unsigned)input() % SIZE];
    pthread_mutex_lock(it->lock);
    it->count++; // HERE
    pthread_mutex_unlock(it->lock);
    unsigned i = (unsigned)input() % SIZE;
    pthread_mutex_lock(W6(items[i].other, items[i].lock));
    items[i].count--; // HERE
    pthread_mutex_unlock(W6(items[i].other, items[i].lock));
    return arg;
}

int main(void)
{
    pthread_t a, b, c, d, e;
    bank.accounts = malloc(SIZE * sizeof *bank.accounts);
    for (int i = 0; i < SIZE; i++) {
        table[i] = malloc(sizeof *table[i]);
        pthread_mutex_init(&table[i]->lock, NULL);
        bank.accounts[i] = malloc(sizeof *table[i]);
        pthread_mutex_init(&bank.accounts[i]->lock, NULL);
        items[i].lock = malloc(sizeof *items[i].lock);
        pthread_mutex_init(items[i].lock, NULL);
        items[i].other = malloc(sizeof *items[i].lock);
        pthread_mutex_init(items[i].other, NULL);
    }
    pthread_create(&a, NULL, by_table, NULL);
    pthread_create(&b, NULL, by_loop, NULL);
    pthread_create(&c, NULL, by_structure, &bank);
    pthread_create(&d, NULL, by_structure, &bank);
    W1(table[1] = table[2], );
    pthread_create(&e, NULL, by_item, NULL);
    W4(items[1].lock = items[2].lock, );
    by_item(NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    pthread_join(d, NULL);
    return pthread_join(e, NULL);
}
