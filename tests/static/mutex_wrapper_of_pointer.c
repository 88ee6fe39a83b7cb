// Wrappers that are given the structure whose lock they take.
#include <pthread.h>

struct table {
    long size;
    pthread_mutex_t lock;
} first = {.lock = PTHREAD_MUTEX_INITIALIZER}, second = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((noinline)) static void enter(struct table *t)
{
    pthread_mutex_lock(&t->lock);
}

__attribute__((noinline)) static void leave(struct table *t)
{
    pthread_mutex_unlock(&t->lock);
}

static void *thread(void *arg)
{
    enter(&first);
    first.size++;  // NO PAIR
    second.size++; // PAIR a
    leave(&first);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    enter(&first);
    first.size++; // NO PAIR
    leave(&first);
    enter(&second);
    second.size++; // PAIR a
    leave(&second);
    pthread_join(t, NULL);
    return 0;
}
