// A block is initialised, then published through an atomic pointer: no pair if that is taken into account.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int size, used;
};
_Atomic(struct config *) current;

static void *reader(void *arg)
{
    struct config *c = atomic_load(&current);
    if (!c)
        return NULL;
    c->used = c->size; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, reader, NULL);
    struct config *c = malloc(sizeof *c);
    if (!c)
        return 1;
    c->size = 5; // PAIR a:published
    atomic_store(&current, c);
    pthread_join(t, NULL);
    return 0;
}
