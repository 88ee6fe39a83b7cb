/*
 * hashjoin.c - a join of two tables by hashing, under one reader-writer lock: batches of the first table's
 * rows are put into a hash table exclusively, batches of the second's are looked up shared.
 *
 * The chains are in whatever order the schedule made; what the matches add up to does not depend on it. Now
 * and then a row is added while others look up, with a key that nobody looks for.
 */
#include "kernel.h"

#define ROWS (1u << 15)
#define PROBES (10u * 1000 * 1000)
#define BATCH 64
#define LATE 32 /* one batch of probes in so many inserts a row, too */

struct row {
    struct row *next;
    uint64_t key, value;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct row **bucket; /* under lock, with the rows they lead to */
static struct row *rows, *late;
static size_t n_rows, n_buckets, n_probes;
static pthread_barrier_t turn;
static uint64_t sums[MAX_THREADS], matches[MAX_THREADS];

static size_t hash(uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> 20) % n_buckets;
}

static void insert(struct row *r)
{
    struct row **head = &bucket[hash(r->key)];
    r->next = *head;
    *head = r;
}

static void build(size_t lo, size_t hi)
{
    for (size_t i = lo; i < hi; i += BATCH) {
        pthread_rwlock_wrlock(&lock);
        for (size_t k = i; k < hi && k < i + BATCH; k++)
            insert(&rows[k]);
        pthread_rwlock_unlock(&lock);
    }
}

static void probe(unsigned me, size_t lo, size_t hi)
{
    uint64_t sum = 0, found = 0;

    for (size_t i = lo; i < hi; i += BATCH) {
        pthread_rwlock_rdlock(&lock);
        for (uint64_t k = i; k < hi && k < i + BATCH; k++) {
            uint64_t state = k, key = kernel_random(&state) % n_rows;
            for (const struct row *r = bucket[hash(key)]; r; r = r->next)
                if (r->key == key) {
                    sum += r->value ^ k;
                    found++;
                }
        }
        pthread_rwlock_unlock(&lock);
        if (i / BATCH % LATE == 0) {
            struct row *r = &late[i / BATCH / LATE];
            r->key = n_rows + i;
            pthread_rwlock_wrlock(&lock);
            insert(r);
            pthread_rwlock_unlock(&lock);
        }
    }
    sums[me] = sum;
    matches[me] = found;
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    size_t lo, hi;

    kernel_share(n_rows, me, &lo, &hi);
    build(lo, hi);
    pthread_barrier_wait(&turn);
    kernel_share(n_probes / BATCH, me, &lo, &hi);
    probe(me, lo * BATCH, hi * BATCH);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 43, sum = 0, found = 0;

    kernel_args(argc, argv);
    n_rows = (size_t)ROWS * volume;
    n_buckets = n_rows / 2;
    n_probes = kernel_scaled(PROBES);
    rows = kernel_alloc(n_rows, sizeof(*rows));
    late = kernel_alloc(n_probes / BATCH / LATE + 1, sizeof(*late));
    bucket = kernel_alloc(n_buckets, sizeof(struct row *));
    for (size_t i = 0; i < n_rows; i++) {
        rows[i].key = kernel_random(&state) % n_rows;
        rows[i].value = kernel_random(&state);
    }
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++) {
        sum += sums[i];
        found += matches[i];
    }
    for (size_t b = 0; b < n_buckets; b++)
        for (const struct row *r = bucket[b]; r; r = r->next)
            found += 1 + (r->key & 7);
    kernel_print(kernel_mix(sum, found));
    free(bucket);
    free(late);
    free(rows);
    return 0;
}
