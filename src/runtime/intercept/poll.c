/*
 * intercept/poll.c - waiting for descriptors: poll, select, epoll.
 *
 * A descriptor with something to read is acquired as if it were read: a thread that sees that the other end
 * was closed, or is woken by an eventfd and never empties it, reads nothing and is still ordered. Being
 * writable says nothing about what others have done. epoll_ctl passes its event data to waiters on the
 * instance, so it releases the instance and a successful wait acquires it. Masks go through dh_signal_filter,
 * as everywhere: some signals are the runtime's own too.
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "runtime/intercept/touch.h"
#include "runtime/threads/fd.h"
#include "runtime/threads/scope.h"
#include "runtime/threads/signal.h"

/* What comes from elsewhere; epoll has the same bits. */
enum { ARRIVED = POLLIN | POLLPRI | POLLRDNORM | POLLRDBAND | POLLRDHUP | POLLHUP | POLLERR };
_Static_assert((EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLHUP | EPOLLERR) ==
                   (POLLIN | POLLPRI | POLLRDHUP | POLLHUP | POLLERR),
               "one set for both");

/* ---- poll -------------------------------------------------------------------------------------- */

static void touch_poll_in(struct dh_thread *t, const struct pollfd *fds, nfds_t n)
{
    for (nfds_t i = 0; i < n; i++)
        dh_touch_read(t, &fds[i], offsetof(struct pollfd, revents));
}

static int touch_poll_out(struct dh_thread *t, const struct pollfd *fds, nfds_t n, int r)
{
    for (nfds_t i = 0; i < n && r >= 0; i++) {
        dh_touch_write(t, &fds[i].revents, sizeof fds[i].revents);
        if ((fds[i].revents & ARRIVED) != 0)
            dh_fd_acquire(t, fds[i].fd);
    }
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

/* By words, since programs may allocate sets of more than FD_SETSIZE. */
static void acquire_set(struct dh_thread *t, int n, const fd_set *set)
{
    const __fd_mask *words = set != NULL ? set->fds_bits : NULL;
    for (int fd = 0; words != NULL && fd < n; fd++) {
        if (words[fd / NFDBITS] == 0)
            fd |= NFDBITS - 1;
        else if ((words[fd / NFDBITS] >> (fd % NFDBITS) & 1) != 0)
            dh_fd_acquire(t, fd);
    }
}

static int selected(struct dh_thread *t, int n, const fd_set *r, const fd_set *x, int found)
{
    if (found > 0) {
        acquire_set(t, n, r);
        acquire_set(t, n, x);
    }
    return found;
}

DH_INTERCEPTOR(int, select, int n, fd_set *r, fd_set *w, fd_set *x, struct timeval *timeout)
{
    DH_ENTER(select, n, r, w, x, timeout);
    touch_sets(sc.t, n, r, w, x);
    DH_TOUCH_OUT(sc.t, timeout); /* Linux leaves the time that remained */
    int found = DH_BLOCKING(REAL(select)(n, r, w, x, timeout));
    DH_RETURN(selected(sc.t, n, r, x, found));
}

DH_INTERCEPTOR(int, pselect, int n, fd_set *r, fd_set *w, fd_set *x, const struct timespec *timeout,
               const sigset_t *mask)
{
    DH_ENTER(pselect, n, r, w, x, timeout, mask);
    sigset_t kept;
    touch_sets(sc.t, n, r, w, x);
    DH_TOUCH_IN(sc.t, timeout);
    int found = DH_BLOCKING(REAL(pselect)(n, r, w, x, timeout, dh_signal_filter(mask, &kept)));
    DH_RETURN(selected(sc.t, n, r, x, found));
}

/* ---- epoll ------------------------------------------------------------------------------------- */

/* Which descriptor was registered with an event's data. One word an entry, the rest of the hash above the
 * descriptor; an entry that another one replaces is an edge less, where there was none before either. */
enum { WATCHED = 1 << 14, FD_BITS = 20 };
static u64 watched[WATCHED];

static u64 event_hash(int epoll, const struct epoll_event *event)
{
    return dh_hash64(event->data.u64 ^ dh_hash64((u64)epoll + 1));
}

static void watch(int epoll, int fd, const struct epoll_event *event)
{
    u64 h = event_hash(epoll, event);
    if (fd >= 0 && fd < 1 << FD_BITS)
        __atomic_store_n(&watched[h % WATCHED], h >> FD_BITS << FD_BITS | (u64)fd, __ATOMIC_RELAXED);
}

static void acquire_event(struct dh_thread *t, int epoll, const struct epoll_event *event)
{
    u64 h = event_hash(epoll, event);
    u64 w = __atomic_load_n(&watched[h % WATCHED], __ATOMIC_RELAXED);
    if (w >> FD_BITS == h >> FD_BITS)
        dh_fd_acquire(t, (int)(w & ((1 << FD_BITS) - 1)));
}

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
    if (op != EPOLL_CTL_DEL && event != NULL) {
        DH_TOUCH_IN(sc.t, event);
        watch(epoll, fd, event);
    }
    dh_fd_release(sc.t, epoll);
    DH_RETURN(REAL(epoll_ctl)(epoll, op, fd, event));
}

static int woken(struct dh_thread *t, int epoll, const struct epoll_event *events, int r)
{
    if (r > 0) {
        dh_fd_acquire(t, epoll);
        dh_touch_write(t, events, (size_t)r * sizeof *events);
        for (int i = 0; i < r; i++)
            if ((events[i].events & ARRIVED) != 0)
                acquire_event(t, epoll, &events[i]);
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
