/*
 * intercept_poll.c - waiting for descriptors: poll, select, epoll.
 *
 * That a descriptor is ready is no edge: the data is, when it is read. epoll_ctl hands its event data to
 * whoever waits on the instance, so it releases the instance and a successful wait acquires it.
 * Masks go through dh_signal_filter, as everywhere: some signals are the runtime's own too.
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "runtime/fd.h"
#include "runtime/scope.h"
#include "runtime/signal.h"
#include "runtime/touch.h"

/* ---- poll -------------------------------------------------------------------------------------- */

static void touch_poll_in(struct dh_thread *t, const struct pollfd *fds, nfds_t n)
{
    for (nfds_t i = 0; i < n; i++)
        dh_touch_read(t, &fds[i], offsetof(struct pollfd, revents));
}

static int touch_poll_out(struct dh_thread *t, const struct pollfd *fds, nfds_t n, int r)
{
    for (nfds_t i = 0; i < n && r >= 0; i++)
        dh_touch_write(t, &fds[i].revents, sizeof fds[i].revents);
    return r;
}

DH_INTERCEPTOR(int, poll, struct pollfd *fds, nfds_t n, int timeout)
{
    DH_ENTER(poll, fds, n, timeout);
    touch_poll_in(sc.t, fds, n);
    int r = DH_BLOCKING(REAL(poll)(fds, n, timeout));
    DH_RETURN(touch_poll_out(sc.t, fds, n, r));
}

DH_INTERCEPTOR(int, ppoll, struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
    DH_ENTER(ppoll, fds, n, timeout, mask);
    sigset_t kept;
    touch_poll_in(sc.t, fds, n);
    int r = DH_BLOCKING(REAL(ppoll)(fds, n, timeout, dh_signal_filter(mask, &kept)));
    DH_RETURN(touch_poll_out(sc.t, fds, n, r));
}

DH_INTERCEPTOR(int, __poll_chk, struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
    DH_ENTER(__poll_chk, fds, n, timeout, room);
    touch_poll_in(sc.t, fds, n);
    int r = DH_BLOCKING(REAL(__poll_chk)(fds, n, timeout, room));
    DH_RETURN(touch_poll_out(sc.t, fds, n, r));
}

DH_INTERCEPTOR(int, __ppoll_chk, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
               const sigset_t *mask, size_t room)
{
    DH_ENTER(__ppoll_chk, fds, n, timeout, mask, room);
    sigset_t kept;
    touch_poll_in(sc.t, fds, n);
    int r = DH_BLOCKING(REAL(__ppoll_chk)(fds, n, timeout, dh_signal_filter(mask, &kept), room));
    DH_RETURN(touch_poll_out(sc.t, fds, n, r));
}

/* ---- select ------------------------------------------------------------------------------------ */

/* The kernel reads and rewrites the sets up to the highest descriptor, by words. */
static void touch_sets(struct dh_thread *t, int n, const fd_set *r, const fd_set *w, const fd_set *x)
{
    size_t bytes = n > 0 ? DH_ALIGN_UP((size_t)n, 64) / 8 : 0;
    dh_touch_out(t, r, bytes);
    dh_touch_out(t, w, bytes);
    dh_touch_out(t, x, bytes);
}

DH_INTERCEPTOR(int, select, int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *timeout)
{
    DH_ENTER(select, n, r, w, x, timeout);
    touch_sets(sc.t, n, r, w, x);
    DH_TOUCH_OUT(sc.t, timeout); /* Linux leaves the time that remained */
    DH_RETURN(DH_BLOCKING(REAL(select)(n, r, w, x, timeout)));
}

DH_INTERCEPTOR(int, pselect, int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *timeout,
               const sigset_t *mask)
{
    DH_ENTER(pselect, n, r, w, x, timeout, mask);
    sigset_t kept;
    touch_sets(sc.t, n, r, w, x);
    DH_TOUCH_IN(sc.t, timeout);
    DH_RETURN(DH_BLOCKING(REAL(pselect)(n, r, w, x, timeout, dh_signal_filter(mask, &kept))));
}

/* ---- epoll ------------------------------------------------------------------------------------- */

static int created(int fd)
{
    if (fd >= 0)
        dh_fd_pair(fd, fd);
    return fd;
}

DH_INTERCEPTOR(int, epoll_create, int size)
{
    DH_ENTER(epoll_create, size);
    DH_RETURN(created(REAL(epoll_create)(size)));
}

DH_INTERCEPTOR(int, epoll_create1, int flags)
{
    DH_ENTER(epoll_create1, flags);
    DH_RETURN(created(REAL(epoll_create1)(flags)));
}

DH_INTERCEPTOR(int, epoll_ctl, int epoll, int op, int fd, struct epoll_event *event)
{
    DH_ENTER(epoll_ctl, epoll, op, fd, event);
    if (op != EPOLL_CTL_DEL)
        DH_TOUCH_IN(sc.t, event);
    dh_fd_release(sc.t, epoll);
    DH_RETURN(REAL(epoll_ctl)(epoll, op, fd, event));
}

static int woken(struct dh_thread *t, int epoll, const struct epoll_event *events, int r)
{
    if (r > 0) {
        dh_fd_acquire(t, epoll);
        dh_touch_write(t, events, (size_t)r * sizeof *events);
    }
    return r;
}

DH_INTERCEPTOR(int, epoll_wait, int epoll, struct epoll_event *events, int n, int timeout)
{
    DH_ENTER(epoll_wait, epoll, events, n, timeout);
    int r = DH_BLOCKING(REAL(epoll_wait)(epoll, events, n, timeout));
    DH_RETURN(woken(sc.t, epoll, events, r));
}

DH_INTERCEPTOR(int, epoll_pwait, int epoll, struct epoll_event *events, int n, int timeout,
               const sigset_t *mask)
{
    DH_ENTER(epoll_pwait, epoll, events, n, timeout, mask);
    sigset_t kept;
    int r = DH_BLOCKING(REAL(epoll_pwait)(epoll, events, n, timeout, dh_signal_filter(mask, &kept)));
    DH_RETURN(woken(sc.t, epoll, events, r));
}

DH_INTERCEPTOR(int, epoll_pwait2, int epoll, struct epoll_event *events, int n,
               const struct timespec *timeout, const sigset_t *mask)
{
    DH_ENTER(epoll_pwait2, epoll, events, n, timeout, mask);
    sigset_t kept;
    int r = DH_BLOCKING(REAL(epoll_pwait2)(epoll, events, n, timeout, dh_signal_filter(mask, &kept)));
    DH_RETURN(woken(sc.t, epoll, events, r));
}
