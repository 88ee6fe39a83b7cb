// A bucket that is reached by pointers, which are computed anew, one from the other.
// WRONG 1: the lock is that of the next bucket, whichever way it was found
// WRONG 2: the list is that of the next bucket
// WRONG 3: the pointer goes on to the next bucket in a loop, the lock does not
// WRONG 4: the pointer is one that a function has moved
#include "shapes.h"

enum { SIZE = 8 };
struct node {
    struct node *next;
    int value;
};
struct bucket {
    pthread_mutex_t lock;
    struct node *first;
} buckets[SIZE + 1];

static struct bucket *moved(struct bucket *b)
{
    return b + W4(1, 0);
}

static void use(struct bucket *b)
{
    struct bucket *same, *list = b;
    if (input())
        same = b + W1(1, 0);
    else
        same = &b[W1(1, 0)];
    pthread_mutex_lock(&same->lock);
    list = W2(list + 1, list);
    for (struct node *n = list->first; n; n = n->next)
        n->value++; // HERE
    pthread_mutex_unlock(&same->lock);
}

static void *thread(void *arg)
{
    struct node *n = calloc(1, sizeof *n);
    struct bucket *b = &buckets[(unsigned)input() % SIZE], *at = b;
    pthread_mutex_lock(&b->lock);
    n->next = b->first;
    b->first = n;
    do {
        struct bucket *list = moved(at);
        if (list->first)
            list->first->value--; // HERE
        at = W3(at + 1, at);
    } while (W3(at < &buckets[SIZE], input()));
    pthread_mutex_unlock(&b->lock);
    use(b);
    return arg;
}

int main(void)
{
    for (int i = 0; i < SIZE + 1; i++)
        pthread_mutex_init(&buckets[i].lock, NULL);
    RUN_TWICE(thread, NULL);
    return 0;
}
