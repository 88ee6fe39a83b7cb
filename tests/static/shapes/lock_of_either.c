// A pointer to one of two structures, from which lock and data are found.
// WRONG 1: the data are those of the other structure
// WRONG 2: the lock is that of one structure, whichever is meant
// WRONG 3: the pointer is set again in between
#include "shapes.h"

struct pair {
    int first, second;
    pthread_mutex_t lock;
} one = {.lock = PTHREAD_MUTEX_INITIALIZER}, two = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set(int *to)
{
    *to = 8; // HERE
}

static void *thread(void *arg)
{
    pthread_mutex_lock(&one.lock);
    one.first = one.second = 5; // HERE
    pthread_mutex_unlock(&one.lock);
    return arg;
}

int main(void)
{
    pthread_t t;
    struct pair *p = &two;
    if (input())
        p = &one;
    pthread_mutex_t *lock = &W2(two, (*p)).lock;
    W3(if (input()) p = &one;, )
    int *data = &W1(one, (*p)).first, *more = &p->second;
    pthread_create(&t, NULL, thread, NULL);
    pthread_mutex_lock(lock);
    *data = 8; // HERE
    set(more);
    pthread_mutex_unlock(lock);
    return pthread_join(t, NULL);
}
