// Nothing can race in a program that creates no thread.
// NO THREADS
#include <pthread.h>

int x;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int main(void)
{
    pthread_mutex_lock(&m);
    x = 1; // NO PAIR
    pthread_mutex_unlock(&m);
    return x; // NO PAIR
}
