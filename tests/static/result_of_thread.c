// What a thread returns is main's after the join.
#include <pthread.h>
#include <stdlib.h>

static void *thread(void *arg)
{
    int *p = malloc(sizeof *p);
    if (p)
        *p = 1; // NO PAIR
    return p;
}

int main(void)
{
    pthread_t t;
    void *p;
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, &p);
    return p ? *(int *)p : 0; // NO PAIR
}
