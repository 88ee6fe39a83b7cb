/*
 * files.c - input and output, for track.h: a read is ordered after the writes it may see.
 *
 * Which descriptors are connected is not known here, so all of them are one object: a thread that has read
 * anything is ordered after all that have written. Streams use it, too (streams.c).
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "field/intercept.h"

#define READS(ret, name, params, args)               \
    INTERCEPTOR(ret, name, params)                   \
    {                                                \
        ret rc = real_##name args;                   \
        if (dh_field_tracks() && (ssize_t)rc >= 0)   \
            dh_field_track_acquire(&dh_field_files); \
        return rc;                                   \
    }
#define WRITES(ret, name, params, args)              \
    INTERCEPTOR(ret, name, params)                   \
    {                                                \
        if (dh_field_tracks())                       \
            dh_field_track_release(&dh_field_files); \
        return real_##name args;                     \
    }
#define MOVES(ret, name, params, args)               \
    INTERCEPTOR(ret, name, params)                   \
    {                                                \
        if (dh_field_tracks())                       \
            dh_field_track_release(&dh_field_files); \
        ret rc = real_##name args;                   \
        if (dh_field_tracks() && (ssize_t)rc >= 0)   \
            dh_field_track_acquire(&dh_field_files); \
        return rc;                                   \
    }

READS(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
READS(ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n))
READS(ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
READS(ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))
READS(ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
READS(ssize_t, recvfrom,
      (int fd, void *restrict p, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *restrict len),
      (fd, p, n, flags, from, len))
READS(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
READS(int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *limit),
      (fd, m, n, flags, limit))
READS(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *restrict len), (fd, from, len))
READS(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *restrict len, int flags), (fd, from, len, flags))
READS(int, eventfd_read, (int fd, eventfd_t *value), (fd, value))
READS(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
READS(int, select,
      (int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e, struct timeval *restrict timeout),
      (n, r, w, e, timeout))
READS(int, epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout))

READS(int, socket, (int family, int type, int protocol), (family, type, protocol))
READS(int, socketpair, (int family, int type, int protocol, int ends[2]), (family, type, protocol, ends))
READS(int, pipe, (int ends[2]), (ends))
READS(int, pipe2, (int ends[2], int flags), (ends, flags))
READS(int, dup, (int fd), (fd))
READS(int, epoll_create, (int size), (size))
READS(int, epoll_create1, (int flags), (flags))
READS(int, eventfd, (unsigned value, int flags), (value, flags))
READS(int, timerfd_create, (int clock, int flags), (clock, flags))
READS(int, signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
READS(int, inotify_init1, (int flags), (flags))
READS(int, memfd_create, (const char *name, unsigned flags), (name, flags))
READS(int, mkstemp, (char *path), (path))

/* The mode is passed only if the flags say so; otherwise whatever is in its register does no harm. <fcntl.h>
 * is not included, because it declares these differently. */
READS(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode))
READS(int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode))
READS(int, openat, (int dir, const char *path, int flags, mode_t mode), (dir, path, flags, mode))
READS(int, openat64, (int dir, const char *path, int flags, mode_t mode), (dir, path, flags, mode))

/* As fortified headers call them. */
ssize_t __read_chk(int fd, void *p, size_t n, size_t room);
ssize_t __recv_chk(int fd, void *p, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict p, size_t n, size_t room, int flags, __SOCKADDR_ARG from,
                       socklen_t *restrict len);
ssize_t __pread_chk(int fd, void *p, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *p, size_t n, off64_t at, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
READS(ssize_t, __read_chk, (int fd, void *p, size_t n, size_t room), (fd, p, n, room))
READS(ssize_t, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room))
READS(ssize_t, __pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t room), (fd, p, n, at, room))
READS(ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t room, int flags), (fd, p, n, room, flags))
READS(ssize_t, __recvfrom_chk,
      (int fd, void *restrict p, size_t n, size_t room, int flags, __SOCKADDR_ARG from,
       socklen_t *restrict len),
      (fd, p, n, room, flags, from, len))
READS(int, __poll_chk, (struct pollfd * fds, nfds_t n, int timeout, size_t room), (fds, n, timeout, room))

WRITES(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
WRITES(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
WRITES(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
WRITES(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
WRITES(ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
WRITES(ssize_t, sendto, (int fd, const void *p, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t len),
       (fd, p, n, flags, to, len))
WRITES(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
WRITES(int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags))
WRITES(int, shutdown, (int fd, int how), (fd, how))
WRITES(int, close, (int fd), (fd))
WRITES(int, epoll_ctl, (int fd, int op, int which, struct epoll_event *event), (fd, op, which, event))
WRITES(int, eventfd_write, (int fd, eventfd_t value), (fd, value))
WRITES(int, timerfd_settime, (int fd, int flags, const struct itimerspec *value, struct itimerspec *old),
       (fd, flags, value, old))
WRITES(int, ftruncate, (int fd, off_t n), (fd, n))

MOVES(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t len), (fd, to, len))
MOVES(int, dup2, (int from, int to), (from, to))
MOVES(int, dup3, (int from, int to, int flags), (from, to, flags))
MOVES(ssize_t, sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n))
MOVES(ssize_t, sendfile64, (int to, int from, off64_t *at, size_t n), (to, from, at, n))
MOVES(ssize_t, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
      (from, from_at, to, to_at, n, flags))
MOVES(ssize_t, tee, (int from, int to, size_t n, unsigned flags), (from, to, n, flags))
MOVES(ssize_t, vmsplice, (int fd, const struct iovec *v, size_t n, unsigned flags), (fd, v, n, flags))
MOVES(ssize_t, copy_file_range,
      (int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags),
      (from, from_at, to, to_at, n, flags))
