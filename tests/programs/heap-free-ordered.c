// A reference count under a lock; the last one out frees.
// NO RACE
#include "invisible.h"

struct object {
    pthread_mutex_t lock;
    int references;
    int data[16];
};

THREAD(user)
{
    struct object *o = arg;
    int left;

    for (int i = 0; i < 16; i++)
        use(o->data[i]);
    pthread_mutex_lock(&o->lock);
    left = --o->references;
    pthread_mutex_unlock(&o->lock);
    if (left == 0)
        free(o);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 20; round++) {
        struct object *o = calloc(1, sizeof(*o));
        pthread_t a, b;

        pthread_mutex_init(&o->lock, NULL);
        o->references = 2;
        a = spawn(user, o);
        b = spawn(user, o);
        join(a);
        join(b);
    }
    return 0;
}
