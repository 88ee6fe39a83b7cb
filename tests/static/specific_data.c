// What pthread_setspecific keeps is each thread's own.
#include <pthread.h>
#include <stdlib.h>

pthread_key_t key;

__attribute__((noinline)) static int *mine(void)
{
    int *p = pthread_getspecific(key);
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p)
            abort();
        pthread_setspecific(key, p);
    }
    return p;
}

static void *thread(void *arg)
{
    ++*mine(); // NO PAIR
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    pthread_key_create(&key, free);
    pthread_create(&t, NULL, thread, NULL);
    pthread_create(&u, NULL, thread, NULL);
    pthread_join(t, NULL);
    return pthread_join(u, NULL);
}
