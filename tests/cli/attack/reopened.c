/*
 * reopened.c - the library of reopen.c: globals, thread-local storage, a constructor, a thread of its own.
 */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int calls, table[1000];
static __thread int mine;

__attribute__((constructor)) static void start(void)
{
    calls = 1;
}

__attribute__((destructor)) static void stop(void)
{
    calls = 0;
}

static void *count(void *arg)
{
    pthread_mutex_lock(&mutex);
    calls++;
    for (int i = 0; i < 1000; i++)
        table[i] += calls;
    *(int *)arg = calls + ++mine;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int work(void)
{
    pthread_t t;
    int here, there;
    if (pthread_create(&t, NULL, count, &there) != 0)
        return -1;
    count(&here);
    pthread_join(t, NULL);
    return here + there;
}
