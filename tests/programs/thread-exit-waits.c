// main is gone before its threads have done anything: they are given time at exit. One ends by itself; one waits for a lock that
// will never be free, which nobody waits for, and neither for one that has ended.
// OPTIONS: exit_wait=60000
// EXIT: 66
#include "invisible.h"

pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
int x;

THREAD(blocked)
{
    mark();
    pthread_mutex_lock(&never);
    return NULL;
}

THREAD(late)
{
    after(2);
    for (int i = 0; i < 1000; i++)
        after(2); // it has far to go
    x = 2;        // RACE a:write
    return NULL;
}

int main(void)
{
    pthread_mutex_lock(&never);
    spawn(blocked, NULL);
    spawn(late, NULL);
    after(1);
    x = 1; // RACE a:write
    mark();
    return 0;
}
