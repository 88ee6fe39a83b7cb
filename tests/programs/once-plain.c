// pthread_once: whoever comes second sees all that the routine wrote.
// NO RACE
#include "invisible.h"

pthread_once_t once = PTHREAD_ONCE_INIT;
int table[32], runs;

static void fill(void)
{
    for (int i = 0; i < 32; i++)
        table[i] = i * i;
    runs++;
}

THREAD(first)
{
    pthread_once(&once, fill);
    MUST(table[5] == 25);
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    pthread_once(&once, fill);
    for (int i = 0; i < 32; i++)
        MUST(table[i] == i * i);
    return NULL;
}

int main(void)
{
    both(first, second);
    MUST(runs == 1);
    return 0;
}
