/*
 * tap.c - see tap.h.
 */
#include "runtime/sink/tap.h"

#include "runtime/init.h"
#include "runtime/threads/thread.h"

const struct dh_tap *dh_tap;

void dh_tap_init(void)
{
    if (dh_record_wanted()) {
        dh_tap = &dh_tap_record;
        dh_system_kept = dh_opts.lard_system;
    } else if (dh_lab_wanted()) {
        dh_tap = &dh_tap_lab;
    }
}

const void *dh_tap_pc(const struct dh_thread *t, const void *pc)
{
    if (pc || !t || __dh_hot.self != t || __dh_hot.sp == t->frames)
        return pc;
    return (__dh_hot.sp - 1)->pc;
}

void dh_tap_take(struct dh_thread *t, uptr addr, u32 size, u32 kind, const void *pc)
{
    if (!dh_thread_enter(t))
        return;
    struct dh_tap_access a = {.addr = addr, .size = size, .kind = kind, .pc = pc};
    dh_tap->access(t, &a);
    dh_thread_leave(t);
}
