// A function that creates a thread and is never called creates none.
// NO THREADS
#include <pthread.h>

int x;

static void *thread(void *arg)
{
    x = 1; // NO PAIR
    return NULL;
}

__attribute__((used)) static void never(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
}

int main(void)
{
    x = 2; // NO PAIR
    return 0;
}
