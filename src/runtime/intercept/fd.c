/*
 * intercept/fd.c - creation, duplication and closing of descriptors, so that threads/fd.c knows which share
 * an object.
 *
 * Closing a descriptor that another thread still uses is a mistake that this file does not report: a
 * descriptor is a number, not memory. Descriptors that libc opens and closes for itself (fopen, opendir)
 * are files as a rule; open() and fclose() make sure that no stale entry survives.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "runtime/intercept/touch.h"
#include "runtime/report/keep.h"
#include "runtime/threads/fd.h"
#include "runtime/threads/scope.h"

/* ---- Files: nothing but a fresh number --------------------------------------------------------- */

extern DH_HIDDEN size_t (*dh_real_strlen)(const char *);

static int opened(int fd)
{
    if (fd >= 0)
        dh_fd_unknown(fd);
    return fd;
}

/* The mode is there only if the flags say so; reading an argument that was not passed is harmless
 * here, as every caller leaves something in the register. */
#define MODE_ARGUMENT(last)           \
    va_list ap;                       \
    va_start(ap, last);               \
    mode_t mode = va_arg(ap, mode_t); \
    va_end(ap)

DH_INTERCEPTOR(int, open, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags);
    DH_ENTER(open, path, flags, mode);
    DH_RETURN(opened(DH_BLOCKING(REAL(open)(path, flags, mode))));
}

DH_INTERCEPTOR(int, open64, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags);
    DH_ENTER(open64, path, flags, mode);
    DH_RETURN(opened(DH_BLOCKING(REAL(open64)(path, flags, mode))));
}

DH_INTERCEPTOR(int, openat, int dir, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags);
    DH_ENTER(openat, dir, path, flags, mode);
    DH_RETURN(opened(DH_BLOCKING(REAL(openat)(dir, path, flags, mode))));
}

DH_INTERCEPTOR(int, openat64, int dir, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags);
    DH_ENTER(openat64, dir, path, flags, mode);
    DH_RETURN(opened(DH_BLOCKING(REAL(openat64)(dir, path, flags, mode))));
}

DH_INTERCEPTOR(int, creat, const char *path, mode_t mode)
{
    DH_ENTER(creat, path, mode);
    DH_RETURN(opened(DH_BLOCKING(REAL(creat)(path, mode))));
}

/* ---- Other new numbers -------------------------------------------------------------------------- */

DH_INTERCEPTOR(int, signalfd, int fd, const sigset_t *set, int flags)
{
    DH_ENTER(signalfd, fd, set, flags);
    int r = REAL(signalfd)(fd, set, flags);
    if (r >= 0)
        dh_fd_signals(r, set->__val[0]);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, inotify_init, void)
{
    DH_ENTER(inotify_init);
    DH_RETURN(opened(REAL(inotify_init)()));
}

DH_INTERCEPTOR(int, inotify_init1, int flags)
{
    DH_ENTER(inotify_init1, flags);
    DH_RETURN(opened(REAL(inotify_init1)(flags)));
}

DH_INTERCEPTOR(int, memfd_create, const char *name, unsigned flags)
{
    DH_ENTER(memfd_create, name, flags);
    DH_RETURN(opened(REAL(memfd_create)(name, flags)));
}

DH_INTERCEPTOR(int, shm_open, const char *name, int flags, mode_t mode)
{
    DH_ENTER(shm_open, name, flags, mode);
    DH_RETURN(opened(DH_BLOCKING(REAL(shm_open)(name, flags, mode))));
}

/* The last six characters before the suffix are replaced. */
static int made(struct dh_thread *t, const char *path, int suffix, int fd)
{
    DH_RESOLVE(strlen);
    if (fd >= 0)
        dh_touch_write(t, path + REAL(strlen)(path) - (size_t)suffix - 6, 6);
    return opened(fd);
}

#define MAKE(name, suffix, ...)  \
    DH_ENTER(name, __VA_ARGS__); \
    DH_RETURN(made(sc.t, path, suffix, DH_BLOCKING(REAL(name)(__VA_ARGS__))))

DH_INTERCEPTOR(int, mkstemp, char *path)
{
    MAKE(mkstemp, 0, path);
}

DH_INTERCEPTOR(int, mkstemp64, char *path)
{
    MAKE(mkstemp64, 0, path);
}

DH_INTERCEPTOR(int, mkostemp, char *path, int flags)
{
    MAKE(mkostemp, 0, path, flags);
}

DH_INTERCEPTOR(int, mkostemp64, char *path, int flags)
{
    MAKE(mkostemp64, 0, path, flags);
}

DH_INTERCEPTOR(int, mkstemps, char *path, int suffix)
{
    MAKE(mkstemps, suffix, path, suffix);
}

DH_INTERCEPTOR(int, mkstemps64, char *path, int suffix)
{
    MAKE(mkstemps64, suffix, path, suffix);
}

DH_INTERCEPTOR(int, mkostemps, char *path, int suffix, int flags)
{
    MAKE(mkostemps, suffix, path, suffix, flags);
}

