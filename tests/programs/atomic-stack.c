// A stack without locks: nodes are pushed by a releasing compare-exchange, all are taken at once by an
// acquiring exchange, and who took them reads, links and frees them. The pushes in between go on with the
// release sequences before them.
// NO RACE
#include <malloc.h>
#include <stdatomic.h>

#include "invisible.h"

struct node {
    struct node *next;
    long value;
};
enum { PUSHERS = 3, EACH = 40 };
static _Atomic(struct node *) top;
static atomic_long sum;

static void push(struct node *n)
{
    n->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (
        !atomic_compare_exchange_weak_explicit(&top, &n->next, n, memory_order_release, memory_order_relaxed))
        ;
}

static int take_all(void)
{
    int n = 0;

    for (struct node *p = atomic_exchange_explicit(&top, NULL, memory_order_acquire), *next; p; p = next) {
        next = p->next;
        atomic_fetch_add_explicit(&sum, p->value, memory_order_relaxed);
        p->value = -1;
        free(p);
        n++;
    }
    return n;
}

THREAD(pusher)
{
    for (int i = 1; i <= EACH; i++) {
        struct node *n = malloc(sizeof *n);

        n->value = i;
        push(n);
    }
    mark();
    return NULL;
}

THREAD(taker)
{
    int taken = 0;

    after(1);
    while (taken < PUSHERS * EACH)
        taken += take_all();
    return NULL;
}

int main(void)
{
    pthread_t t[PUSHERS + 1];

    mallopt(M_ARENA_MAX, 1);
    for (int i = 0; i <= PUSHERS; i++)
        t[i] = spawn(i < PUSHERS ? pusher : taker, NULL);
    for (int i = 0; i <= PUSHERS; i++)
        join(t[i]);
    MUST(atomic_load(&sum) == PUSHERS * EACH * (EACH + 1) / 2);
    return 0;
}
