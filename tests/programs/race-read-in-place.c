// A word that two threads of one class read epoch after epoch has a place for each in its history. A read that
// is put there is still to be compared with the last write.
#include "invisible.h"

enum { CLASSES = 8, TIMES = 16 };
pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER},
                m = PTHREAD_MUTEX_INITIALIZER;
volatile int x;

static __attribute__((noinline)) int get(void)
{
    return x; // RACE a:read
}

/* The two take turns; each read is in an epoch of its own, and nothing orders those of the one with the other's. */
static void read_often(int me)
{
    for (int i = 0; i < TIMES; i++) {
        after(2 * i + me);
        pthread_mutex_lock(&own[me]);
        use(get());
        pthread_mutex_unlock(&own[me]);
        mark();
    }
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    mark();
}

THREAD(first)
{
    read_often(0);
    after(2 * TIMES + 3);
    use(get());
    mark();
    return NULL;
}

THREAD(second)
{
    read_often(1);
    after(2 * TIMES + 4);
    return NULL;
}

THREAD(writer)
{
    after(2 * TIMES + 2);
    pthread_mutex_lock(&m);
    x = 1; // RACE a:write
    mark();
    after(2 * TIMES + 4);
    pthread_mutex_unlock(&m);
    return NULL;
}

THREAD(idle)
{
    after(2 * TIMES + 4);
    return NULL;
}

int main(void)
{
    pthread_t t[CLASSES + 1];
    t[0] = spawn(first, NULL);
    t[1] = spawn(writer, NULL);
    for (int i = 2; i < CLASSES; i++)
        t[i] = spawn(idle, NULL);
    t[CLASSES] = spawn(second, NULL); /* in the class of the first */
    for (int i = 0; i <= CLASSES; i++)
        join(t[i]);
    return 0;
}
