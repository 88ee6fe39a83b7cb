// Taken out without a lock: the place races, so two threads may take the same.
#include <pthread.h>
#include <stdlib.h>

struct block {
    int number;
};
static struct block *at[4];
static unsigned head;

static void *thread(void *arg)
{
    struct block *b = at[head % 4]; // PAIR a b
    head++;                         // PAIR a c
    if (b)
        b->number++; // PAIR d
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    struct block *b = malloc(sizeof *b);
    if (!b)
        abort();
    at[0] = b; // PAIR b
    return 0;
}
