// Two thousand threads, created and joined one after the other, all touching the same word.
// NO RACE
#include "invisible.h"

long count;

THREAD(worker)
{
    count++;
    return NULL;
}

int main(void)
{
    for (int i = 0; i < 2000; i++)
        join(spawn(worker, NULL));
    MUST(count == 2000);
    return 0;
}
