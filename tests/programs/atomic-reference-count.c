// A reference count: relaxed up, release down, and an acquire by the one who frees.
// NO RACE
#include <stdatomic.h>

#include "invisible.h"

struct object {
    atomic_int references;
    int data[8];
};

static void drop(struct object *o)
{
    if (atomic_fetch_sub_explicit(&o->references, 1, memory_order_acq_rel) == 1) {
        for (int i = 0; i < 8; i++)
            o->data[i] = -1;
        free(o);
    }
}

THREAD(user)
{
    struct object *o = arg;

    o->data[0] += 0;
    drop(o);
    return NULL;
}

THREAD(reader)
{
    struct object *o = arg;

    use(o->data[1]);
    drop(o);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 20; i++) {
        struct object *o = calloc(1, sizeof(*o));
        pthread_t a, b;

        atomic_fetch_add_explicit(&o->references, 2, memory_order_relaxed);
        a = spawn(user, o);
        b = spawn(reader, o);
        join(a);
        join(b);
    }
    return 0;
}
