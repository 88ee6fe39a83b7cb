// Sixty-four threads live at once, counting under a lock, with a buffer of their own each.
// NO RACE
#include "invisible.h"

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
long count;
char own[64];

THREAD(worker)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&m);
        count++;
        pthread_mutex_unlock(&m);
        own[(long)arg]++;
    }
    mark();
    after(64);
    return NULL;
}

int main(void)
{
    pthread_t t[64];

    for (long i = 0; i < 64; i++)
        t[i] = spawn(worker, (void *)i);
    for (int i = 0; i < 64; i++)
        join(t[i]);
    MUST(count == 64 * 50);
    for (int i = 0; i < 64; i++)
        MUST(own[i] == 50);
    return 0;
}
