// A block that is held by a pointer to its first member, which is as large as all of it.
#include <pthread.h>
#include <stdlib.h>

struct base {
    long kind;
    char name[40];
};
struct derived {
    struct base base;
};

static void *thread(void *arg)
{
    struct derived *d = arg;
    d->base.kind = 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct base *b = malloc(sizeof(struct derived));
    pthread_create(&t, NULL, thread, b);
    b->kind = 2; // PAIR a
    return pthread_join(t, NULL);
}
