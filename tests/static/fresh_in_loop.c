// Allocated before the loop, shown to others in it: from the second time round it is theirs too.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int *shown;

static void *thread(void *arg)
{
    int *p = malloc(sizeof *p);
    if (!p)
        abort();
    for (int i = 0; i < 4; i++) {
        *p = i; // PAIR a b
        pthread_mutex_lock(&lock);
        if (shown)
            *shown = 5; // PAIR a
        shown = p;      // NO PAIR
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    return 0;
}
