// Boehm's collector in a threaded program: it allocates, marks and sweeps behind the program's back, and hands a
// dead thread's objects to others. Its library is not instrumented; the program tells where objects begin.
// FLAGS: -lgc
// TSAN: it does not know the interface
#define GC_THREADS
#include <deadheat/lard.h>
#include <gc.h>

#include "invisible.h"

enum { THREADS = 4, ROUNDS = 400, LENGTH = 40 };

struct node {
    struct node *next;
    long value;
};

long racy;

/* A new object has no past, whoever's memory it was. */
static void *fresh(size_t n)
{
    dh_lard_system_begin();
    void *p = GC_MALLOC(n);
    dh_lard_system_end();
    dh_lard_clear(p, n);
    return p;
}

static long list(int seed)
{
    struct node *head = NULL;
    long sum = 0;
    for (int i = 0; i < LENGTH; i++) {
        struct node *n = fresh(sizeof(*n));
        n->next = head;
        n->value = seed + i;
        head = n;
    }
    for (struct node *n = head; n; n = n->next)
        sum += n->value;
    return sum;
}

THREAD(worker)
{
    int id = (int)(long)arg;
    mark();
    after(THREADS); /* starting and ending threads synchronises with the collector */
    for (int round = 0; round < ROUNDS; round++)
        MUST(list(round) == (long)LENGTH * round + LENGTH * (LENGTH - 1) / 2);
    if (id < 2)
        racy++; // RACE a
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    GC_INIT();
    GC_allow_register_threads();
    for (long i = 0; i < THREADS; i++)
        threads[i] = spawn(worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        join(threads[i]);
    MUST(GC_get_gc_no() > 0);
    return 0;
}
