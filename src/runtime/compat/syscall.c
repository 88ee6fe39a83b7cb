/*
 * compat/syscall.c - <sanitizer/linux_syscall_hooks.h>: programs that make system calls directly announce
 * them to the sanitizer (libuv does, to close descriptors without a cancellation point).
 *
 * What touches buffers, makes edges or changes what a descriptor is has the meaning of the libc call of that
 * name. All other hooks are one function that does nothing, made by scripts/make-syscall-hooks.
 */
#include "runtime/compat/compat.h"
#include "runtime/intercept/intercept.h"
#include "runtime/intercept/touch.h"
#include "runtime/threads/fd.h"

DH_COMPAT void __sanitizer_syscall_pre_impl_close(long fd)
{
    DH_COMPAT_ENTER();
    dh_fd_close(sc.t, (int)fd);
    dh_scope_end(&sc);
}

static void gives(long fd, const void *buf, size_t n, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return;
    dh_touch_read(sc.t, buf, n);
    dh_fd_release(sc.t, (int)fd);
    dh_scope_end(&sc);
}

/* r: what the call returned. */
static void got(long r, long fd, const void *buf, const void *pc)
{
    DH_SCOPE(sc);
    if (r < 0 || !dh_scope_begin(&sc, pc))
        return;
    dh_fd_acquire(sc.t, (int)fd);
    dh_touch_write(sc.t, buf, (size_t)r);
    dh_scope_end(&sc);
}

DH_COMPAT void __sanitizer_syscall_pre_impl_write(long fd, long buf, long n)
{
    gives(fd, (const void *)buf, (size_t)n, __builtin_return_address(0));
}

DH_COMPAT void __sanitizer_syscall_pre_impl_pwrite64(long fd, long buf, long n)
{
    gives(fd, (const void *)buf, (size_t)n, __builtin_return_address(0));
}

DH_COMPAT void __sanitizer_syscall_post_impl_read(long r, long fd, long buf)
{
    got(r, fd, (const void *)buf, __builtin_return_address(0));
}

DH_COMPAT void __sanitizer_syscall_post_impl_pread64(long r, long fd, long buf)
{
    got(r, fd, (const void *)buf, __builtin_return_address(0));
}

/* A child of vfork shares its parent's memory until it ends: there is no copy to prepare for. */
DH_COMPAT void __sanitizer_syscall_pre_impl_fork(void)
{
    dh_process_copy_begin();
}

/* r: what the call returned. */
DH_COMPAT void __sanitizer_syscall_post_impl_fork(long r)
{
    dh_process_copy_end(r == 0);
}
