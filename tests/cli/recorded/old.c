// How old.dht was made, with the last deadheat that wrote version 2 of the format:
//     deadheat cc -g -O1 -pthread old.c -o old && deadheat record -o old.dht -- ./old
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shared;

static void add(int n)
{
    *shared += n;
}

static void *body(void *unused)
{
    pthread_mutex_lock(&lock);
    add(1);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t t;
    shared = malloc(sizeof(*shared));
    *shared = 0;
    pthread_create(&t, NULL, body, NULL);
    add(2);
    pthread_join(t, NULL);
    free(shared);
    return 0;
}
