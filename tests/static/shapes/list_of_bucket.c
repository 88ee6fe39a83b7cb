// Buckets with a lock and what hangs from them, a list and a tree, in functions that are given the bucket or the place of the
// first node.
// WRONG 1: the function goes on to the next bucket
// WRONG 2: the bucket is unlocked before the node is used
// WRONG 3: the node goes to a second bucket
// WRONG 4: the tree is that of another bucket
// WRONG 5: a node is taken out of one bucket, and used without the lock while another one leads to it
// WRONG 6: the list of one bucket becomes that of another
#include "shapes.h"

enum { SIZE = 8 };
struct node {
    struct node *next, *left, *right;
    int key, value;
};
struct bucket {
    pthread_mutex_t lock;
    int count;
    struct node *first, *tree;
} buckets[SIZE];

static struct bucket *find_bucket(int key)
{
    return &buckets[(unsigned)key % SIZE];
}

static struct node *new_node(int key)
{
    struct node *n = calloc(1, sizeof *n);
    n->key = key;
    return n;
}

static void put(struct bucket *b, struct node *n)
{
    pthread_mutex_lock(&b->lock);
    n->next = b[W1(1, 0)].first; // HERE
    b->first = n;
    b->count++;
    pthread_mutex_unlock(&b->lock);
}

static struct node *take(struct node **from)
{
    struct node *n = *from;
    if (n)
        *from = n->next; // HERE
    return n;
}

static struct node **find(struct node **at, int key)
{
    while (*at && (*at)->key != key)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    return at;
}

static void *thread(void *arg)
{
    int key = input();
    struct bucket *b = find_bucket(key), *other = find_bucket(input());
    struct node *n = new_node(key);
    put(b, n);
    W3(put(other, n), );
    pthread_mutex_lock(&b->lock);
    for (n = b->first; n && n->key != key;)
        n = n->next;
    W2(pthread_mutex_unlock(&b->lock), );
    if (n)
        n->value++; // HERE
    W2(pthread_mutex_lock(&b->lock), );
    struct node **at = find(&W4(other, b)->tree, key);
    if (!*at)
        *at = new_node(key);       // HERE
    (*at)->value--;                // HERE
    W6(b->first = other->first, ); // HERE
    if ((n = take(&b->first))) {
        n->value = 0;                 // HERE
        W5(other->tree = n, free(n)); // HERE
    }
    pthread_mutex_unlock(&b->lock);
    return arg;
}

int main(void)
{
    for (int i = 0; i < SIZE; i++)
        pthread_mutex_init(&buckets[i].lock, NULL);
    RUN_TWICE(thread, NULL);
    return 0;
}
