// Peterson's algorithm with sequentially consistent atomics.
// NO RACE
#include <sched.h>

#include "invisible.h"

_Atomic int wants[2], turn;
long count;

THREAD(worker)
{
    long me = (long)arg;

    for (int i = 0; i < 100; i++) {
        wants[me] = 1;
        turn = 1 - (int)me;
        while (wants[1 - me] && turn == 1 - me)
            sched_yield();
        count++;
        wants[me] = 0;
    }
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(worker, (void *)0), b = spawn(worker, (void *)1);

    join(a);
    join(b);
    MUST(count == 200);
    return 0;
}
