/*
 * steal.c - work stealing over a shared graph: each thread has a stack of nodes to expand, with a lock of its
 * own, and takes from others' when that is empty; what an expansion adds to a neighbour is under the
 * neighbour's lock.
 *
 * Many locks that are seldom contended, read-only data reached through them, and next to no locality. Who
 * expands what depends on the schedule; each node is expanded once a round, and what it adds up is not.
 */
#include "kernel.h"

#include <sched.h>
#include <stdatomic.h>

#define NODES (1u << 14)
#define DEGREE 6
#define SHAPE 12

struct node {
    pthread_mutex_t lock;
    uint64_t energy; /* under lock, as is seen */
    uint32_t seen;   /* the last round in which somebody has put the node on a stack */
    uint32_t neighbour[DEGREE];
    float shape[SHAPE]; /* never changes */
};

struct stack {
    pthread_mutex_t lock;
    uint32_t *item; /* under lock, as is n */
    size_t n;
} __attribute__((aligned(64)));

static struct node *nodes;
static struct stack stacks[MAX_THREADS];
static atomic_long pending; /* nodes on stacks or being expanded */
static pthread_barrier_t turn;
static uint32_t rounds;

static void push(struct stack *s, uint32_t what)
{
    pthread_mutex_lock(&s->lock);
    s->item[s->n++] = what;
    pthread_mutex_unlock(&s->lock);
}

static int pop(struct stack *s, uint32_t *ret_what)
{
    pthread_mutex_lock(&s->lock);
    int found = s->n > 0;
    if (found)
        *ret_what = s->item[--s->n];
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* From the own stack; else the older half of somebody else's, where the larger parts of the graph hang. */
static int get(unsigned me, uint32_t *ret_what)
{
    uint32_t taken[64];

    if (pop(&stacks[me], ret_what))
        return 1;
    for (unsigned i = 1; i < n_threads; i++) {
        struct stack *s = &stacks[(me + i) % n_threads];
        size_t n;
        pthread_mutex_lock(&s->lock);
        n = (s->n + 1) / 2;
        if (n > sizeof(taken) / sizeof(taken[0]))
            n = sizeof(taken) / sizeof(taken[0]);
        for (size_t k = 0; k < n; k++)
            taken[k] = s->item[k];
        for (size_t k = n; k < s->n; k++)
            s->item[k - n] = s->item[k];
        s->n -= n;
        pthread_mutex_unlock(&s->lock);
        if (!n)
            continue;
        for (size_t k = 1; k < n; k++)
            push(&stacks[me], taken[k]);
        *ret_what = taken[0];
        return 1;
    }
    return 0;
}

static uint64_t form_factor(const struct node *a, const struct node *b)
{
    float sum = 0;

    for (unsigned i = 0; i < SHAPE; i++)
        for (unsigned j = 0; j < SHAPE; j += 3) {
            float d = a->shape[i] - b->shape[j];
            sum += d * d;
        }
    return (uint64_t)(sum * 1024);
}

static void expand(unsigned me, uint32_t which, uint32_t round)
{
    const struct node *n = &nodes[which];

    for (unsigned k = 0; k < DEGREE; k++) {
        struct node *to = &nodes[n->neighbour[k]];
        uint64_t f = form_factor(n, to);
        pthread_mutex_lock(&to->lock);
        to->energy += f + round;
        int first = to->seen != round;
        to->seen = round;
        pthread_mutex_unlock(&to->lock);
        if (first) {
            atomic_fetch_add(&pending, 1);
            push(&stacks[me], n->neighbour[k]);
        }
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    uint32_t which;

    for (uint32_t round = 1; round <= rounds; round++) {
        if (me == 0) {
            uint32_t start = round % NODES;
            pthread_mutex_lock(&nodes[start].lock);
            nodes[start].seen = round;
            pthread_mutex_unlock(&nodes[start].lock);
            atomic_fetch_add(&pending, 1);
            push(&stacks[0], start);
        }
        pthread_barrier_wait(&turn);
        while (atomic_load(&pending)) {
            if (!get(me, &which)) {
                sched_yield();
                continue;
            }
            expand(me, which, round);
            atomic_fetch_sub(&pending, 1);
        }
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t state = 19, sum = 0;

    kernel_args(argc, argv);
    rounds = (uint32_t)kernel_scaled(80);
    nodes = kernel_alloc(NODES, sizeof(*nodes));
    for (uint32_t i = 0; i < NODES; i++) {
        pthread_mutex_init(&nodes[i].lock, NULL);
        nodes[i].neighbour[0] = (i + 1) % NODES; /* a ring, so that every node is reached */
        for (unsigned k = 1; k < DEGREE; k++)
            nodes[i].neighbour[k] = (uint32_t)kernel_random(&state) % NODES;
        for (unsigned k = 0; k < SHAPE; k++)
            nodes[i].shape[k] = (float)(kernel_random(&state) % 256) / 16;
    }
    for (unsigned i = 0; i < n_threads; i++) {
        pthread_mutex_init(&stacks[i].lock, NULL);
        stacks[i].item = kernel_alloc(NODES, sizeof(uint32_t));
    }
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (uint32_t i = 0; i < NODES; i++)
        sum = kernel_mix(sum, nodes[i].energy);
    kernel_print(sum);
    for (unsigned i = 0; i < n_threads; i++)
        free(stacks[i].item);
    free(nodes);
    return 0;
}
