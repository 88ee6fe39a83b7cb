// FLAGS -O0
// Pointers that change while there are threads, or after main has taken the lock that one led to.
#include <pthread.h>
#include <stdlib.h>

struct slot {
    pthread_mutex_t lock;
    int first, second, third;
} *by_main, *by_thread, *stale;
#define COUNT(p, member) (pthread_mutex_lock(&(p)->lock), (p)->member++, pthread_mutex_unlock(&(p)->lock))

static void *thread(void *arg)
{
    COUNT(by_main, first);    // PAIR a b
    COUNT(by_thread, second); // PAIR c d
    by_thread = arg;          // PAIR d e
    COUNT(stale, third);      // PAIR f
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    struct slot *some = calloc(4, sizeof *some), *others = calloc(4, sizeof *others);
    by_main = by_thread = stale = some;
    pthread_mutex_lock(&stale->lock);
    pthread_mutex_t *held = &stale->lock;
    stale = others;
    pthread_create(&t, NULL, thread, some);
    pthread_create(&u, NULL, thread, others);
    stale->third++; // PAIR f
    pthread_mutex_unlock(held);
    by_main = others; // PAIR a
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
