// Double-checked locking done right.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

struct thing {
    int value;
};

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
_Atomic(struct thing *) instance;

static struct thing *get(void)
{
    struct thing *t = atomic_load_explicit(&instance, memory_order_acquire);

    if (!t) {
        pthread_mutex_lock(&m);
        t = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!t) {
            t = malloc(sizeof(*t));
            t->value = 7;
            atomic_store_explicit(&instance, t, memory_order_release);
        }
        pthread_mutex_unlock(&m);
    }
    return t;
}

THREAD(first)
{
    MUST(get()->value == 7);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    MUST(get()->value == 7);
    return NULL;
}

int main(void)
{
    both(first, second);
    return 0;
}
