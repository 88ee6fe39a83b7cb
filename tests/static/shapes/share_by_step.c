// Each thread has every n-th element, or some rows of a table.
// WRONG 1: the step is less than the number of threads
// WRONG 2: the begin is not the number of the thread
// WRONG 3: the number of threads changes
// WRONG 4: the next element is written, too
// WRONG 5: the rows overlap
// WRONG 6: the step changes on the way
#include "shapes.h"

enum { ROWS = 64, COLUMNS = 16, TEAM = 4 };
int n, size, *x;
double table[ROWS][COLUMNS];

static void *every(void *arg)
{
    int i = (int)(long)arg, step = n;
    for (int k = W2(i / 2, i); k < size; k += W1(n - 1, n)) {
        x[k]++;           // HERE
        W4(x[k + 1]++, ); // HERE
    }
    W6(
        for (int k = i; k < size; k += step) {
            x[k]++;
            step = input();
        }, ); // HERE
    return NULL;
}

static void *rows(void *arg)
{
    int i = *(int *)arg;
    for (int k = i * (ROWS / TEAM); k < (i + 1) * (ROWS / TEAM) W5(+1, ); k++)
        for (int c = 0; c < COLUMNS; c++)
            table[k][c] += c; // HERE
    return NULL;
}

int main(void)
{
    n = input();
    size = input();
    x = calloc((size_t)size, sizeof *x);
    pthread_t *t = malloc((size_t)n * sizeof *t);
    int number[TEAM];
    for (int i = 0; i < n; i++) {
        W3(if (input()) n--, );
        pthread_create(&t[i], NULL, every, (void *)(long)i);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
    pthread_t u[TEAM];
    for (int i = 0; i < TEAM; i++) {
        number[i] = i;
        pthread_create(&u[i], NULL, rows, &number[i]);
    }
    for (int i = 0; i < TEAM; i++)
        pthread_join(u[i], NULL);
    return 0;
}
