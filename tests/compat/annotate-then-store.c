// What an annotation publishes at an address is for whoever asks there by another annotation. Stores to that address, and the lock
// that lies there, do not take it back.
#include <sanitizer/tsan_interface.h>
#include <stdatomic.h>

#include "../programs/invisible.h"

void AnnotateHappensBefore(const char *file, int line, const volatile void *addr);
void AnnotateHappensAfter(const char *file, int line, const volatile void *addr);

atomic_int relaxed, released, own, exchanged;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int a, b, c, d, e, unpublished;

THREAD(publishes)
{
    after(1);
    a = b = c = d = e = 1;
    __tsan_release(&relaxed);
    AnnotateHappensBefore(__FILE__, __LINE__, &released);
    atomic_store_explicit(&own, 1, memory_order_release); // the annotation has nothing to add to it
    __tsan_release(&own);
    atomic_store_explicit(&own, 2, memory_order_relaxed);
    __tsan_release(&exchanged);
    AnnotateHappensBefore(__FILE__, __LINE__, &lock);
    unpublished = 1; // RACE u:write
    mark();
    return NULL;
}

THREAD(stores)
{
    pthread_mutex_lock(&lock); // before the annotation, and unlocked after it
    mark();
    after(2);
    atomic_store_explicit(&relaxed, 1, memory_order_relaxed);
    atomic_store_explicit(&released, 1, memory_order_release);
    atomic_exchange_explicit(&exchanged, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    mark();
    return NULL;
}

THREAD(relaxed_asks)
{
    after(3);
    __tsan_acquire(&relaxed);
    use(a);
    use(unpublished); // RACE u:read
    return NULL;
}

THREAD(released_asks)
{
    after(3);
    AnnotateHappensAfter(__FILE__, __LINE__, &released);
    use(b);
    return NULL;
}

THREAD(own_asks)
{
    after(3);
    __tsan_acquire(&own);
    use(c);
    return NULL;
}

THREAD(exchanged_asks)
{
    after(3);
    __tsan_acquire(&exchanged);
    use(d);
    return NULL;
}

THREAD(lock_asks)
{
    after(3);
    AnnotateHappensAfter(__FILE__, __LINE__, &lock);
    use(e);
    return NULL;
}

int main(void)
{
    void *(*const all[])(void *) = {publishes, stores,         relaxed_asks, released_asks,
                                    own_asks,  exchanged_asks, lock_asks};
    enum { N = sizeof(all) / sizeof(all[0]) };
    pthread_t t[N];

    for (int i = 0; i < N; i++)
        t[i] = spawn(all[i], NULL);
    for (int i = 0; i < N; i++)
        join(t[i]);
    return 0;
}
