// Blocks of two pools are told apart, though one function takes them out or allocates them.
#include <pthread.h>
#include <stdlib.h>

struct block {
    struct block *next;
    int count;
};
struct pool {
    struct block *free;
    size_t size;
};

__attribute__((noinline)) static void *take(struct pool *p)
{
    struct block *b = p->free;
    if (b != NULL)
        p->free = b->next;
    else
        b = malloc(p->size);
    return b;
}

__attribute__((noinline)) static void give(struct pool *p, void *what)
{
    struct block *b = what;
    b->next = p->free;
    p->free = b;
}

static void *thread(void *arg)
{
    struct block *b = arg;
    b->count = 1; // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct pool *mine = calloc(1, sizeof *mine), *yours = calloc(1, sizeof *yours);
    mine->size = yours->size = sizeof(struct block);
    struct block *a = take(mine), *b = take(yours);
    pthread_create(&t, NULL, thread, b);
    a->count = 2; // NO PAIR
    pthread_join(t, NULL);
    give(mine, a);
    give(yours, b);
    return 0;
}
