/*
 * intercept/io.c - read, write and their relatives: the buffers they touch and the edges they create.
 *
 * A write reads the program's buffer, releases the descriptor (fd.c), and then happens. A read happens,
 * then acquires, then is a write to as much of the buffer as it filled; in this order, so that
 * the filling is ordered after what the sender did. The kernel reads a buffer at some moment of the
 * call; recording it before the call is the same to every other thread unless it races.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/intercept/touch.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/fd.h"
#include "runtime/threads/scope.h"

/* ---- One buffer ------------------------------------------------------------------------------- */

/* What every read does after it returns; n: what the call returned. 0 is the end of the stream: the writer
 * closed it, which counts as a message. */
static void got(struct dh_thread *t, int fd, const void *buf, ssize_t n)
{
    if (n >= 0)
        dh_fd_acquire(t, fd);
    if (n > 0)
        dh_touch_write(t, buf, (size_t)n);
}

static void gives(struct dh_thread *t, int fd, const void *buf, size_t n)
{
    dh_touch_read(t, buf, n);
    dh_fd_release(t, fd);
}

/* The bodies of most. got, gives: what to do with the buffers, an expression; got may use the result, r. */
#define READ(got, name, ...)                          \
    DH_ENTER(name, __VA_ARGS__);                      \
    ssize_t r = DH_BLOCKING(REAL(name)(__VA_ARGS__)); \
    got;                                              \
    DH_RETURN(r)

#define WRITE(gives, name, ...)  \
    DH_ENTER(name, __VA_ARGS__); \
    gives;                       \
    DH_RETURN(DH_BLOCKING(REAL(name)(__VA_ARGS__)))

DH_INTERCEPTOR(ssize_t, read, int fd, void *buf, size_t n)
{
    READ(got(sc.t, fd, buf, r), read, fd, buf, n);
}

DH_INTERCEPTOR(ssize_t, pread, int fd, void *buf, size_t n, off_t at)
{
    READ(got(sc.t, fd, buf, r), pread, fd, buf, n, at);
}

DH_INTERCEPTOR(ssize_t, pread64, int fd, void *buf, size_t n, off64_t at)
{
    READ(got(sc.t, fd, buf, r), pread64, fd, buf, n, at);
}

DH_INTERCEPTOR(ssize_t, write, int fd, const void *buf, size_t n)
{
    WRITE(gives(sc.t, fd, buf, n), write, fd, buf, n);
}

DH_INTERCEPTOR(ssize_t, pwrite, int fd, const void *buf, size_t n, off_t at)
{
    WRITE(gives(sc.t, fd, buf, n), pwrite, fd, buf, n, at);
}

DH_INTERCEPTOR(ssize_t, pwrite64, int fd, const void *buf, size_t n, off64_t at)
{
    WRITE(gives(sc.t, fd, buf, n), pwrite64, fd, buf, n, at);
}

DH_INTERCEPTOR(ssize_t, send, int fd, const void *buf, size_t n, int flags)
{
    WRITE(gives(sc.t, fd, buf, n), send, fd, buf, n, flags);
}

DH_INTERCEPTOR(ssize_t, recv, int fd, void *buf, size_t n, int flags)
{
    DH_ENTER(recv, fd, buf, n, flags);
    ssize_t r = DH_BLOCKING(REAL(recv)(fd, buf, n, flags));
    /* MSG_TRUNC makes r the length of the datagram, also where it did not fit. */
    got(sc.t, fd, buf, r > (ssize_t)n ? (ssize_t)n : r);
    DH_RETURN(r);
}

DH_INTERCEPTOR(ssize_t, sendto, int fd, const void *buf, size_t n, int flags, const struct sockaddr *to,
               socklen_t len)
{
    DH_ENTER(sendto, fd, buf, n, flags, to, len);
    dh_touch_in(sc.t, to, len);
    gives(sc.t, fd, buf, n);
    DH_RETURN(DH_BLOCKING(REAL(sendto)(fd, buf, n, flags, to, len)));
}

/* fits: the length that was given for `from`; 0: it is not wanted. */
static void got_from(struct dh_thread *t, int fd, const void *buf, ssize_t n, const struct sockaddr *from,
                     const socklen_t *len, socklen_t fits)
{
    got(t, fd, buf, n);
    if (n >= 0 && fits != 0) {
        dh_touch_write(t, from, *len < fits ? *len : fits);
        DH_TOUCH_OUT(t, len);
    }
}

DH_INTERCEPTOR(ssize_t, recvfrom, int fd, void *buf, size_t n, int flags, struct sockaddr *from,
               socklen_t *len)
{
    DH_ENTER(recvfrom, fd, buf, n, flags, from, len);
    socklen_t fits = from != NULL && len != NULL ? *len : 0;
    ssize_t r = DH_BLOCKING(REAL(recvfrom)(fd, buf, n, flags, from, len));
    got_from(sc.t, fd, buf, r > (ssize_t)n ? (ssize_t)n : r, from, len, fits);
    DH_RETURN(r);
}

/* What -D_FORTIFY_SOURCE calls; the real ones end the program if it does not fit. */

