// A spin lock on one side only.
#include "invisible.h"

pthread_spinlock_t s;
int x;

THREAD(first)
{
    pthread_spin_lock(&s);
    x = 1; // RACE a:write
    pthread_spin_unlock(&s);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    x = 2; // RACE a:write
    return NULL;
}

int main(void)
{
    pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
    both(first, second);
    return 0;
}
