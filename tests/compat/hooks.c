// What the program asks to be told: its start, each race with both accesses, its end, of which it decides the status.
// EXIT: 0
// OUTPUT: start
// OUTPUT: race 4 4 write 1 0
// OUTPUT: end 1
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../programs/invisible.h"

int variable;

/* Not in every compiler's <sanitizer/tsan_interface.h>. */
void *__tsan_get_current_report(void);
int __tsan_get_report_data(void *report, const char **description, int *count, int *stack_count,
                           int *mop_count, int *loc_count, int *mutex_count, int *thread_count,
                           int *unique_tid_count, void **sleep_trace, unsigned long trace_size);
int __tsan_get_report_mop(void *report, unsigned long i, int *tid, void **addr, int *size, int *write,
                          int *atomic, void **trace, unsigned long trace_size);
int __tsan_get_report_thread(void *report, unsigned long i, int *tid, uint64_t *os_id, int *running,
                             const char **name, int *parent_tid, void **trace, unsigned long trace_size);
int __tsan_get_report_unique_tid(void *report, unsigned long i, int *tid);
void __tsan_flush_memory(void);
void __tsan_check_no_mutexes_held(void);

void __tsan_on_initialize(void)
{
    puts("start");
}

void __tsan_on_report(void *report)
{
    const char *description, *name;
    int count, stacks, mops, locs, mutexes, threads, tids, tid[2], size[2], write[2], atomic[2], running,
        parent;
    void *none[1], *addr[2], *trace[2][8];
    uint64_t os_id;

    MUST(report == __tsan_get_current_report());
    MUST(__tsan_get_report_data(report, &description, &count, &stacks, &mops, &locs, &mutexes, &threads,
                                &tids, none, 1));
    MUST(strcmp(description, "data-race") == 0 && mops == 2 && threads == 2 && tids == 2 && locs == 0);
    for (unsigned long i = 0; i < 2; i++) {
        int unique;

        MUST(__tsan_get_report_mop(report, i, &tid[i], &addr[i], &size[i], &write[i], &atomic[i], trace[i],
                                   8));
        MUST(addr[i] == (void *)&variable && trace[i][0]);
        MUST(__tsan_get_report_unique_tid(report, i, &unique) && unique == tid[i]);
        MUST(__tsan_get_report_thread(report, i, &unique, &os_id, &running, &name, &parent, trace[i], 8));
        MUST(unique == tid[i] && parent == 1 && os_id > 1);
    }
    MUST(!__tsan_get_report_mop(report, 2, &tid[0], &addr[0], &size[0], &write[0], &atomic[0], trace[0], 8));
    printf("race %d %d %s %d %d\n", size[0], size[1], write[0] ? "write" : "read", write[1], atomic[0]);
}

int __tsan_on_finalize(int failed)
{
    printf("end %d\n", failed);
    fflush(stdout);
    return 0;
}

THREAD(first)
{
    variable = 1; // RACE v:write
    mark();
    return NULL;
}

THREAD(second)
{
    after(1);
    variable = 2; // RACE v:write
    return NULL;
}

int main(void)
{
    __tsan_flush_memory();
    __tsan_check_no_mutexes_held();
    both(first, second);
    MUST(!__tsan_get_current_report());
    return 0;
}