DH_INTERCEPTOR(ssize_t, __read_chk, int fd, void *buf, size_t n, size_t room)
{
    READ(got(sc.t, fd, buf, r), __read_chk, fd, buf, n, room);
}

DH_INTERCEPTOR(ssize_t, __pread_chk, int fd, void *buf, size_t n, off_t at, size_t room)
{
    READ(got(sc.t, fd, buf, r), __pread_chk, fd, buf, n, at, room);
}

DH_INTERCEPTOR(ssize_t, __pread64_chk, int fd, void *buf, size_t n, off64_t at, size_t room)
{
    READ(got(sc.t, fd, buf, r), __pread64_chk, fd, buf, n, at, room);
}

DH_INTERCEPTOR(ssize_t, __recv_chk, int fd, void *buf, size_t n, size_t room, int flags)
{
    DH_ENTER(__recv_chk, fd, buf, n, room, flags);
    ssize_t r = DH_BLOCKING(REAL(__recv_chk)(fd, buf, n, room, flags));
    got(sc.t, fd, buf, r > (ssize_t)n ? (ssize_t)n : r);
    DH_RETURN(r);
}

DH_INTERCEPTOR(ssize_t, __recvfrom_chk, int fd, void *buf, size_t n, size_t room, int flags,
               struct sockaddr *from, socklen_t *len)
{
    DH_ENTER(__recvfrom_chk, fd, buf, n, room, flags, from, len);
    socklen_t fits = from != NULL && len != NULL ? *len : 0;
    ssize_t r = DH_BLOCKING(REAL(__recvfrom_chk)(fd, buf, n, room, flags, from, len));
    got_from(sc.t, fd, buf, r > (ssize_t)n ? (ssize_t)n : r, from, len, fits);
    DH_RETURN(r);
}

/* ---- Several buffers -------------------------------------------------------------------------- */

/* Touch the first n bytes of the vector: all of it when writing, what arrived when reading. */
static void touch_vector(struct dh_thread *t, const struct iovec *v, size_t count, size_t n, u32 kind)
{
    dh_touch_read(t, v, count * sizeof *v);
    for (size_t i = 0; i < count && n != 0; i++) {
        size_t part = v[i].iov_len < n ? v[i].iov_len : n;
        if (part != 0)
            dh_sink_access(t, v[i].iov_base, part, kind | DH_RANGE);
        n -= part;
    }
}

/* The kernel refuses a vector that is too long; then there may be nothing behind it to look at. */
static size_t vector_count(int count)
{
    return count > 0 && count <= IOV_MAX ? (size_t)count : 0;
}

static void got_vector(struct dh_thread *t, int fd, const struct iovec *v, size_t count, ssize_t n)
{
    if (n >= 0)
        dh_fd_acquire(t, fd);
    if (n > 0)
        touch_vector(t, v, count, (size_t)n, DH_WRITE);
}

static void gives_vector(struct dh_thread *t, int fd, const struct iovec *v, size_t count)
{
    touch_vector(t, v, count, SIZE_MAX, DH_READ);
    dh_fd_release(t, fd);
}

DH_INTERCEPTOR(ssize_t, readv, int fd, const struct iovec *v, int count)
{
    READ(got_vector(sc.t, fd, v, vector_count(count), r), readv, fd, v, count);
}

DH_INTERCEPTOR(ssize_t, preadv, int fd, const struct iovec *v, int count, off_t at)
{
    READ(got_vector(sc.t, fd, v, vector_count(count), r), preadv, fd, v, count, at);
}

DH_INTERCEPTOR(ssize_t, preadv64, int fd, const struct iovec *v, int count, off64_t at)
{
    READ(got_vector(sc.t, fd, v, vector_count(count), r), preadv64, fd, v, count, at);
}

DH_INTERCEPTOR(ssize_t, writev, int fd, const struct iovec *v, int count)
{
    WRITE(gives_vector(sc.t, fd, v, vector_count(count)), writev, fd, v, count);
}

DH_INTERCEPTOR(ssize_t, pwritev, int fd, const struct iovec *v, int count, off_t at)
{
    WRITE(gives_vector(sc.t, fd, v, vector_count(count)), pwritev, fd, v, count, at);
}

DH_INTERCEPTOR(ssize_t, pwritev64, int fd, const struct iovec *v, int count, off64_t at)
{
    WRITE(gives_vector(sc.t, fd, v, vector_count(count)), pwritev64, fd, v, count, at);
}

/* The same with flags. */

DH_INTERCEPTOR(ssize_t, preadv2, int fd, const struct iovec *v, int count, off_t at, int flags)
{
    READ(got_vector(sc.t, fd, v, vector_count(count), r), preadv2, fd, v, count, at, flags);
}

DH_INTERCEPTOR(ssize_t, preadv64v2, int fd, const struct iovec *v, int count, off64_t at, int flags)
{
    READ(got_vector(sc.t, fd, v, vector_count(count), r), preadv64v2, fd, v, count, at, flags);
}

