// The classic: the address of the loop variable given to each thread.
#include "invisible.h"

THREAD(child)
{
    after(1);
    use(*(int *)arg); // RACE a:read
    mark();
    return NULL;
}

int main(void)
{
    pthread_t t[1];
    int i;

    for (i = 0; i < 1; i++) // RACE a
        t[i] = spawn(child, &i);
    mark();
    join(t[0]);
    return 0;
}
