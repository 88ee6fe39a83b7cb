// One release fence serves all stores behind it, and one acquire fence all loads before it, whichever they
// are.
// NO RACE
// TSAN: it does not handle fences
#include <stdatomic.h>

#include "invisible.h"

enum { THREADS = 4, FLAGS = 3 };
static atomic_int flags[THREADS][FLAGS];
static int data[THREADS];

THREAD(publishes)
{
    int me = (int)(long)arg;

    data[me] = me;
    atomic_thread_fence(memory_order_acq_rel);
    for (int i = 0; i < FLAGS; i++)
        atomic_store_explicit(&flags[me][i], 1, memory_order_relaxed);
    mark();
    return NULL;
}

THREAD(collects)
{
    int which = (int)(long)arg;

    after(THREADS);
    for (int i = 0; i < THREADS; i++)
        MUST(atomic_load_explicit(&flags[i][which], memory_order_relaxed) == 1);
    atomic_thread_fence(which ? memory_order_acquire : memory_order_seq_cst);
    for (int i = 0; i < THREADS; i++)
        MUST(data[i] == i);
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS + FLAGS];

    for (long i = 0; i < THREADS; i++)
        t[i] = spawn(publishes, (void *)i);
    for (long i = 0; i < FLAGS; i++)
        t[THREADS + i] = spawn(collects, (void *)i);
    for (int i = 0; i < THREADS + FLAGS; i++)
        join(t[i]);
    return 0;
}
