// Taken and released in each round; what is between two rounds is not protected.
#include <pthread.h>

int x, y;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&m);
        x++; // NO PAIR
        pthread_mutex_unlock(&m);
        y++; // PAIR a
    }
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
