// Published through a plain pointer: the pointer itself races.
#include <pthread.h>
#include <stdlib.h>

int *current;

static void *reader(void *arg)
{
    int *p = current; // PAIR a
    if (p)
        *p = 1; // PAIR b
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, reader, NULL);
    int *p = malloc(sizeof *p);
    if (!p)
        return 1;
    current = p; // PAIR a
    *p = 2;      // PAIR b
    pthread_join(t, NULL);
    return 0;
}
