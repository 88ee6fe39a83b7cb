// Fields of structures in an array on the heap: elements are one, fields are not.
#include <pthread.h>
#include <stdlib.h>

struct entry {
    long key, value;
};

static void *thread(void *arg)
{
    struct entry *e = arg;
    for (int i = 0; i < 100; i++)
        e[i].value = 1; // PAIR a
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    struct entry *e = calloc(100, sizeof *e);
    if (!e)
        return 1;
    pthread_create(&t, NULL, thread, e);
    e[argc].key = 2;   // NO PAIR
    e[argc].value = 2; // PAIR a
    pthread_join(t, NULL);
    return 0;
}
