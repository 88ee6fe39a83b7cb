// What a thread runs comes out of a table.
#include <pthread.h>

int x;

static void *first(void *arg)
{
    x = 1; // PAIR a b
    return NULL;
}

static void *second(void *arg)
{
    x = 2; // PAIR b c
    return NULL;
}

static void *(*const table[])(void *) = {first, second};

int main(int argc, char **argv)
{
    pthread_t t[2];
    for (int i = 0; i < argc; i++)
        pthread_create(&t[i], NULL, table[i], NULL);
    for (int i = 0; i < argc; i++)
        pthread_join(t[i], NULL);
    return 0;
}
