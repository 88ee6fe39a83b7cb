// Each thread initialises what it has allocated itself: never the same memory, though the code is the same.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *list[8];
static int n;

static void *thread(void *arg)
{
    int *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = 1; // NO PAIR
    pthread_mutex_lock(&lock);
    list[n++] = p; // NO PAIR
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, thread, NULL);
    return 0;
}
