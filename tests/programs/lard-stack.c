// Threads that take turns on one stack: what one leaves behind there is not the next one's affair.
// TSAN: it does not know the interface
// NO RACE
#include <deadheat/lard.h>

#include "invisible.h"

enum { THREADS = 10 };

__attribute__((noinline)) static int frame(int depth, int *above)
{
    int local[8];
    for (int i = 0; i < 8; i++)
        local[i] = depth + i;
    __asm__ volatile("" : : "r"(local) : "memory");
    *above = local[3];
    return depth > 0 ? frame(depth - 1, &local[5]) + local[5] : local[0];
}

__attribute__((noinline)) static void become(dh_lard_thread *t)
{
    dh_lard_thread_switch(t);
}

__attribute__((noinline)) static void task(int depth)
{
    int result;
    frame(depth, &result);
}

DH_UNTRACKED static void scheduler(dh_lard_thread **threads)
{
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < THREADS; i++) {
            become(threads[i]);
            task(20 + i);
        }
    }
    become(NULL);
}

int main(void)
{
    dh_lard_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = dh_lard_thread_new("task");
    task(10);
    scheduler(threads);
    task(30);
    for (int i = 0; i < THREADS; i++) {
        dh_lard_thread_end(threads[i]);
        dh_lard_thread_join(threads[i]);
    }
    task(5);
    return 0;
}
