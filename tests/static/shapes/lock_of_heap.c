// Arrays of the heap, made by main before there are threads: locks beside data, and elements that a function looks up.
// WRONG 1: an array is made anew while the threads run
// WRONG 2: the data are by another index
// WRONG 3: what was looked up is looked up again
// WRONG 4: what was looked up is not locked by one of the threads
#include "shapes.h"

struct element {
    pthread_mutex_t lock;
    int count;
} *table;
int n, *data;
pthread_mutex_t *locks;

static struct element *find(int key)
{
    return &table[(unsigned)key % (unsigned)n];
}

static void *thread(void *arg)
{
    int i = (int)(long)arg;
    pthread_mutex_lock(&locks[i]);
    data[i W2(/ 2, )] = 1; // HERE
    pthread_mutex_unlock(&locks[i]);
    struct element *e = find(i);
    pthread_mutex_lock(&e->lock);
    W3(e = find(input());, )
    e->count++; // HERE
    pthread_mutex_unlock(&find(i)->lock);
    return NULL;
}

static void *cleaner(void *arg)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&locks[i]);
        if (data[i])     // HERE
            data[i] = 0; // HERE
        pthread_mutex_unlock(&locks[i]);
        struct element *e = find(i);
        W4(, pthread_mutex_lock(&e->lock);)
        e->count = 0; // HERE
        W4(, pthread_mutex_unlock(&e->lock);)
    }
    return arg;
}

int main(void)
{
    n = input() & 63;
    pthread_t c, t[64];
    table = calloc(64, sizeof *table);
    data = calloc(64, sizeof *data);
    locks = malloc(64 * sizeof *locks);
    for (int i = 0; i < 64; i++) {
        pthread_mutex_init(&locks[i], NULL);
        pthread_mutex_init(&table[i].lock, NULL);
    }
    pthread_create(&c, NULL, cleaner, NULL);
    for (int i = 0; i < 64; i++)
        pthread_create(&t[i], NULL, thread, (void *)(long)i);
    W1(locks = calloc(64, sizeof *locks);, )
    for (int i = 0; i < 64; i++)
        pthread_join(t[i], NULL);
    return pthread_join(c, NULL);
}
