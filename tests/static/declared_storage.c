// Memory of bytes is used as anything: a block, and an array of bytes in a structure.
#include <pthread.h>
#include <stdlib.h>

struct alpha {
    long state, count, sum;
};
struct arena {
    size_t used;
    char memory[4096];
};

static void *thread(void *arg)
{
    struct alpha **all = arg, *a = all[0], *b = all[1];
    a->count = 1; // PAIR a
    b->count = 1; // PAIR b
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    char *bytes = malloc(100 * (size_t)argc);
    struct arena *r = malloc(sizeof *r);
    struct alpha *a = (struct alpha *)bytes, *b = (struct alpha *)(r->memory + 64), *all[2] = {a, b};
    pthread_create(&t, NULL, thread, all);
    a->count = 2; // PAIR a
    b->count = 2; // PAIR b
    return pthread_join(t, NULL);
}
