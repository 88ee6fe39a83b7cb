/*
 * spsc_ring.c - single-producer single-consumer rings of C11 atomics, passing plain records around a circle.
 *
 * Thread i writes ring i and reads ring i - 1; records carry plain data that only the release store of the
 * tail and the acquire load of it order. With one thread the circle is closed on itself.
 */
#include "kernel.h"

#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

#define SLOTS 1024
#define BATCH 512

struct record {
    uint64_t serial;
    uint32_t payload[6];
};

struct ring {
    alignas(64) _Atomic size_t head; /* next to read; written by the consumer */
    alignas(64) _Atomic size_t tail; /* next to write; written by the producer */
    alignas(64) struct record slot[SLOTS];
};

static struct ring ring[MAX_THREADS];
static uint64_t sums[MAX_THREADS];
static size_t batches;

static void push(struct ring *r, uint64_t serial)
{
    size_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    while (tail - atomic_load_explicit(&r->head, memory_order_acquire) == SLOTS)
        sched_yield();
    struct record *s = &r->slot[tail % SLOTS];
    s->serial = serial;
    for (unsigned i = 0; i < 6; i++)
        s->payload[i] = (uint32_t)serial * (i + 1);
    atomic_store_explicit(&r->tail, tail + 1, memory_order_release);
}

static uint64_t pop(struct ring *r)
{
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

    while (atomic_load_explicit(&r->tail, memory_order_acquire) == head)
        sched_yield();
    const struct record *s = &r->slot[head % SLOTS];
    uint64_t sum = s->serial;
    for (unsigned i = 0; i < 6; i++)
        sum = sum * 31 + s->payload[i];
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
    return sum;
}

/* A whole batch fits in a ring, so writing one before reading one cannot close the circle in a deadlock. */
static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    struct ring *out = &ring[me], *in = &ring[(me + n_threads - 1) % n_threads];
    uint64_t sum = 0;

    for (size_t b = 0; b < batches; b++) {
        for (size_t i = 0; i < BATCH; i++)
            push(out, b * BATCH + i);
        for (size_t i = 0; i < BATCH; i++)
            sum = kernel_mix(sum, pop(in));
    }
    sums[me] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    batches = kernel_scaled(40 * 1000);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++)
        sum = kernel_mix(sum, sums[i]);
    kernel_print(sum);
    return 0;
}
