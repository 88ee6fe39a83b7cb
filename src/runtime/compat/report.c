/*
 * compat/report.c - <sanitizer/tsan_interface.h>: functions of the program that are called at certain times,
 * and what they may ask about the race in question.
 *
 *   __tsan_on_initialize()      before the program's constructors
 *   __tsan_on_report(report)    at each reported race, on the thread that found it; the report is valid
 *                               during the call
 *   __tsan_on_finalize(failed)  at the end; returns whether the exit status shall be that of a race
 *
 * They are optional functions of the program, hence weak. They run inside the runtime: what they access is
 * not checked. A report is about two accesses by two threads; it has no stacks, locations and mutexes in
 * ThreadSanitizer's sense, so their counts are 0. Stacks end with NULL if there is room.
 */
#include "runtime/compat/compat.h"
#include "runtime/engine/engine.h"
#include "runtime/threads/context.h"

extern __attribute__((weak)) void __tsan_on_initialize(void);
extern __attribute__((weak)) void __tsan_on_report(void *report);
extern __attribute__((weak)) int __tsan_on_finalize(int failed);

/* Of the two accesses the later one is the first, as in printed reports. */
struct report {
    dh_id_t ids[2];
    uptr addr[2];
    size_t size[2];
};

static _Thread_local struct report *current __attribute__((tls_model("initial-exec")));

/* ---- The functions of the program ---- */

__attribute__((constructor(101))) static void begins(void)
{
    if (__tsan_on_initialize)
        __tsan_on_initialize();
}

void dh_compat_raced(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size)
{
    if (!__tsan_on_report)
        return;
    struct report r = {{a->id, id}, {a->addr, addr}, {a->size, size}};
    current = &r;
    __tsan_on_report(&r);
    current = NULL;
}

bool dh_compat_ends(bool raced)
{
    return __tsan_on_finalize ? __tsan_on_finalize(raced) != 0 : raced;
}

/* ---- What they may ask ---- */

static void put_stack(dh_ctx_t ctx, void **trace, size_t n)
{
    size_t i = 0;
    for (; !dh_ctx_is_none(ctx) && i < n; ctx = dh_ctx_node(ctx)->parent)
        trace[i++] = (void *)(uptr)dh_ctx_node(ctx)->pc;
    if (i < n)
        trace[i] = NULL;
}

DH_COMPAT void *__tsan_get_current_report(void)
{
    return current;
}

DH_COMPAT int __tsan_get_report_data(void *report, const char **description, int *count, int *stack_count,
                                     int *mop_count, int *loc_count, int *mutex_count, int *thread_count,
                                     int *unique_tid_count, void **sleep_trace, unsigned long trace_size)
{
    if (!report)
        return 0;
    *description = "data-race";
    *count = 1;
    *stack_count = *loc_count = *mutex_count = 0;
    *mop_count = *thread_count = *unique_tid_count = 2;
    put_stack(DH_CTX_NONE, sleep_trace, trace_size);
    return 1;
}

DH_COMPAT int __tsan_get_report_mop(void *report, unsigned long i, int *tid, void **addr, int *size,
                                    int *write, int *atomic, void **trace, unsigned long trace_size)
{
    const struct report *r = report;
    if (!r || i > 1)
        return 0;
    const struct dh_access_rec access = dh_id_get(r->ids[i]);
    *tid = (int)dh_uid_raw(access.uid);
    *addr = (void *)r->addr[i];
    *size = (int)r->size[i];
    *write = (access.kind & DH_WRITE) != 0;
    *atomic = (access.kind & DH_ATOMIC) != 0;
    put_stack(access.ctx, trace, trace_size);
    return 1;
}

DH_COMPAT int __tsan_get_report_thread(void *report, unsigned long i, int *tid, u64 *os_id, int *running,
                                       const char **name, int *parent_tid, void **trace,
                                       unsigned long trace_size)
{
    const struct report *r = report;
    if (!r || i > 1)
        return 0;
    dh_lock_take(&dh_threads_lock);
    const struct dh_thread_info *info = dh_thread_info(dh_id_get(r->ids[i]).uid);
    if (info) {
        *tid = (int)dh_uid_raw(info->uid);
        *os_id = (u64)info->tid;
        *running = info->alive;
        *name = info->name;
        *parent_tid = (int)dh_uid_raw(info->parent);
        put_stack(info->created_at, trace, trace_size);
    }
    dh_lock_drop(&dh_threads_lock);
    return info != NULL;
}

DH_COMPAT int __tsan_get_report_unique_tid(void *report, unsigned long i, int *tid)
{
    const struct report *r = report;
    if (!r || i > 1)
        return 0;
    *tid = (int)dh_uid_raw(dh_id_get(r->ids[i]).uid);
    return 1;
}

DH_COMPAT int __tsan_get_report_stack(void *report, unsigned long i, void **trace, unsigned long trace_size)
{
    (void)report;
    (void)i;
    put_stack(DH_CTX_NONE, trace, trace_size);
    return 0;
}

DH_COMPAT int __tsan_get_report_loc(void *report, unsigned long i, const char **type, void **addr,
                                    void **start, unsigned long *size, int *tid, int *fd, int *suppressable,
                                    void **trace, unsigned long trace_size)
{
    (void)report;
    (void)i;
    *type = "";
    *addr = *start = NULL;
    *size = 0;
    *tid = *fd = *suppressable = 0;
    put_stack(DH_CTX_NONE, trace, trace_size);
    return 0;
}

DH_COMPAT int __tsan_get_report_mutex(void *report, unsigned long i, u64 *mutex_id, void **addr,
                                      int *destroyed, void **trace, unsigned long trace_size)
{
    (void)report;
    (void)i;
    *mutex_id = 0;
    *addr = NULL;
    *destroyed = 0;
    put_stack(DH_CTX_NONE, trace, trace_size);
    return 0;
}

/* ---- Outside of reports ---- */

/* The block that holds addr: the length of the stack it was allocated at, and by which thread. */
DH_COMPAT int __tsan_get_alloc_stack(uptr addr, uptr *trace, size_t n, int *tid, u64 *os_id)
{
    struct dh_heap_block block;
    if (!dh_heap_find(addr, &block))
        return 0;
    int depth = 0;
    for (dh_ctx_t ctx = block.ctx; !dh_ctx_is_none(ctx) && (size_t)depth < n; ctx = dh_ctx_node(ctx)->parent)
        trace[depth++] = dh_ctx_node(ctx)->pc;
    DH_COMPAT_ENTER(depth);
    dh_lock_take(&dh_threads_lock);
    const struct dh_thread_info *info = dh_thread_info(block.uid);
    *tid = info ? (int)dh_uid_raw(info->uid) : 0;
    *os_id = info ? (u64)info->tid : 0;
    dh_lock_drop(&dh_threads_lock);
    dh_scope_end(&sc);
    return depth;
}

/* There is nothing that could be given up without losing races. */
DH_COMPAT void __tsan_flush_memory(void)
{
}

DH_COMPAT void __tsan_on_thread_idle(void)
{
}
