// The C library keeps what it was given in a tree, and gives it back.
#include <pthread.h>
#include <search.h>
#include <stdlib.h>

struct ent {
    int key, v;
};

static void *root;

static int cmp(const void *a, const void *b)
{
    return ((const struct ent *)a)->key - ((const struct ent *)b)->key;
}

static void *f(void *a)
{
    struct ent k = {1, 0};
    struct ent **r = tfind(&k, &root, cmp);
    if (r)
        (*r)->v = 2; // RACE a
    return a;
}

int main(void)
{
    struct ent *e = calloc(1, sizeof *e);
    e->key = 1;
    tsearch(e, &root, cmp);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    e->v = 1; // RACE a
    pthread_join(t, 0);
    return 0;
}
