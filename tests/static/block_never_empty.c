// An allocator that makes one byte of none: its blocks are as large as what was asked for.
#include <pthread.h>
#include <stdlib.h>

struct entry {
    long key;
    long *value;
};
struct box {
    struct entry list[3];
    long *mine, *fill, *yours;
};
long x, y;

__attribute__((noinline)) static void *allocate(size_t size)
{
    if (size == 0)
        size = 1;
    void *p = malloc(size);
    if (!p)
        abort();
    return p;
}

__attribute__((noinline)) static void clear(struct entry *e)
{
    for (; e->key; e++)
        e->value = NULL;
}

static void *thread(void *arg)
{
    struct box *b = arg;
    *b->mine = 1; // NO PAIR
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    char *text = allocate((size_t)argc);
    struct box *b = allocate(sizeof *b);
    b->mine = &x;
    b->yours = &y;
    clear(b->list);
    pthread_create(&t, NULL, thread, b);
    *b->yours = text[0]; // NO PAIR
    return pthread_join(t, NULL);
}
