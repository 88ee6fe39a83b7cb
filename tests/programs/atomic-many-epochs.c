// Initialised plainly by one thread, in order, and then used atomically by several over many epochs: no
// race. A plain read by one of them, without order, still is one, however often the others were there before.
#include <pthread.h>
#include <stdatomic.h>

#include "invisible.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long counter, other;

static void count(atomic_long *p)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        atomic_fetch_add_explicit(p, 1, memory_order_relaxed); // NO RACE: atomic
        pthread_mutex_unlock(&lock);
        use(atomic_load_explicit(p, memory_order_acquire));
    }
}

static void last(atomic_long *p)
{
    atomic_fetch_add_explicit(p, 1, memory_order_relaxed); // RACE a:write
}

THREAD(first)
{
    count(&counter);
    count(&other);
    last(&other);
    mark();
    return NULL;
}

THREAD(second)
{
    count(&counter);
    count(&other);
    after(1);
    use(*(long *)&other); // RACE a:read
    return NULL;
}

int main(void)
{
    *(long *)&counter = 1; // NO RACE: before the threads
    *(long *)&other = 1;
    both(first, second);
    return 0;
}
