/*
 * chase.c - pointer chasing: every thread walks one shared random graph and writes to nodes of its own list.
 *
 * Dependent loads with no locality; the shared graph is read by all, the private list read and written.
 */
#include "kernel.h"

#define SHARED (1u << 15)
#define OWN (1u << 12)

struct node {
    struct node *next;
    struct node *other;
    uint64_t value;
};

static struct node *graph;
static uint64_t sums[MAX_THREADS];
static size_t steps;

/* One cycle through all nodes, in an order memory does not have. */
static void link_nodes(struct node *nodes, size_t n, uint64_t state)
{
    struct node **order = kernel_alloc(n, sizeof(*order));

    for (size_t i = 0; i < n; i++)
        order[i] = &nodes[i];
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = kernel_random(&state) % (i + 1);
        struct node *t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (size_t i = 0; i < n; i++) {
        order[i]->next = order[(i + 1) % n];
        order[i]->other = &nodes[kernel_random(&state) % n];
        order[i]->value = kernel_random(&state);
    }
    free(order);
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    struct node *own = kernel_alloc(OWN, sizeof(*own));
    const struct node *p = &graph[me * 101 % SHARED];
    struct node *q = own;
    uint64_t sum = 0;

    link_nodes(own, OWN, me);
    for (size_t i = 0; i < steps; i++) {
        sum += p->value;
        p = sum & 64 ? p->next : p->other;
        q->value ^= sum;
        q = q->next;
    }
    for (size_t i = 0; i < OWN; i++)
        sum = kernel_mix(sum, own[i].value);
    sums[me] = sum;
    free(own);
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    steps = kernel_scaled(40u * 1000 * 1000);
    graph = kernel_alloc(SHARED, sizeof(*graph));
    link_nodes(graph, SHARED, 5);
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++)
        sum = kernel_mix(sum, sums[i]);
    kernel_print(sum);
    free(graph);
    return 0;
}
