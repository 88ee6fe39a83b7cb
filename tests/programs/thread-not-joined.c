// A detached thread has finished for all one can see, but nothing orders its work before ours.
#include "invisible.h"

int x;

THREAD(child)
{
    x = 1; // RACE a:write
    mark();
    return NULL;
}

int main(void)
{
    pthread_t t = spawn(child, NULL);

    pthread_detach(t);
    after(1);
    use(x); // RACE a:read
    return 0;
}
