// Two locks on one side, the inner one on the other.
#include <pthread.h>

int x, y;
pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    x++; // NO PAIR
    pthread_mutex_unlock(&inner);
    y++; // PAIR a
    pthread_mutex_unlock(&outer);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&inner);
    x++; // NO PAIR
    y++; // PAIR a
    pthread_mutex_unlock(&inner);
    pthread_join(t, NULL);
    return 0;
}
