// Waiting with one lock releases that one, not the other.
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;

__attribute__((noinline)) static void wait_for(void)
{
    pthread_cond_wait(&c, &n);
}

static void *thread(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    wait_for();
    pthread_mutex_unlock(&n);
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(&m);
    x++; // NO PAIR
    pthread_mutex_unlock(&m);
    pthread_cond_signal(&c);
    pthread_join(t, NULL);
    return 0;
}
