/*
 * causes.c - one bad memcpy that four lines read from, and a counter with a race of its own. Threads take turns by
 * invisible.h, so that every run has the same races.
 */
#include "invisible.h"

#include <string.h>

enum { SIZE = 64 };
char shared[SIZE];
int counter;

THREAD(writer)
{
    char own[SIZE];
    memset(own, 1, sizeof own);
    memcpy(shared, own, sizeof shared); /* the cause of four races */
    counter = 1;
    mark();
    return NULL;
}

THREAD(reader)
{
    after(1);
    use(shared[0]);
    use(shared[20]);
    use(shared[40]);
    for (int i = 0; i < 3; i++)
        use(shared[60]);
    counter = 2;
    return NULL;
}

int main(void)
{
    both(writer, reader);
    return 0;
}
