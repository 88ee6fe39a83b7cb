/*
 * intercept/openmp.c - __kmpc_omp_task_alloc: what an OpenMP task is made of.
 *
 * libomp keeps the memory of tasks that have ended and gives it to new ones of any thread, ordered by atomics
 * that are not seen. To the program, which fills in what the task is given and reads it in the task, it is
 * new memory.
 */
#include "runtime/intercept/intercept.h"

/* The beginning of libomp's kmp_task_t, which compiled programs know as well. */
struct task {
    void *shared;
};

DH_INTERCEPTOR(struct task *, __kmpc_omp_task_alloc, void *where, int thread, int flags, size_t n_task,
               size_t n_shared, void *entry)
{
    DH_ENTER(__kmpc_omp_task_alloc, where, thread, flags, n_task, n_shared, entry);
    struct task *task = REAL(__kmpc_omp_task_alloc)(where, thread, flags, n_task, n_shared, entry);
    if (task) {
        dh_sink_clear(sc.t, task, n_task);
        if (n_shared)
            dh_sink_clear(sc.t, task->shared, n_shared);
    }
    DH_RETURN(task);
}