DH_INTERCEPTOR(ssize_t, pwritev2, int fd, const struct iovec *v, int count, off_t at, int flags)
{
    WRITE(gives_vector(sc.t, fd, v, vector_count(count)), pwritev2, fd, v, count, at, flags);
}

DH_INTERCEPTOR(ssize_t, pwritev64v2, int fd, const struct iovec *v, int count, off64_t at, int flags)
{
    WRITE(gives_vector(sc.t, fd, v, vector_count(count)), pwritev64v2, fd, v, count, at, flags);
}

/* ---- Messages --------------------------------------------------------------------------------- */

static size_t message_count(const struct msghdr *m)
{
    return m->msg_iovlen <= IOV_MAX ? m->msg_iovlen : 0;
}

static void gives_message(struct dh_thread *t, int fd, const struct msghdr *m)
{
    DH_TOUCH_IN(t, m);
    dh_touch_in(t, m->msg_name, m->msg_namelen);
    dh_touch_in(t, m->msg_control, m->msg_controllen);
    gives_vector(t, fd, m->msg_iov, message_count(m));
}

/* Descriptors that came with the message are new ones of this process. */
static void adopt_descriptors(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        const int *fds = (const int *)CMSG_DATA(c);
        for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds; i++)
            dh_fd_unknown(fds[i]);
    }
}

static void got_message(struct dh_thread *t, int fd, struct msghdr *m, ssize_t n)
{
    if (n < 0)
        return;
    got_vector(t, fd, m->msg_iov, message_count(m), n);
    DH_TOUCH_OUT(t, m);
    dh_touch_out(t, m->msg_name, m->msg_namelen);
    dh_touch_out(t, m->msg_control, m->msg_controllen);
    adopt_descriptors(m);
}

DH_INTERCEPTOR(ssize_t, sendmsg, int fd, const struct msghdr *m, int flags)
{
    WRITE(gives_message(sc.t, fd, m), sendmsg, fd, m, flags);
}

DH_INTERCEPTOR(ssize_t, recvmsg, int fd, struct msghdr *m, int flags)
{
    READ(got_message(sc.t, fd, m, r), recvmsg, fd, m, flags);
}

DH_INTERCEPTOR(int, sendmmsg, int fd, struct mmsghdr *m, unsigned count, int flags)
{
    DH_ENTER(sendmmsg, fd, m, count, flags);
    for (unsigned i = 0; i < count && i < IOV_MAX; i++)
        gives_message(sc.t, fd, &m[i].msg_hdr);
    int r = DH_BLOCKING(REAL(sendmmsg)(fd, m, count, flags));
    for (int i = 0; i < r; i++)
        DH_TOUCH_OUT(sc.t, &m[i].msg_len);
    DH_RETURN(r);
}

DH_INTERCEPTOR(int, recvmmsg, int fd, struct mmsghdr *m, unsigned count, int flags, struct timespec *timeout)
{
    DH_ENTER(recvmmsg, fd, m, count, flags, timeout);
    int r = DH_BLOCKING(REAL(recvmmsg)(fd, m, count, flags, timeout));
    for (int i = 0; i < r; i++) {
        got_message(sc.t, fd, &m[i].msg_hdr, (ssize_t)m[i].msg_len);
        DH_TOUCH_OUT(sc.t, &m[i].msg_len);
    }
    DH_RETURN(r);
}

/* ---- From descriptor to descriptor ------------------------------------------------------------ */

#define MOVE(in, out, name, ...)                      \
    dh_fd_release(sc.t, out);                         \
    ssize_t r = DH_BLOCKING(REAL(name)(__VA_ARGS__)); \
    if (r >= 0)                                       \
        dh_fd_acquire(sc.t, in);                      \
    DH_RETURN(r)

DH_INTERCEPTOR(ssize_t, sendfile, int out, int in, off_t *at, size_t n)
{
    DH_ENTER(sendfile, out, in, at, n);
    DH_TOUCH_OUT(sc.t, at);
    MOVE(in, out, sendfile, out, in, at, n);
}

DH_INTERCEPTOR(ssize_t, sendfile64, int out, int in, off64_t *at, size_t n)
{
    DH_ENTER(sendfile64, out, in, at, n);
    DH_TOUCH_OUT(sc.t, at);
    MOVE(in, out, sendfile64, out, in, at, n);
}

DH_INTERCEPTOR(ssize_t, splice, int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags)
{
    DH_ENTER(splice, in, in_at, out, out_at, n, flags);
    DH_TOUCH_OUT(sc.t, in_at);
    DH_TOUCH_OUT(sc.t, out_at);
    MOVE(in, out, splice, in, in_at, out, out_at, n, flags);
}

DH_INTERCEPTOR(ssize_t, tee, int in, int out, size_t n, unsigned flags)
{
    DH_ENTER(tee, in, out, n, flags);
    MOVE(in, out, tee, in, out, n, flags);
}

/* Moves the program's pages into the pipe. */
DH_INTERCEPTOR(ssize_t, vmsplice, int fd, const struct iovec *v, size_t count, unsigned flags)
{
    WRITE(gives_vector(sc.t, fd, v, count <= IOV_MAX ? count : 0), vmsplice, fd, v, count, flags);
}
