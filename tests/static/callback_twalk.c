// twalk_r and tdestroy call back, with what tsearch was given, and with an argument of their own.
#define _GNU_SOURCE
#include <pthread.h>
#include <search.h>
#include <stdlib.h>

struct item {
    int key, seen, dropped;
};
static void *root;
static struct item item;
static int visits;

static int compare(const void *a, const void *b)
{
    return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

static void visit(const void *entry, VISIT which, void *count)
{
    (*(struct item *const *)entry)->seen = 1; // PAIR a
    *(int *)count += 1;                       // PAIR b
}

static void drop(void *p)
{
    ((struct item *)p)->dropped = 1; // PAIR c
}

static void *thread(void *arg)
{
    twalk_r(root, visit, &visits);
    tdestroy(root, drop);
    return NULL;
}

int main(void)
{
    pthread_t t;
    tsearch(&item, &root, compare);
    pthread_create(&t, NULL, thread, NULL);
    item.seen = 2;    // PAIR a
    visits = 3;       // PAIR b
    item.dropped = 4; // PAIR c
    pthread_join(t, NULL);
    return 0;
}
