// A block is as large as it was asked for: an access beyond its end is to another block, also where a wrapper allocates.
#include <pthread.h>
#include <stdlib.h>

struct small {
    int kind;
};
struct large {
    int kind;
    long room[4];
    int count;
};
void *one, *other;

__attribute__((noinline)) static void *allocate(size_t size)
{
    void *p = malloc(size);
    if (p == NULL)
        abort();
    return p;
}

static void *thread(void *arg)
{
    struct large *mine = one;
    if (mine->kind)      // NO PAIR
        mine->count = 1; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct small *s = allocate(sizeof *s);
    struct large *l = allocate(sizeof *l), *m = allocate(sizeof *m);
    s->kind = 0;
    l->kind = m->kind = 1;
    one = argc > 1 ? (void *)s : l;
    other = argc > 2 ? (void *)s : m;
    pthread_create(&t, NULL, thread, NULL);
    struct large *mine = other;
    if (mine->kind)
        mine->count = 2; // NO PAIR
    pthread_join(t, NULL);
    return 0;
}
