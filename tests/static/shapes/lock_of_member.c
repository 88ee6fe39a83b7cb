// Locks and data in arrays of one structure, which is given by pointer: of a variable, of the heap, by an argument of a
// thread or of a function, by a pointer in memory.
// WRONG 1: the index changes under the lock
// WRONG 2: the pointer is another one under the lock
// WRONG 3: a function takes the lock of another structure
// WRONG 4: an access is longer than an element
// WRONG 5: main uses another constant
// WRONG 6: the pointer in memory is replaced while the threads run
#include "shapes.h"

enum { SIZE = 8 };
struct pool {
    pthread_mutex_t lock[SIZE];
    int data[SIZE];
};
struct store {
    long total;
    int data[2 * SIZE];
    pthread_mutex_t lock[2 * SIZE];
};
struct job {
    struct store *store;
    int rounds;
};
struct pool pool, other;
struct store spare;
struct job job;

static void add(struct pool *p, unsigned i, int n)
{
    pthread_mutex_lock(&W3((&other), p)->lock[i]);
    p->data[i] += n; // HERE
    pthread_mutex_unlock(&W3((&other), p)->lock[i]);
}

static void *of_variable(void *arg)
{
    struct pool *p = arg;
    unsigned i = (unsigned)input() % SIZE;
    pthread_mutex_lock(&p->lock[i]);
    p = W2(input() ? &other : p, p);
    i = W1((i + 1) % SIZE, i);
    p->data[i]++; // HERE
    pthread_mutex_unlock(&p->lock[i]);
    add(&pool, i, 2);
    return NULL;
}

static void *of_heap(void *arg)
{
    struct store *s = arg;
    unsigned i = (unsigned)input() % SIZE;
    pthread_mutex_lock(&s->lock[i]);
    s->data[i] = 1;                               // HERE
    W4(*(volatile long long *)&s->data[i] = 2, ); // HERE
    pthread_mutex_unlock(&s->lock[i]);
    return NULL;
}

static void *of_job(void *arg)
{
    struct job *j = arg;
    unsigned i = (unsigned)input() % SIZE;
    pthread_mutex_lock(&j->store->lock[i]);
    j->store->data[i]++; // HERE
    pthread_mutex_unlock(&j->store->lock[i]);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c, d, e;
    struct store *s = malloc(sizeof *s);
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_init(&pool.lock[i], NULL);
        pthread_mutex_init(&other.lock[i], NULL);
    }
    for (int i = 0; i < 2 * SIZE; i++)
        pthread_mutex_init(&s->lock[i], NULL);
    job.store = s;
    pthread_create(&a, NULL, of_variable, &pool);
    pthread_create(&b, NULL, of_variable, W2(&other, &pool));
    pthread_create(&c, NULL, of_heap, s);
    pthread_create(&d, NULL, of_heap, s);
    pthread_create(&e, NULL, of_job, &job);
    W6(job.store = &spare, );
    pthread_mutex_lock(&pool.lock[W5(3, 2)]);
    pool.data[2] = 0; // HERE
    pthread_mutex_unlock(&pool.lock[W5(3, 2)]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    pthread_join(d, NULL);
    return pthread_join(e, NULL);
}
