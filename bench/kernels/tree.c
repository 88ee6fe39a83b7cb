/*
 * tree.c - bodies in an octree, as in Barnes and Hut's method: all threads insert into one tree, with a lock
 * on each node, then walk it recursively for each body of theirs.
 *
 * The walk reads nodes that every thread reads and that any thread wrote; the tree is built anew each step
 * out of the same memory. Which thread makes a node depends on the schedule, the shape of the tree does not,
 * and its sums are integers: so neither does the result.
 */
#include "kernel.h"

#include <string.h>

#define BODIES 8192
#define BITS 16 /* of a coordinate: the depth of the tree */
#define TOP 2   /* levels that exist before anyone inserts, so that no thread waits at the root */
#define TOP_NODES (1 + 8 + 64)
#define SPACE (1 << BITS)

struct body {
    int32_t at[3];
    int32_t speed[3];
    int32_t mass;
};

struct node {
    pthread_mutex_t lock; /* held for the fields below while the tree is built */
    struct node *child[8];
    struct body *only; /* of a leaf above the last level */
    uint32_t count;
    /* Written once the shape is final. */
    int64_t mass;
    int64_t moment[3];
    double centre[3];
};

struct pool {
    struct node *nodes;
    size_t used, limit;
};

static struct body *bodies;
static size_t n_bodies, steps;
static struct node *top; /* the first levels, breadth first: the root, its 8, their 64 */
static struct pool pools[MAX_THREADS];
static pthread_barrier_t turn;

static unsigned octant(const struct body *b, unsigned depth)
{
    unsigned bit = BITS - 1 - depth;
    return ((unsigned)b->at[0] >> bit & 1) | ((unsigned)b->at[1] >> bit & 1) << 1 |
           ((unsigned)b->at[2] >> bit & 1) << 2;
}

static void clear(struct node *n)
{
    memset(n->child, 0, sizeof(n->child));
    n->only = NULL;
    n->count = 0;
}

static struct node *take(struct pool *p)
{
    if (p->used == p->limit)
        kernel_fail("out of nodes");
    struct node *n = &p->nodes[p->used++];
    clear(n);
    return n;
}

/* Hand over hand: a node's lock is taken before that of its parent is given up. */
static void insert(struct pool *pool, struct body *b)
{
    struct node *n = &top[1 + 8 + octant(b, 0) * 8 + octant(b, 1)];
    unsigned depth = TOP;

    pthread_mutex_lock(&n->lock);
    for (;; depth++) {
        struct body *down = n->only;
        n->count++;
        if (depth == BITS || n->count == 1) {
            n->only = n->count == 1 ? b : NULL;
            break;
        }
        if (down && n->count == 2) { /* a leaf no longer: its body moves down one level */
            struct node *leaf = take(pool);
            leaf->count = 1;
            leaf->only = down;
            n->child[octant(down, depth)] = leaf;
            n->only = NULL;
        }
        unsigned o = octant(b, depth);
        if (!n->child[o])
            n->child[o] = take(pool);
        struct node *next = n->child[o];
        pthread_mutex_lock(&next->lock);
        pthread_mutex_unlock(&n->lock);
        n = next;
    }
    if (depth == BITS) { /* bodies at the same place share their node, which keeps only what they add up to */
        if (n->count == 1)
            n->mass = n->moment[0] = n->moment[1] = n->moment[2] = 0;
        n->mass += b->mass;
        for (unsigned k = 0; k < 3; k++)
            n->moment[k] += (int64_t)b->mass * b->at[k];
    }
    pthread_mutex_unlock(&n->lock);
}

/* Masses and centres, bottom up. Not below `stop`, whose nodes others have added up. */
static void add_up(struct node *n, unsigned depth, unsigned stop)
{
    if (depth < BITS) {
        n->mass = n->moment[0] = n->moment[1] = n->moment[2] = 0;
        if (n->only) {
            n->mass = n->only->mass;
            for (unsigned k = 0; k < 3; k++)
                n->moment[k] = n->mass * n->only->at[k];
        }
        for (unsigned o = 0; o < 8; o++) {
            struct node *c = n->child[o];
            if (!c)
                continue;
            if (depth + 1 < stop)
                add_up(c, depth + 1, stop);
            n->mass += c->mass;
            for (unsigned k = 0; k < 3; k++)
                n->moment[k] += c->moment[k];
        }
    }
    for (unsigned k = 0; k < 3; k++)
        n->centre[k] = n->mass ? (double)n->moment[k] / (double)n->mass : 0;
}

