// What a once-function writes, and somebody who does not wait for it.
#include <pthread.h>

static pthread_once_t o = PTHREAD_ONCE_INIT;
int set, other;

static void init(void)
{
    set = 1;
    other = 1; // RACE a
}

static void *f(void *a)
{
    pthread_once(&o, init);
    if (set)
        return a;
    return 0;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    other = 3; // RACE a
    pthread_once(&o, init);
    pthread_join(t, 0);
    return set & 0;
}
