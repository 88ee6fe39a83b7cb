// As the front end leaves it: every local variable in memory.
// FLAGS -O0 -Xclang -disable-O0-optnone
#include <pthread.h>

struct shared {
    pthread_mutex_t lock;
    int guarded, open;
} s = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *thread(void *arg)
{
    struct shared *p = arg;
    pthread_mutex_lock(&p->lock);
    p->guarded++; // NO PAIR
    pthread_mutex_unlock(&p->lock);
    p->open++; // PAIR a
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct shared *p = &s;
    pthread_create(&t, NULL, thread, p);
    pthread_mutex_lock(&p->lock);
    p->guarded++; // NO PAIR
    p->open++;    // PAIR a
    pthread_mutex_unlock(&p->lock);
    pthread_join(t, NULL);
    return 0;
}
