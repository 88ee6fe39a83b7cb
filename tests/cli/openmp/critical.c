/* critical.c - critical sections of one name exclude each other; those of another name do not. By an order that no detector
 * sees. */
#include <omp.h>
#include <stdio.h>

#include "../../programs/invisible.h"

int same, differs;

int main(void)
{
    omp_set_dynamic(0);
#pragma omp parallel num_threads(2)
    {
#pragma omp critical(one)
        same++;
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
#pragma omp critical(one)
            differs++;
            mark();
        } else {
            after(1);
#pragma omp critical(two)
            differs++;
        }
#pragma omp barrier
#pragma omp critical(two)
        same++;
    }
    printf("%d %d\n", same, differs);
    return 0;
}
