// A pointer that walks over an array in a structure stays in it: the members behind are told apart.
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

__attribute__((noinline)) static void clear(struct entry *e)
{
    for (; e->key; e++)
        e->value = NULL;
}

static void *thread(void *arg)
{
    struct box *b = arg;
    *b->mine = 1;          // NO PAIR
    b->list[1].value = &x; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct box *b = calloc(1, sizeof *b);
    b->mine = &x;
    b->yours = &y;
    clear(b->list);
    pthread_create(&t, NULL, thread, b);
    *b->yours = 2;         // NO PAIR
    b->list[1].value = &y; // PAIR a
    pthread_join(t, NULL);
    free(b);
    return 0;
}