DH_INTERCEPTOR(int, mkostemps64, char *path, int suffix, int flags)
{
    MAKE(mkostemps64, suffix, path, suffix, flags);
}

/* ---- Closing ------------------------------------------------------------------------------------ */

DH_INTERCEPTOR(int, close, int fd)
{
    DH_ENTER(close, fd);
    if (dh_keep_owns(fd)) {
        dh_scope_end(&sc);
        errno = EBADF;
        return -1;
    }
    dh_fd_close(sc.t, fd);
    DH_RETURN(DH_BLOCKING(REAL(close)(fd)));
}

static int close_others(unsigned lo, unsigned hi, int flags);

DH_INTERCEPTOR(int, close_range, unsigned lo, unsigned hi, int flags)
{
    DH_ENTER(close_range, lo, hi, flags);
    if (lo <= hi && (flags & CLOSE_RANGE_CLOEXEC) == 0)
        dh_fd_close_range(sc.t, lo, hi);
    DH_RETURN(lo <= hi ? close_others(lo, hi, flags) : REAL(close_range)(lo, hi, flags));
}

DH_INTERCEPTOR(void, closefrom, int first)
{
    DH_RESOLVE(close_range);
    DH_ENTER(closefrom, first);
    unsigned lo = first < 0 ? 0 : (unsigned)first;
    dh_fd_close_range(sc.t, lo, ~0u);
    if (close_others(lo, ~0u, 0) != 0)
        REAL(closefrom)(first);
    DH_RETURN_VOID;
}

/* All of [lo, hi] but what is the runtime's own. */
static int close_others(unsigned lo, unsigned hi, int flags)
{
    int own;
    while ((own = dh_keep_lowest(lo, hi)) >= 0) {
        if ((unsigned)own > lo && REAL(close_range)(lo, (unsigned)own - 1, flags) != 0)
            return -1;
        if ((unsigned)own == hi)
            return 0;
        lo = (unsigned)own + 1;
    }
    return REAL(close_range)(lo, hi, flags);
}

/* ---- Copies ------------------------------------------------------------------------------------ */

static int copied(int from, int to)
{
    if (to >= 0)
        dh_fd_dup(from, to);
    return to;
}

DH_INTERCEPTOR(int, dup, int fd)
{
    DH_ENTER(dup, fd);
    DH_RETURN(copied(fd, REAL(dup)(fd)));
}

/* The descriptor that is replaced is closed by it. */
DH_INTERCEPTOR(int, dup2, int fd, int to)
{
    DH_ENTER(dup2, fd, to);
    if (fd != to)
        dh_fd_close(sc.t, to);
    DH_RETURN(copied(fd, REAL(dup2)(fd, to)));
}

DH_INTERCEPTOR(int, dup3, int fd, int to, int flags)
{
    DH_ENTER(dup3, fd, to, flags);
    if (fd != to)
        dh_fd_close(sc.t, to);
    DH_RETURN(copied(fd, REAL(dup3)(fd, to, flags)));
}

/* The third argument, an int or a pointer or nothing, travels in one register; glibc reads it alike. */
static int fcntl_done(struct dh_thread *t, int fd, int cmd, void *arg, int r)
{
    if (r == -1)
        return r;
    if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC)
        copied(fd, r);
    else if (cmd == F_GETLK)
        dh_touch_out(t, arg, sizeof(struct flock));
    return r;
}

DH_INTERCEPTOR(int, fcntl, int fd, int cmd, ...)
{
    va_list ap;
    va_start(ap, cmd);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    DH_ENTER(fcntl, fd, cmd, arg);
    int r = DH_BLOCKING(REAL(fcntl)(fd, cmd, arg));
    DH_RETURN(fcntl_done(sc.t, fd, cmd, arg, r));
}

DH_INTERCEPTOR(int, fcntl64, int fd, int cmd, ...)
{
    va_list ap;
    va_start(ap, cmd);
    void *arg = va_arg(ap, void *);
    va_end(ap);
    DH_ENTER(fcntl64, fd, cmd, arg);
    int r = DH_BLOCKING(REAL(fcntl64)(fd, cmd, arg));
    DH_RETURN(fcntl_done(sc.t, fd, cmd, arg, r));
}

/* ---- Connections ------------------------------------------------------------------------------- */

static int paired(struct dh_thread *t, int *fds, int r)
{
    if (r == 0) {
        dh_touch_write(t, fds, 2 * sizeof *fds);
        dh_fd_pair(fds[0], fds[1]);
    }
    return r;
}

DH_INTERCEPTOR(int, pipe, int fds[2])
{
    DH_ENTER(pipe, fds);
    DH_RETURN(paired(sc.t, fds, REAL(pipe)(fds)));
}

DH_INTERCEPTOR(int, pipe2, int fds[2], int flags)
{
    DH_ENTER(pipe2, fds, flags);
    DH_RETURN(paired(sc.t, fds, REAL(pipe2)(fds, flags)));
}

DH_INTERCEPTOR(int, socketpair, int domain, int type, int protocol, int fds[2])
{
    DH_ENTER(socketpair, domain, type, protocol, fds);
    DH_RETURN(paired(sc.t, fds, REAL(socketpair)(domain, type, protocol, fds)));
}

