/*
 * compat/fiber.c - <sanitizer/tsan_interface.h>: fibers.
 *
 * A fiber is a language-level thread of lard.h, with two differences. A switch creates ordering, unless told
 * otherwise: what was done before it happens before what the fiber does after it. And ignored regions belong
 * to the fiber that began them, not to the kernel thread: a mutex that switches fibers while it waits leaves
 * them with the waiting fiber.
 */
#include "runtime/compat/compat.h"
#include "runtime/init.h"
#include "runtime/threads/identity.h"

#define DH_LARD 2
#include "deadheat/lard.h"

enum { NO_SYNC = 1 << 0 };

DH_COMPAT void *__tsan_get_current_fiber(void)
{
    return __dh_hot.self;
}

DH_COMPAT void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    DH_COMPAT_ENTER(NULL);
    struct dh_thread *t = dh_thread_new_carried(sc.t);
    dh_scope_end(&sc);
    return t;
}

DH_COMPAT void __tsan_destroy_fiber(void *fiber)
{
    dh_lard_thread_end(fiber);
    dh_lard_thread_detach(fiber);
}

DH_COMPAT void __tsan_set_fiber_name(void *fiber, const char *name)
{
    DH_COMPAT_ENTER();
    if (fiber)
        dh_thread_set_name(fiber, name);
    dh_scope_end(&sc);
}

/* Not in a scope: its frame would stay on the old shadow stack. */
DH_COMPAT void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
    struct dh_thread *from = __dh_hot.self, *to = fiber ? fiber : dh_identity_native();
    if (!from || !to || from == to || dh_runtime_off || !dh_thread_enter_any(from))
        return;
    u32 untracked = from->untracked, unordered = from->unordered;
    u32 to_untracked = to->untracked, to_unordered = to->unordered;
    if (!(flags & NO_SYNC))
        dh_order_release(from, to);
    dh_identity_switch(to, 0); /* fibers have stacks of their own: nothing is left on one */
    from->untracked = untracked;
    from->unordered = unordered;
    to->untracked = to_untracked;
    to->unordered = to_unordered;
    if (!(flags & NO_SYNC))
        dh_order_acquire(to, to);
    dh_thread_leave(to);
}
