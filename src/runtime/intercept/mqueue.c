/*
 * intercept/mqueue.c - POSIX message queues: the buffers, and the edge from a message sent to one received.
 *
 * A queue is a descriptor (on Linux) that looks like a file, so mq_open says what it is (fd.c). All openers
 * of a queue in the process share one address, as with FIFOs.
 */
#define _GNU_SOURCE 1
#include <mqueue.h>
#include <stdarg.h>

#include "runtime/intercept/touch.h"
#include "runtime/threads/fd.h"
#include "runtime/threads/scope.h"

/* The mode and the attributes are there only if the flags say so; as with open, reading more is harmless. */
DH_INTERCEPTOR(mqd_t, mq_open, const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = va_arg(ap, mode_t);
    struct mq_attr *attr = va_arg(ap, struct mq_attr *);
    va_end(ap);
    DH_ENTER(mq_open, name, flags, mode, attr);
    mqd_t q = DH_BLOCKING(REAL(mq_open)(name, flags, mode, attr));
    if (q >= 0)
        dh_fd_queue(q);
    DH_RETURN(q);
}

DH_INTERCEPTOR(int, mq_close, mqd_t q)
{
    DH_ENTER(mq_close, q);
    dh_fd_close(sc.t, q);
    DH_RETURN(REAL(mq_close)(q));
}

static void gives(struct dh_thread *t, mqd_t q, const char *buf, size_t n)
{
    dh_touch_read(t, buf, n);
    dh_fd_release(t, q);
}

static void got(struct dh_thread *t, mqd_t q, const char *buf, ssize_t n, const unsigned *priority)
{
    if (n < 0)
        return;
    dh_fd_acquire(t, q);
    dh_touch_write(t, buf, (size_t)n);
    DH_TOUCH_OUT(t, priority);
}

DH_INTERCEPTOR(int, mq_send, mqd_t q, const char *buf, size_t n, unsigned priority)
{
    DH_ENTER(mq_send, q, buf, n, priority);
    gives(sc.t, q, buf, n);
    DH_RETURN(DH_BLOCKING(REAL(mq_send)(q, buf, n, priority)));
}

DH_INTERCEPTOR(int, mq_timedsend, mqd_t q, const char *buf, size_t n, unsigned priority,
               const struct timespec *limit)
{
    DH_ENTER(mq_timedsend, q, buf, n, priority, limit);
    gives(sc.t, q, buf, n);
    DH_RETURN(DH_BLOCKING(REAL(mq_timedsend)(q, buf, n, priority, limit)));
}

DH_INTERCEPTOR(ssize_t, mq_receive, mqd_t q, char *buf, size_t n, unsigned *priority)
{
    DH_ENTER(mq_receive, q, buf, n, priority);
    ssize_t r = DH_BLOCKING(REAL(mq_receive)(q, buf, n, priority));
    got(sc.t, q, buf, r, priority);
    DH_RETURN(r);
}

DH_INTERCEPTOR(ssize_t, mq_timedreceive, mqd_t q, char *buf, size_t n, unsigned *priority,
               const struct timespec *limit)
{
    DH_ENTER(mq_timedreceive, q, buf, n, priority, limit);
    ssize_t r = DH_BLOCKING(REAL(mq_timedreceive)(q, buf, n, priority, limit));
    got(sc.t, q, buf, r, priority);
    DH_RETURN(r);
}