static int alone(int fd)
{
    if (fd >= 0)
        dh_fd_pair(fd, fd);
    return fd;
}

DH_INTERCEPTOR(int, eventfd, unsigned value, int flags)
{
    DH_ENTER(eventfd, value, flags);
    DH_RETURN(alone(REAL(eventfd)(value, flags)));
}

DH_INTERCEPTOR(int, timerfd_create, int clock, int flags)
{
    DH_ENTER(timerfd_create, clock, flags);
    DH_RETURN(alone(REAL(timerfd_create)(clock, flags)));
}

/* Setting the timer happens before reading that it expired. */
DH_INTERCEPTOR(int, timerfd_settime, int fd, int flags, const struct itimerspec *value,
               struct itimerspec *ret_old)
{
    DH_ENTER(timerfd_settime, fd, flags, value, ret_old);
    DH_TOUCH_IN(sc.t, value);
    dh_fd_release(sc.t, fd);
    int r = REAL(timerfd_settime)(fd, flags, value, ret_old);
    if (r == 0)
        DH_TOUCH_OUT(sc.t, ret_old);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, eventfd_read, int fd, eventfd_t *ret_value)
{
    DH_ENTER(eventfd_read, fd, ret_value);
    int r = DH_BLOCKING(REAL(eventfd_read)(fd, ret_value));
    if (r == 0) {
        dh_fd_acquire(sc.t, fd);
        DH_TOUCH_OUT(sc.t, ret_value);
    }
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, eventfd_write, int fd, eventfd_t value)
{
    DH_ENTER(eventfd_write, fd, value);
    dh_fd_release(sc.t, fd);
    DH_RETURN(DH_BLOCKING(REAL(eventfd_write)(fd, value)));
}

DH_INTERCEPTOR(int, socket, int domain, int type, int protocol)
{
    DH_ENTER(socket, domain, type, protocol);
    DH_RETURN(opened(REAL(socket)(domain, type, protocol)));
}

DH_INTERCEPTOR(int, connect, int fd, const struct sockaddr *addr, socklen_t len)
{
    DH_ENTER(connect, fd, addr, len);
    bool known = addr != NULL && len >= sizeof addr->sa_family;
    if (known) {
        dh_touch_read(sc.t, addr, len);
        dh_fd_connecting(sc.t, addr);
    }
    int r = DH_BLOCKING(REAL(connect)(fd, addr, len));
    if (known && (r == 0 || errno == EINPROGRESS))
        dh_fd_connected(fd, addr);
    DH_RETURN(r);
}

static int accepted(struct dh_thread *t, int fd, struct sockaddr *addr, socklen_t *len, socklen_t room)
{
    if (fd < 0)
        return fd;
    dh_fd_accepted(t, fd);
    if (addr != NULL && len != NULL) {
        dh_touch_write(t, addr, *len < room ? *len : room);
        DH_TOUCH_OUT(t, len);
    }
    return fd;
}

DH_INTERCEPTOR(int, accept, int fd, struct sockaddr *addr, socklen_t *len)
{
    DH_ENTER(accept, fd, addr, len);
    socklen_t room = len != NULL ? *len : 0;
    int r = DH_BLOCKING(REAL(accept)(fd, addr, len));
    DH_RETURN(accepted(sc.t, r, addr, len, room));
}

DH_INTERCEPTOR(int, accept4, int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    DH_ENTER(accept4, fd, addr, len, flags);
    socklen_t room = len != NULL ? *len : 0;
    int r = DH_BLOCKING(REAL(accept4)(fd, addr, len, flags));
    DH_RETURN(accepted(sc.t, r, addr, len, room));
}

DH_INTERCEPTOR(int, shutdown, int fd, int how)
{
    DH_ENTER(shutdown, fd, how);
    dh_fd_release(sc.t, fd);
    DH_RETURN(REAL(shutdown)(fd, how));
}

#define NAME_OF_SOCKET(name)                                   \
    DH_ENTER(name, fd, addr, len);                             \
    socklen_t room = *len;                                     \
    int r = REAL(name)(fd, addr, len);                         \
    if (r == 0) {                                              \
        dh_touch_write(sc.t, addr, *len < room ? *len : room); \
        DH_TOUCH_OUT(sc.t, len);                               \
    }                                                          \
    DH_RETURN(r)

DH_INTERCEPTOR(int, getsockname, int fd, struct sockaddr *addr, socklen_t *len)
{
    NAME_OF_SOCKET(getsockname);
}

DH_INTERCEPTOR(int, getpeername, int fd, struct sockaddr *addr, socklen_t *len)
{
    NAME_OF_SOCKET(getpeername);
}

DH_INTERCEPTOR(int, getsockopt, int fd, int level, int name, void *value, socklen_t *len)
{
    DH_ENTER(getsockopt, fd, level, name, value, len);
    int r = REAL(getsockopt)(fd, level, name, value, len);
    if (r == 0 && len != NULL) {
        dh_touch_out(sc.t, value, *len);
        DH_TOUCH_OUT(sc.t, len);
    }
    DH_RETURN(r);
}
