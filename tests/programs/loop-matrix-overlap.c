// The same with row bounds off by one: two threads write one row.
// FLAGS: -O2
#include "invisible.h"

enum { N = 16 };
double c[N][N];

THREAD(rows)
{
    int from = (int)(long)arg * N / 2, to = from + N / 2;

    after((int)(long)arg);
    for (int i = from; i <= to && i < N; i++)
        for (int j = 0; j < N; j++)
            c[i][j] += i * j; // RACE a
    mark();
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(rows, (void *)0), b = spawn(rows, (void *)1);

    join(a);
    join(b);
    return 0;
}
