/*
 * compat/sync.c - <sanitizer/tsan_interface.h>: acquire and release, and annotations of mutexes.
 *
 * A mutex implementation brackets what it does: between pre_lock and post_lock, pre_unlock and post_unlock,
 * pre_signal and post_signal neither its accesses nor its own synchronisation count (like the language
 * runtime's in lard.h). pre_divert and post_divert are a gap in such a region, in which program code runs.
 * The lock itself counts where the regions end or begin: after it was acquired, before it is released.
 */
#include "base/fmt.h"
#include "base/sys.h"
#include "runtime/compat/compat.h"
#include "runtime/intercept/intercept.h"
#include "runtime/threads/thread.h"

#define DH_LARD 2
#include "deadheat/lard.h"

/* The header's flags. */
enum {
    LINKER_INIT = 1 << 0, /* of a mutex that lives as long as the program */
    WRITE_REENTRANT = 1 << 1,
    READ_LOCK = 1 << 3,
    TRY_LOCK = 1 << 4,
    TRY_LOCK_FAILED = 1 << 5,
    RECURSIVE_LOCK = 1 << 6,  /* `recursion` levels are taken at once */
    RECURSIVE_UNLOCK = 1 << 7 /* all levels are given up */
};

DH_COMPAT void __tsan_acquire(void *addr)
{
    DH_COMPAT_ENTER();
    dh_order_acquire(sc.t, addr);
    dh_scope_end(&sc);
}

DH_COMPAT void __tsan_release(void *addr)
{
    DH_COMPAT_ENTER();
    dh_order_release(sc.t, addr);
    dh_scope_end(&sc);
}

/* ---- Mutexes ---- */

/* The size of a mutex is unknown: its first byte stands for it. Using it conflicts with an unordered creation
 * or destruction, as with pthread's; only the annotations tell of the use, since what the implementation
 * accesses does not count. */
static void begins_or_ends(void *mutex, unsigned flags, const void *pc)
{
    DH_SCOPE(sc);
    if ((flags & LINKER_INIT) || !dh_scope_begin(&sc, pc))
        return;
    dh_object_new(sc.t, mutex, 1);
    dh_scope_end(&sc);
}

DH_COMPAT void __tsan_mutex_create(void *addr, unsigned flags)
{
    begins_or_ends(addr, flags, __builtin_return_address(0));
}

DH_COMPAT void __tsan_mutex_destroy(void *addr, unsigned flags)
{
    begins_or_ends(addr, flags, __builtin_return_address(0));
}

DH_COMPAT void __tsan_mutex_pre_lock(void *addr, unsigned flags)
{
    (void)addr;
    (void)flags;
    dh_lard_system_begin();
}

DH_COMPAT void __tsan_mutex_post_lock(void *addr, unsigned flags, int recursion)
{
    dh_lard_system_end();
    DH_COMPAT_ENTER();
    dh_compat_use(sc.t, addr);
    u32 how = (flags & READ_LOCK ? DH_LOCK_READ : 0) | (flags & TRY_LOCK ? DH_LOCK_TRY : 0) |
              (flags & (WRITE_REENTRANT | RECURSIVE_LOCK) ? DH_LOCK_RECURSIVE : 0);
    int levels = flags & TRY_LOCK_FAILED ? 0 : flags & RECURSIVE_LOCK && recursion > 0 ? recursion : 1;
    while (levels-- > 0)
        dh_order_lock(sc.t, addr, how);
    dh_scope_end(&sc);
}

static int unlock(void *addr, unsigned flags, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return 0;
    u32 levels = dh_order_unlock(sc.t, addr, (flags & RECURSIVE_UNLOCK) != 0);
    dh_scope_end(&sc);
    return (int)levels;
}

/* How many levels were given up; to be handed to post_lock of a RECURSIVE_LOCK. */
DH_COMPAT int __tsan_mutex_pre_unlock(void *addr, unsigned flags)
{
    int levels = unlock(addr, flags, __builtin_return_address(0));
    dh_lard_system_begin();
    return levels;
}

DH_COMPAT void __tsan_mutex_post_unlock(void *addr, unsigned flags)
{
    (void)addr;
    (void)flags;
    dh_lard_system_end();
}

DH_COMPAT void __tsan_mutex_pre_signal(void *addr, unsigned flags)
{
    (void)addr;
    (void)flags;
    dh_lard_system_begin();
}

DH_COMPAT void __tsan_mutex_post_signal(void *addr, unsigned flags)
{
    (void)addr;
    (void)flags;
    dh_lard_system_end();
}

DH_COMPAT void __tsan_mutex_pre_divert(void *addr, unsigned flags)
{
    (void)addr;
    (void)flags;
    dh_lard_system_end();
}

DH_COMPAT void __tsan_mutex_post_divert(void *addr, unsigned flags)
{
    (void)addr;
    (void)flags;
    dh_lard_system_begin();
}

/* Not a race: a line, and no entry in the report. */
DH_COMPAT void __tsan_check_no_mutexes_held(void)
{
    char text[128];
    struct dh_fmt f;
    DH_COMPAT_ENTER();
    if (sc.t->locks.n) {
        dh_fmt_init(&f, text, sizeof(text));
        dh_fmt_str(&f, "__tsan_check_no_mutexes_held: thread T");
        dh_fmt_u64(&f, dh_uid_raw(dh_thread_uid(sc.t)));
        dh_fmt_str(&f, " holds ");
        dh_fmt_u64(&f, sc.t->locks.n);
        dh_sys_say(text);
    }
    dh_scope_end(&sc);
}

/* ---- Regions of the thread ---- */

DH_COMPAT void __tsan_ignore_thread_begin(void)
{
    dh_lard_untracked_begin();
}

DH_COMPAT void __tsan_ignore_thread_end(void)
{
    dh_lard_untracked_end();
}
