// An array of one element at the end of a structure goes on behind it, as it was written before C99.
#include <pthread.h>
#include <stdlib.h>

struct list {
    long length;
    long items[1];
};

__attribute__((noinline)) static void fill(long *p, const long *end)
{
    for (; p < end; p++)
        *p += 1; // PAIR a
}

static void *thread(void *arg)
{
    struct list *l = arg;
    l->length = 3; // NO PAIR
    fill(l->items, l->items + l->length);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct list *l = malloc(sizeof *l + (size_t)argc * 8);
    long *third = (long *)l + 3;
    pthread_create(&t, NULL, thread, l);
    *third = 1; // PAIR a
    return pthread_join(t, NULL);
}
