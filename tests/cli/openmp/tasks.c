/* tasks.c - so many OpenMP tasks that libomp gives the memory of those that have ended to new ones. Nothing orders the two,
 * since nobody waits before the end. */
#include <stdio.h>

enum { TASKS = 20000 };

static int squares[TASKS];

int main(void)
{
    int wrong = 0;

#pragma omp parallel
#pragma omp single
    for (int i = 0; i < TASKS; i++) {
#pragma omp task shared(squares) firstprivate(i)
        squares[i] = i * i;
    }
    for (int i = 0; i < TASKS; i++)
        wrong += squares[i] != i * i;
    printf("%d wrong\n", wrong);
    return 0;
}
