// Lists that hang from the slots of an array, each under a lock by the same index: filled by main, then by threads.
// WRONG 1: the lock is that of the next slot
// WRONG 2: one node is put into two slots
// WRONG 3: what hangs from one slot is hung to another one, too
// WRONG 4: a node can be reached by a variable, too
// WRONG 5: the index changes under the lock
// WRONG 6: a node is carried to the next slot by a loop
#include "shapes.h"

enum { SIZE = 8 };
struct node {
    struct node *next;
    int value;
} *slot[SIZE], *last;
pthread_mutex_t lock[SIZE];

static struct node *new_node(int value)
{
    struct node *n = malloc(sizeof *n);
    n->value = value;
    n->next = NULL;
    return n;
}

static void insert(struct node *n, struct node *after)
{
    n->next = after->next;
    after->next = n;
}

static void *fill(void *arg)
{
    unsigned i = (unsigned)input() % SIZE;
    struct node *n = new_node(1);
    pthread_mutex_lock(&lock[W1((i + 1) % SIZE, i)]);
    insert(n, slot[i]);
    W4(last = n, );
    n->value = 2; // HERE
    pthread_mutex_unlock(&lock[W1((i + 1) % SIZE, i)]);
    W2(i = (unsigned)input() % SIZE; pthread_mutex_lock(&lock[i]); insert(n, slot[i]);
       pthread_mutex_unlock(&lock[i]), );
    return arg;
}

static void *count(void *arg)
{
    unsigned i = (unsigned)input() % SIZE;
    pthread_mutex_lock(&lock[i]);
    W5(i = (i + 1) % SIZE, );
    for (struct node *n = W4(input() ? last :, ) slot[i]; n; n = n->next)
        n->value++; // HERE
    W5(i = (i + SIZE - 1) % SIZE, );
    pthread_mutex_unlock(&lock[i]);
    return arg;
}

static void *each(void *arg)
{
    struct node *n = slot[0];
    for (unsigned i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&lock[i]);
        n = W6(input() ? n :, ) slot[i];
        n->value--; // HERE
        pthread_mutex_unlock(&lock[i]);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, c, d;
    last = W4(new_node(0), NULL);
    for (int i = 0; i < SIZE; i++) {
        pthread_mutex_init(&lock[i], NULL);
        slot[i] = new_node(0);
        insert(new_node(1), slot[i]);
    }
    W3(slot[1]->next = slot[2]->next, );
    pthread_create(&a, NULL, fill, NULL);
    pthread_create(&b, NULL, fill, NULL);
    pthread_create(&c, NULL, count, NULL);
    pthread_create(&d, NULL, each, NULL);
    count(NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return pthread_join(d, NULL);
}
