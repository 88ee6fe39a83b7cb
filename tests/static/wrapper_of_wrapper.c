// A wrapper of a wrapper, and one that makes a structure.
#include <pthread.h>
#include <stdlib.h>

__attribute__((noinline)) static void *xmalloc(size_t n)
{
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}

struct counter {
    long n;
};

__attribute__((noinline)) static struct counter *new_counter(void)
{
    struct counter *c = xmalloc(sizeof *c);
    c->n = 0; // NO PAIR
    return c;
}

static void *thread(void *arg)
{
    struct counter *c = arg;
    c->n++; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct counter *theirs = new_counter();
    struct counter *mine = new_counter();
    pthread_create(&t, NULL, thread, theirs);
    mine->n++; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
