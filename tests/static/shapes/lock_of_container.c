// The structure is found from the address of one of its members, by arithmetic that the compiler leaves to be done.
// WRONG 1: the offset is that of another member
// WRONG 2: the lock is not taken
#include "shapes.h"

struct item {
    int count;
    pthread_mutex_t lock;
    int link, other;
} *item;

#define CONTAINER(p, member) \
    ((struct item *)((char *)(p) - (unsigned)(unsigned long)&((struct item *)0)->member))

static void count(int *link)
{
    struct item *i = CONTAINER(link, link), *k = CONTAINER(link, W1(other, link));
    W2(, pthread_mutex_lock(&k->lock);)
    i->count++; // HERE
    W2(, pthread_mutex_unlock(&k->lock);)
}

static void *thread(void *arg)
{
    count(&item->link);
    return arg;
}

int main(void)
{
    pthread_t t;
    item = calloc(2, sizeof *item);
    pthread_mutex_init(&item->lock, NULL);
    pthread_create(&t, NULL, thread, NULL);
    W1(pthread_mutex_lock(&item->lock); item->count++; pthread_mutex_unlock(&item->lock);
       , count(&item->link);) // HERE
    return pthread_join(t, NULL);
}
