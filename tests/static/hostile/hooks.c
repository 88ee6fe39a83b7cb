// A list of hooks, each a function and what it is given.
#include <pthread.h>
#include <stdlib.h>

struct hooks {
    void (*on)(struct hooks *, void *);
    void *user;
    struct hooks *next;
};
int x;

static void on(struct hooks *h, void *u)
{
    (void)h;
    ++*(int *)u; // RACE a
}

static struct hooks *list;

static void add(void (*f)(struct hooks *, void *), void *u)
{
    struct hooks *h = malloc(sizeof *h);
    h->on = f;
    h->user = u;
    h->next = list;
    list = h;
}

static void fire(void)
{
    for (struct hooks *h = list; h; h = h->next)
        h->on(h, h->user);
}

static void *f(void *p)
{
    fire();
    return p;
}

int main(void)
{
    add(on, &x);
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    fire();
    pthread_join(t, 0);
    return 0;
}
