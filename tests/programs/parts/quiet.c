// A library used correctly, with thread-local storage and a constructor.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static __thread int calls;
static int total, ready;

__attribute__((constructor)) static void prepare(void)
{
    ready = 1;
}

int quiet_add(void)
{
    if (!ready)
        return -1;
    pthread_mutex_lock(&m);
    total++;
    pthread_mutex_unlock(&m);
    return ++calls;
}
