// An uninstrumented object in the same program: its locks order us, its own accesses are not reported.
// NO RACE
// PLAIN: plain.c
#include "invisible.h"

void plain_enter(void);
void plain_leave(void);
void plain_unlocked(void);

long count;

THREAD(worker)
{
    for (int i = 0; i < 100; i++) {
        plain_enter();
        count++;
        plain_leave();
        plain_unlocked();
    }
    return NULL;
}

int main(void)
{
    both(worker, worker);
    MUST(count == 200);
    return 0;
}
