// Lists whose heads are elements of an array, linked both ways, with nodes that are found from their links.
// WRONG 1: the lock is that of another head
// WRONG 2: the walk does not end at the head
// WRONG 3: the walk ends at the head of another list
// WRONG 4: a node is hung to two lists
// WRONG 5: the link beside the head is used
// WRONG 6: a node is moved to another list, under one lock
#include "shapes.h"

#include <stddef.h>

enum { SIZE = 8 };
struct link {
    struct link *next, *prev;
};
struct node {
    long value;
    struct link link;
};
struct table {
    struct link head[SIZE];
    pthread_mutex_t lock[SIZE];
} table;
#define NODE(l) ((struct node *)((char *)(l) - offsetof(struct node, link)))

static void init(struct link *l)
{
    l->next = l->prev = l;
}

static void insert(struct link *l, struct link *after)
{
    struct link *next = after->next;
    next->prev = l;  // HERE
    l->next = next;  // HERE
    l->prev = after; // HERE
    after->next = l; // HERE
}

static void delete(struct link *l)
{
    l->prev->next = l->next; // HERE
    l->next->prev = l->prev; // HERE
}

static struct node *new_node(void)
{
    struct node *n = malloc(sizeof *n);
    n->value = 0;
    init(&n->link);
    return n;
}

static void *fill(void *arg)
{
    unsigned i = (unsigned)input() % SIZE, k = W1((i + 1) % SIZE, i);
    struct node *n = new_node();
    pthread_mutex_lock(&table.lock[k]);
    insert(&n->link, &table.head[i]);
    n->value = 1; // HERE
    pthread_mutex_unlock(&table.lock[k]);
    W4(i = (unsigned)input() % SIZE; pthread_mutex_lock(&table.lock[i]); insert(&n->link, &table.head[i]);
       pthread_mutex_unlock(&table.lock[i]), );
    return arg;
}

static void each(struct link *head)
{
    for (struct node *n = NODE(head->next); &n->link != head; n = NODE(n->link.next))
        n->value--; // HERE
}

static void *count(void *arg)
{
    for (unsigned i = 0; i < SIZE; i++) {
        pthread_mutex_lock(&table.lock[i]);
        for (struct node *n = NODE(table.head[i].next); W2(n->value < 9, &n->link != &table.head[W3(1, i)]);
             n = NODE(n->link.next)) // HERE
            n->value++;              // HERE
        each(&table.head[i]);
        struct link *first = (&table.head[i] + W5(1, 0))->next; // HERE
        if (first != &table.head[i]) {
            delete (first);
            W6(insert(first, &table.head[(i + 1) % SIZE]), free(NODE(first))); // HERE
        }
        pthread_mutex_unlock(&table.lock[i]);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    for (int i = 0; i < SIZE; i++) {
        init(&table.head[i]);
        pthread_mutex_init(&table.lock[i], NULL);
        insert(&new_node()->link, &table.head[i]);
    }
    pthread_create(&a, NULL, fill, NULL);
    pthread_create(&b, NULL, fill, NULL);
    pthread_create(&c, NULL, count, NULL);
    count(NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return pthread_join(c, NULL);
}
