// A function's static local is shared by all who call it.
#include "invisible.h"

static int next_id(void)
{
    static int last;

    return ++last; // RACE a
}

THREAD(worker)
{
    after(*(int *)arg);
    use(next_id());
    mark();
    return NULL;
}

int main(void)
{
    int zero = 0, one = 1;
    pthread_t a = spawn(worker, &zero), b = spawn(worker, &one);

    join(a);
    join(b);
    return 0;
}
