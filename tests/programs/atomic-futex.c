// A mutex made of an atomic word and the futex system call: the call only waits, the word orders.
// NO RACE
// FLAGS: -D_GNU_SOURCE
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "invisible.h"

static atomic_int word; /* 0: free, 1: taken, 2: taken and waited for */
static long count;

static void lock(void)
{
    int seen = 0;

    if (atomic_compare_exchange_strong_explicit(&word, &seen, 1, memory_order_acquire, memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void)
{
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

THREAD(worker)
{
    for (int i = 0; i < 200; i++) {
        lock();
        count++;
        unlock();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        t[i] = spawn(worker, NULL);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    MUST(count == 800);
    return 0;
}
