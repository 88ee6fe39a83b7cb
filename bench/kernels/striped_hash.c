/*
 * striped_hash.c - a chained hash table of counters, one mutex for each stripe of buckets.
 *
 * Short critical sections on many locks. The final counts do not depend on the schedule; the order within a
 * chain does, so the checksum is a plain sum over entries.
 */
#include "kernel.h"

#define BUCKETS (1u << 14)
#define STRIPES 64
#define KEYS (1u << 15)

struct entry {
    struct entry *next;
    uint64_t key;
    uint64_t count;
};

static struct entry *bucket[BUCKETS];
static pthread_mutex_t stripe[STRIPES];
static size_t operations;

static void add(uint64_t key)
{
    unsigned b = (unsigned)(key * 0x9e3779b97f4a7c15u >> 32) % BUCKETS;
    struct entry *e;

    pthread_mutex_lock(&stripe[b % STRIPES]);
    for (e = bucket[b]; e && e->key != key; e = e->next)
        continue;
    if (!e) {
        e = kernel_alloc(1, sizeof(*e));
        e->key = key;
        e->next = bucket[b];
        bucket[b] = e;
    }
    e->count++;
    pthread_mutex_unlock(&stripe[b % STRIPES]);
}

static void *body(void *index)
{
    uint64_t state = (uint64_t)(uintptr_t)index;

    for (size_t i = 0; i < operations; i++)
        add(kernel_random(&state) % KEYS);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    operations = kernel_scaled(6u * 1000 * 1000);
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripe[i], NULL);
    kernel_run(body);
    for (unsigned b = 0; b < BUCKETS; b++)
        while (bucket[b]) {
            struct entry *e = bucket[b];
            sum += kernel_mix(e->key, e->count);
            bucket[b] = e->next;
            free(e);
        }
    kernel_print(sum);
    return 0;
}
