// Data kept by descriptor number: the kernel gives a number out again only after it was closed, so what was done for
// its last owner happens before what is done for the next.
// NO RACE
#include <unistd.h>

#include "invisible.h"

static int table[64]; // by descriptor
static int ends[2];

THREAD(closer)
{
    table[ends[0]] = 1;
    close(ends[0]);
    mark();
    return NULL;
}

int main(void)
{
    pthread_t t;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&t, NULL, closer, NULL);
    after(1);
    int again = dup(ends[1]);
    if (again != ends[0])
        return 1;
    table[again] = 2;
    pthread_join(t, NULL);
    return 0;
}
