// malloc, memcpy, pthread_create and locks, all called through pointers.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void *(*my_malloc)(size_t) = malloc;

void *(*my_copy)(void *, const void *, size_t) = memcpy;

int (*start)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;

int (*lk)(pthread_mutex_t *) = pthread_mutex_lock, (*ulk)(pthread_mutex_t *) = pthread_mutex_unlock;

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

int *p;
int x, g;

int *q;

static void *f(void *a)
{
    *p = 1; // RACE a
    *q = 3; // RACE b
    lk(&m);
    g++;
    ulk(&m);
    return a;
}

int main(int c, char **v)
{
    if (c > 9) {
        my_malloc = 0;
        start = 0;
        my_copy = 0;
        lk = 0;
        ulk = 0;
    }
    (void)v;
    p = my_malloc(4);
    int *from = &x;
    my_copy(&q, &from, sizeof q);
    pthread_t t;
    start(&t, 0, f, 0);
    *p = 2; // RACE a
    x = 2;  // RACE b
    lk(&m);
    g++;
    ulk(&m);
    pthread_join(t, 0);
    return 0;
}