static void walk(const struct node *n, double side, const double at[3], double force[3])
{
    double d[3], square = 1;

    if (!n->mass)
        return;
    for (unsigned k = 0; k < 3; k++) {
        d[k] = n->centre[k] - at[k];
        square += d[k] * d[k];
    }
    if (n->count == 1 || side < 2 || side * side < 0.5 * square) {
        double f = (double)n->mass / square;
        for (unsigned k = 0; k < 3; k++)
            force[k] += f * d[k];
        return;
    }
    for (unsigned o = 0; o < 8; o++)
        if (n->child[o])
            walk(n->child[o], side / 2, at, force);
}

static void move(struct body *b, const double force[3])
{
    for (unsigned k = 0; k < 3; k++) {
        b->speed[k] += (int32_t)(force[k] * 64);
        b->speed[k] %= 256;
        b->at[k] = (b->at[k] + b->speed[k]) & (SPACE - 1);
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    size_t lo, hi, top_lo, top_hi;
    double(*force)[3];

    kernel_share(n_bodies, me, &lo, &hi);
    kernel_share(64, me, &top_lo, &top_hi);
    force = kernel_alloc(hi - lo + 1, sizeof(*force));
    for (size_t s = 0; s < steps; s++) {
        pools[me].used = 0;
        for (size_t t = top_lo; t < top_hi; t++)
            clear(&top[1 + 8 + t]);
        pthread_barrier_wait(&turn);
        for (size_t i = lo; i < hi; i++)
            insert(&pools[me], &bodies[i]);
        pthread_barrier_wait(&turn);
        for (size_t t = top_lo; t < top_hi; t++)
            add_up(&top[1 + 8 + t], TOP, BITS + 1);
        if (pthread_barrier_wait(&turn) == PTHREAD_BARRIER_SERIAL_THREAD)
            add_up(top, 0, TOP);
        pthread_barrier_wait(&turn);
        for (size_t i = lo; i < hi; i++) {
            double at[3] = {bodies[i].at[0], bodies[i].at[1], bodies[i].at[2]};
            memset(force[i - lo], 0, sizeof(force[0]));
            walk(top, SPACE, at, force[i - lo]);
        }
        pthread_barrier_wait(&turn);
        for (size_t i = lo; i < hi; i++)
            move(&bodies[i], force[i - lo]);
    }
    free(force);
    return NULL;
}

static void prepare(void)
{
    uint64_t state = 13;

    bodies = kernel_alloc(n_bodies, sizeof(*bodies));
    for (size_t i = 0; i < n_bodies; i++) {
        for (unsigned k = 0; k < 3; k++)
            bodies[i].at[k] = (int32_t)(kernel_random(&state) % SPACE);
        bodies[i].mass = 1 + (int32_t)(kernel_random(&state) % 100);
    }
    top = kernel_alloc(TOP_NODES, sizeof(*top));
    for (unsigned t = 0; t < TOP_NODES; t++) {
        pthread_mutex_init(&top[t].lock, NULL);
        top[t].count = 2; /* any number that makes no leaf of the first two levels */
        for (unsigned o = 0; o < 8 && t < 1 + 8; o++)
            top[t].child[o] = &top[8 * t + 1 + o];
    }
    for (unsigned i = 0; i < n_threads; i++) {
        size_t limit = n_bodies * 6 / n_threads + 1024;
        pools[i].nodes = kernel_alloc(limit, sizeof(struct node));
        pools[i].limit = limit;
        for (size_t n = 0; n < limit; n++)
            pthread_mutex_init(&pools[i].nodes[n].lock, NULL);
    }
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    steps = kernel_passes(32);
    n_bodies = (size_t)BODIES * volume;
    prepare();
    pthread_barrier_init(&turn, NULL, n_threads);
    kernel_run(body);
    for (size_t i = 0; i < n_bodies; i++)
        for (unsigned k = 0; k < 3; k++)
            sum = kernel_mix(sum, (uint64_t)(bodies[i].at[k] + bodies[i].speed[k]));
    kernel_print(sum);
    for (unsigned i = 0; i < n_threads; i++)
        free(pools[i].nodes);
    free(top);
    free(bodies);
    return 0;
}
