/*
 * mpmc_ring.c - a bounded queue of many producers and many consumers: a ticket per operation (fetch-add), a
 * sequence number per slot that says whose turn it is.
 *
 * Every thread alternates between putting and getting, so the queue never runs dry for good.
 * Read-modify-write operations on shared counters, and plain slots that only the sequence numbers order.
 */
#include "kernel.h"

#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>

#define SLOTS 256

struct slot {
    _Atomic size_t turn; /* ticket: free for that producer; ticket + 1: filled for that consumer */
    uint64_t value, check;
};

static alignas(64) _Atomic size_t put_ticket;
static alignas(64) _Atomic size_t get_ticket;
static alignas(64) struct slot slot[SLOTS];
static uint64_t sums[MAX_THREADS];
static size_t rounds;

static void await(struct slot *s, size_t turn)
{
    while (atomic_load_explicit(&s->turn, memory_order_acquire) != turn)
        sched_yield();
}

static void put(uint64_t value)
{
    size_t ticket = atomic_fetch_add_explicit(&put_ticket, 1, memory_order_relaxed);
    struct slot *s = &slot[ticket % SLOTS];

    await(s, ticket);
    s->value = value;
    s->check = ~value;
    atomic_store_explicit(&s->turn, ticket + 1, memory_order_release);
}

static uint64_t get(void)
{
    size_t ticket = atomic_fetch_add_explicit(&get_ticket, 1, memory_order_relaxed);
    struct slot *s = &slot[ticket % SLOTS];

    await(s, ticket + 1);
    uint64_t value = s->value;
    if (s->check != ~value)
        kernel_fail("a slot was read before it was whole");
    atomic_store_explicit(&s->turn, ticket + SLOTS, memory_order_release);
    return value;
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    uint64_t state = me, sum = 0;

    for (size_t i = 0; i < rounds; i++) {
        put(kernel_random(&state));
        sum += get() * 0x9e3779b97f4a7c15u;
    }
    sums[me] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    rounds = kernel_scaled(5u * 1000 * 1000);
    for (size_t i = 0; i < SLOTS; i++)
        atomic_store_explicit(&slot[i].turn, i, memory_order_relaxed);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++)
        sum += sums[i];
    kernel_print(sum);
    return 0;
}
