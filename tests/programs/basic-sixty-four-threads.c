// Sixty-four threads live at once, each racing with the one before it.
#include "invisible.h"

long count;

THREAD(worker)
{
    after((int)(long)arg);
    count++; // RACE a
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
    MUST(count == 64);
    return 0;
}
