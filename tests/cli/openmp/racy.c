/* racy.c - a race in a parallel region, and none in what the region orders. By an order that no detector sees. */
#include <omp.h>
#include <stdio.h>

#include "../../programs/invisible.h"

int x, behind_barrier;

int main(void)
{
    int threads = 0;

    omp_set_dynamic(0);
#pragma omp parallel num_threads(2) reduction(+ : threads)
    {
        threads = 1;
        if (omp_get_thread_num() == 0) {
            x = 1;
            behind_barrier = 1;
            mark();
        } else {
            after(1);
            x = 2;
        }
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            behind_barrier = 2;
    }
    printf("%d threads\n", threads);
    return 0;
}
