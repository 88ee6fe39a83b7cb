// Lists that hang from slots, each under its lock, and what moves nodes from one to another.
// WRONG 1: a node is copied with what it leads to
// WRONG 2: the slots are moved as bytes
// WRONG 3: the slots are sorted, under all locks
// WRONG 4: the node is one of two slots, the lock that of one
// WRONG 5: one node is put into all slots by a loop
// WRONG 6: nodes are taken to another slot by way of a list of the function
#include "shapes.h"

#include <string.h>

enum { SIZE = 8 };
struct node {
    struct node *next;
    int value;
} *slot[SIZE];
pthread_mutex_t lock[SIZE];

static struct node *new_node(void)
{
    return calloc(1, sizeof(struct node));
}

static int order(const void *a, const void *b)
{
    return a < b;
}

static struct node *either(struct node *a, struct node *b)
{
    return input() ? a : b;
}

static void *use(void *arg)
{
    unsigned i = (unsigned)input() % SIZE, k = (unsigned)input() % SIZE;
    pthread_mutex_lock(&lock[i]);
    struct node *n = W4(either(slot[i], slot[k]), slot[i]);
    pthread_mutex_unlock(&lock[i]);
    pthread_mutex_lock(&lock[i]);
    n->value++; // HERE
    for (n = n->next; n; n = n->next)
        n->value--; // HERE
    pthread_mutex_unlock(&lock[i]);
    return arg;
}

static void *sort(void *arg)
{
    for (int i = 0; i < SIZE; i++)
        pthread_mutex_lock(&lock[i]);
    W3(qsort(slot, SIZE, sizeof slot[0], order), );
    for (int i = 0; i < SIZE; i++)
        pthread_mutex_unlock(&lock[i]);
    return arg;
}

static void *change(void *arg)
{
    unsigned i = (unsigned)input() % SIZE, k = (unsigned)input() % SIZE;
    struct node *all = NULL, *n = new_node();
    pthread_mutex_lock(&lock[i]);
    W1(*slot[i] = *slot[k], slot[i]->value = slot[i]->next != NULL); // HERE
    n->next = slot[i]->next;
    slot[i]->next = n;
    for (n = slot[i]->next; n;) {
        struct node *next = n->next;
        n->next = all; // HERE
        all = n;
        n = next;
    }
    slot[W6(k, i)]->next = all; // HERE
    pthread_mutex_unlock(&lock[i]);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    struct node *n = new_node();
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_init(&lock[i], NULL);
        slot[i] = new_node();
        W5(slot[i]->next = n, slot[i]->next = new_node());
    }
    free(W5(NULL, n));
    W2(memmove(&slot[0], &slot[1], sizeof slot[0]), );
    pthread_create(&a, NULL, use, NULL);
    pthread_create(&b, NULL, change, NULL);
    pthread_create(&c, NULL, sort, NULL);
    use(NULL);
    change(NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return pthread_join(c, NULL);
}
