// An access under a condition inside a loop is made only where the condition holds.
// NO RACE
// FLAGS: -O2
#include "invisible.h"

char owner[128];
int value[128];

THREAD(worker)
{
    char me = (char)(long)arg;

    for (int i = 0; i < 128; i++)
        if (owner[i] == me)
            value[i]++;
    mark();
    after(2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    for (int i = 0; i < 128; i++)
        owner[i] = (char)((i * 7) % 3 == 0);
    a = spawn(worker, (void *)0);
    b = spawn(worker, (void *)1);
    join(a);
    join(b);
    return 0;
}
