/* More threads than any small number: each has an element of its own, and all write one.
 * pairs: B-B; not: A-A */
#include "alias.h"
enum { THREADS = 200 };
volatile int own[THREADS], place[THREADS], shared;
static void *worker(void *arg)
{
    own[place[(long)arg]] = 1; /* A */
    shared = 1;                /* B */
    return NULL;
}
int main(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        place[i] = i;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (long i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
