// Rows of a matrix product: operands read by all, each result row written by one.
// NO RACE
// FLAGS: -O2
#include "invisible.h"

enum { N = 24 };
double a[N][N], b[N][N], c[N][N];

THREAD(rows)
{
    int from = (int)(long)arg * N / 4, to = from + N / 4;

    for (int i = from; i < to; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;

            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    return NULL;
}

int main(void)
{
    pthread_t t[4];

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i == j;
            b[i][j] = i * j;
        }
    for (long i = 0; i < 4; i++)
        t[i] = spawn(rows, (void *)i);
    for (int i = 0; i < 4; i++)
        join(t[i]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            MUST(c[i][j] == i * j);
    return 0;
}
