// Each thread goes over a row of its own: of a table, or of a member that is an array.
// WRONG 1: one column too far
// WRONG 2: the next column, of the last one, too
// WRONG 3: the member has fewer columns than the loop has rounds
#include "shapes.h"

enum { N = 6, COLUMNS = 8 };
int table[N + 1][COLUMNS], shifted[N + 1][COLUMNS], backwards[N][COLUMNS];
struct work {
    long n;
    char text[COLUMNS];
} work[N + 2];

static void *worker(void *arg)
{
    long id = (long)arg;
    for (int k = 0; k W1(<=, <) COLUMNS; k++)
        table[id][k] = k; // HERE
    for (int k = 0; k < COLUMNS W2(, -1); k++)
        shifted[id][k + 1] = k; // HERE
    for (long k = 0; k < COLUMNS; k++)
        backwards[id][COLUMNS - 1 - k]++; // HERE
    for (int k = 0; k < COLUMNS * W3(3, 1); k++)
        work[id].text[k] = 'a'; // HERE
    work[id].n = COLUMNS;       // HERE
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (long i = 0; i < N; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
