/*
 * queue.c - producers hand heap-allocated jobs to consumers through a bounded queue: one mutex, two
 * conditions.
 *
 * Half of the threads (at least one) produce, the others consume; with one thread there is one of each. A
 * job's memory passes from one thread to the other, which frees it.
 */
#include "kernel.h"

#define SLOTS 256
#define JOB_BYTES 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static unsigned char *slot[SLOTS];
static size_t put_at, taken; /* ever growing; put_at - taken jobs are queued. Under lock. */
static size_t jobs;          /* to be produced and consumed by all together */
static uint64_t sums[MAX_THREADS + 1];
static unsigned producers;

static void put(unsigned char *job)
{
    pthread_mutex_lock(&lock);
    while (put_at - taken == SLOTS)
        pthread_cond_wait(&not_full, &lock);
    slot[put_at++ % SLOTS] = job;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

/* NULL when everything has been taken. */
static unsigned char *take(void)
{
    unsigned char *job = NULL;

    pthread_mutex_lock(&lock);
    while (put_at == taken && taken < jobs)
        pthread_cond_wait(&not_empty, &lock);
    if (taken < jobs) {
        job = slot[taken++ % SLOTS];
        pthread_cond_signal(&not_full);
        if (taken == jobs)
            pthread_cond_broadcast(&not_empty);
    }
    pthread_mutex_unlock(&lock);
    return job;
}

static void produce(unsigned me)
{
    for (size_t i = me; i < jobs; i += producers) {
        uint64_t state = i;
        unsigned char *job = malloc(JOB_BYTES);
        if (!job)
            kernel_fail("out of memory");
        for (unsigned b = 0; b < JOB_BYTES; b++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            job[b] = (unsigned char)(state >> 56);
        }
        put(job);
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    unsigned char *job;

    if (me < producers) {
        produce(me);
        return NULL;
    }
    while ((job = take())) {
        uint64_t sum = 0;
        for (unsigned b = 0; b < JOB_BYTES; b++)
            sum = kernel_mix(sum, job[b]);
        sums[me] += sum;
        free(job);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    if (n_threads == 1)
        n_threads = 2;
    producers = n_threads / 2;
    jobs = kernel_scaled(300 * 1000);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++)
        sum += sums[i];
    kernel_print(sum);
    return 0;
}
