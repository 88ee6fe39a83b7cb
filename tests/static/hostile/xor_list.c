// A list whose links are the exclusive or of two addresses, made in a function of its own.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct n {
    uintptr_t link;
    int v;
};

static struct n *head;

static __attribute__((noinline)) uintptr_t mix(uintptr_t a, uintptr_t b)
{
    return a ^ b;
}

static __attribute__((noinline)) struct n *step(struct n *prev, struct n *cur)
{
    return (struct n *)mix(cur->link, (uintptr_t)prev);
}

static void *f(void *p)
{
    struct n *prev = 0, *c = head;
    while (c) {
        c->v++; // RACE a
        struct n *nx = step(prev, c);
        prev = c;
        c = nx;
    }
    return p;
}

int main(void)
{
    struct n *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    a->link = mix(0, (uintptr_t)b);
    b->link = mix((uintptr_t)a, 0);
    head = a;
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    b->v = 3; // RACE a
    pthread_join(t, 0);
    return 0;
}
