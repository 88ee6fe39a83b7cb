/*
 * btree.c - a B-tree under one reader-writer lock: batches of look-ups take it shared, one batch in 16
 * inserts keys exclusively.
 *
 * Look-ups are for even keys, which are all there from the start, inserts of odd ones: so what is found does
 * not depend on the schedule, and neither do the keys in the end, though the shape of the tree does.
 */
#include "kernel.h"

#include <string.h>

#define MAX_KEYS 15
#define START (1u << 16)
#define BATCH 32

struct node {
    unsigned n;
    int leaf;
    uint64_t key[MAX_KEYS];
    uint64_t value[MAX_KEYS];
    struct node *child[MAX_KEYS + 1];
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct node *root; /* under lock, with all below it */
static uint64_t sums[MAX_THREADS];
static size_t batches;

static struct node *new_node(int leaf)
{
    struct node *n = kernel_alloc(1, sizeof(*n));
    n->leaf = leaf;
    return n;
}

/* The first slot whose key is not less. */
static unsigned slot(const struct node *n, uint64_t key)
{
    unsigned lo = 0, hi = n->n;

    while (lo < hi) {
        unsigned middle = (lo + hi) / 2;
        if (n->key[middle] < key)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static uint64_t look_up(uint64_t key)
{
    for (const struct node *n = root;;) {
        unsigned i = slot(n, key);
        if (i < n->n && n->key[i] == key)
            return n->value[i];
        if (n->leaf)
            return 0;
        n = n->child[i];
    }
}

/* The full child in slot i becomes two, its middle key moves up. */
static void split(struct node *parent, unsigned i)
{
    struct node *left = parent->child[i], *right = new_node(left->leaf);
    unsigned half = MAX_KEYS / 2;

    right->n = MAX_KEYS - half - 1;
    memcpy(right->key, left->key + half + 1, right->n * sizeof(left->key[0]));
    memcpy(right->value, left->value + half + 1, right->n * sizeof(left->value[0]));
    if (!left->leaf)
        memcpy(right->child, left->child + half + 1, (right->n + 1) * sizeof(struct node *));
    left->n = half;
    for (unsigned k = parent->n; k > i; k--) {
        parent->key[k] = parent->key[k - 1];
        parent->value[k] = parent->value[k - 1];
        parent->child[k + 1] = parent->child[k];
    }
    parent->key[i] = left->key[half];
    parent->value[i] = left->value[half];
    parent->child[i + 1] = right;
    parent->n++;
}

/* Adds to the value of a key that is there. */
static void insert(uint64_t key, uint64_t value)
{
    if (root->n == MAX_KEYS) {
        struct node *above = new_node(0);
        above->child[0] = root;
        root = above;
        split(root, 0);
    }
    for (struct node *n = root;;) {
        unsigned i = slot(n, key);
        if (i < n->n && n->key[i] == key) {
            n->value[i] += value;
            return;
        }
        if (n->leaf) {
            for (unsigned k = n->n; k > i; k--) {
                n->key[k] = n->key[k - 1];
                n->value[k] = n->value[k - 1];
            }
            n->key[i] = key;
            n->value[i] = value;
            n->n++;
            return;
        }
        if (n->child[i]->n == MAX_KEYS)
            split(n, i); /* then look again: the key may be the one that moved up */
        else
            n = n->child[i];
    }
}

static void *body(void *index)
{
    unsigned me = (unsigned)(uintptr_t)index;
    uint64_t state = me, sum = 0;
    size_t lo, hi;

    kernel_share(batches, me, &lo, &hi);
    for (size_t i = lo; i < hi; i++) {
        if (i % 16 == 0)
            pthread_rwlock_wrlock(&lock);
        else
            pthread_rwlock_rdlock(&lock);
        for (unsigned k = 0; k < BATCH; k++) {
            uint64_t r = kernel_random(&state), key = (r >> 20) % START * 2;
            if (i % 16 == 0)
                insert(key + 1, r);
            else
                sum += look_up(key);
        }
        pthread_rwlock_unlock(&lock);
    }
    sums[me] = sum;
    return NULL;
}

static uint64_t drain(struct node *n, uint64_t sum)
{
    for (unsigned i = 0; i <= n->n; i++) {
        if (!n->leaf)
            sum = drain(n->child[i], sum);
        if (i < n->n)
            sum = kernel_mix(kernel_mix(sum, n->key[i]), n->value[i]);
    }
    free(n);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;

    kernel_args(argc, argv);
    batches = kernel_scaled(100u * 1000);
    root = new_node(1);
    for (uint32_t i = 0; i < START; i++) {
        uint32_t key = i * 40503u % START;
        insert(2 * key, key * 2654435761u);
    }
    kernel_run(body);
    for (unsigned i = 0; i < n_threads; i++)
        sum = kernel_mix(sum, sums[i]);
    kernel_print(drain(root, sum));
    return 0;
}
