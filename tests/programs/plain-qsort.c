// Callbacks from libc's qsort and bsearch, in two threads with data of their own.
// NO RACE
#include "invisible.h"

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

int numbers[2][500];

THREAD(sorter)
{
    int *mine = numbers[(long)arg], key = 77;

    for (int i = 0; i < 500; i++)
        mine[i] = (i * 7919) % 1009;
    qsort(mine, 500, sizeof(int), compare);
    for (int i = 1; i < 500; i++)
        MUST(mine[i - 1] <= mine[i]);
    use((long)bsearch(&key, mine, 500, sizeof(int), compare));
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(sorter, (void *)0), b = spawn(sorter, (void *)1);

    join(a);
    join(b);
    return 0;
}
