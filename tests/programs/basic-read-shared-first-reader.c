// Read-shared data where only the first of two readers is unordered with the writer: the second reader must
// not have pushed the first out of the history, and must itself not be reported.
#include "invisible.h"

int x;

THREAD(lost)
{
    use(x); // RACE a:read
    mark();
    after(3);
    return NULL;
}

THREAD(known)
{
    after(1);
    use(x);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(lost, NULL), b = spawn(known, NULL);

    join(b);
    after(2);
    x = 1; // RACE a:write
    mark();
    join(a);
    return 0;
}
