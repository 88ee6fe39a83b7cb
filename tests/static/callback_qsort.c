// qsort calls back, with pointers into what it sorts.
#include <pthread.h>
#include <stdlib.h>

int calls;
int shared[10];

static int compare(const void *a, const void *b)
{
    calls++;                                  // PAIR a
    return *(const int *)a - *(const int *)b; // PAIR c
}

static void *thread(void *arg)
{
    qsort(shared, 10, sizeof shared[0], compare); // PAIR d
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    calls = 0;     // PAIR a
    shared[3] = 1; // PAIR c d
    pthread_join(t, NULL);
    return 0;
}
