// Two threads keep each other out with relaxed flags and sequentially consistent fences between their store
// and their load; who leaves does so behind a release fence.
// NO RACE
// TSAN: it does not handle fences
#include <sched.h>
#include <stdatomic.h>

#include "invisible.h"

enum { TURNS = 100 };
static atomic_int wants[2], favoured;
static long count;

static void enter(int me)
{
    atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&wants[!me], memory_order_relaxed)) {
        if (atomic_load_explicit(&favoured, memory_order_relaxed) != me) {
            atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
            while (atomic_load_explicit(&favoured, memory_order_relaxed) != me)
                sched_yield();
            atomic_store_explicit(&wants[me], 1, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst);
        } else {
            sched_yield();
        }
    }
    atomic_thread_fence(memory_order_acquire);
}

static void leave(int me)
{
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&favoured, !me, memory_order_relaxed);
    atomic_store_explicit(&wants[me], 0, memory_order_relaxed);
}

static void work(int me)
{
    for (int i = 0; i < TURNS; i++) {
        enter(me);
        count++;
        leave(me);
    }
    atomic_store_explicit(&favoured, !me, memory_order_relaxed);
}

THREAD(first)
{
    work(0);
    return NULL;
}

THREAD(second)
{
    work(1);
    return NULL;
}

int main(void)
{
    both(first, second);
    MUST(count == 2 * TURNS);
    return 0;
}
