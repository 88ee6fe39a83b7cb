// A structure with its lock, on the heap, one of its kind.
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance, fees;
};

static void *thread(void *arg)
{
    struct account *a = arg;
    pthread_mutex_lock(&a->lock);
    a->balance += 1; // NO PAIR
    pthread_mutex_unlock(&a->lock);
    a->fees += 1; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct account *a = calloc(1, sizeof *a);
    if (!a)
        return 1;
    pthread_mutex_init(&a->lock, NULL);
    pthread_create(&t, NULL, thread, a);
    pthread_mutex_lock(&a->lock);
    a->balance -= 1; // NO PAIR
    a->fees += 2;    // PAIR a
    pthread_mutex_unlock(&a->lock);
    pthread_join(t, NULL);
    return 0;
}
