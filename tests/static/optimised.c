// The same at -O2, where functions are inlined and fields kept in registers.
// FLAGS -O2
#include <pthread.h>

struct shared {
    pthread_mutex_t lock;
    int guarded, open;
} s = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add(struct shared *p, int n)
{
    pthread_mutex_lock(&p->lock);
    p->guarded += n; // NO PAIR
    pthread_mutex_unlock(&p->lock);
    p->open += n; // PAIR a
}

static void *thread(void *arg)
{
    add(arg, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, &s);
    add(&s, 2);
    pthread_join(t, NULL);
    return 0;
}
