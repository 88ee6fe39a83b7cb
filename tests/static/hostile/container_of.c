// From a member back to the structure, through a list of members.
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#define container_of(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))

struct node {
    struct node *next, *prev;
};

struct item {
    long key;
    struct node link;
    int value;
};

static struct node head = {&head, &head};

static void add(struct item *i)
{
    i->link.next = head.next;
    i->link.prev = &head;
    head.next->prev = &i->link;
    head.next = &i->link;
}

static void *f(void *p)
{
    for (struct node *n = head.next; n != &head; n = n->next)
        container_of(n, struct item, link)->value++; // RACE a b
    return p;
}

int main(void)
{
    struct item *a = calloc(1, sizeof *a), b = {0};
    add(a);
    add(&b);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    a->value = 2; // RACE a
    b.value = 3;  // RACE b
    pthread_join(t, 0);
    return 0;
}
