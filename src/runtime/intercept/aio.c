/*
 * intercept/aio.c - POSIX asynchronous I/O.
 *
 * A request releases its control block, and a thread that learns of its completion (aio_error, aio_return,
 * aio_suspend) acquires it. The transfer happens somewhere in between. A buffer that is written to a file
 * counts as read when the request is made; one that is filled counts as written then, and once more, as far
 * as it was filled, by the thread that fetches the result, so that a use is a race whether it comes too early
 * or too late. Pipes and sockets create their own edges, as with read and write.
 *
 * libc's helper threads are its own: functions called on completion (SIGEV_THREAD) run on threads that are
 * not watched.
 */
#undef _GNU_SOURCE /* or <aio.h> declares the 64-bit functions with a type of their own */
#include <aio.h>

#include "runtime/intercept/touch.h"
#include "runtime/threads/fd.h"
#include "runtime/threads/scope.h"

/* libc marks the requests of its 64-bit functions, which are the same here, with a higher bit. */
enum { OPERATION = 127 };

static void requests(struct dh_thread *t, struct aiocb *a, int operation)
{
    DH_TOUCH_OUT(t, a); /* libc keeps the state of the request in it */
    if (operation == LIO_READ) {
        dh_touch_write(t, a->aio_buf, a->aio_nbytes);
    } else if (operation == LIO_WRITE) {
        dh_touch_read(t, a->aio_buf, a->aio_nbytes);
        dh_fd_release(t, a->aio_fildes);
    }
    dh_order_release(t, a);
}

#define REQUEST(name, operation)  \
    DH_ENTER(name, a);            \
    requests(sc.t, a, operation); \
    DH_RETURN(DH_BLOCKING(REAL(name)(a)))

DH_INTERCEPTOR(int, aio_read, struct aiocb *a)
{
    REQUEST(aio_read, LIO_READ);
}

DH_INTERCEPTOR(int, aio_read64, struct aiocb *a)
{
    REQUEST(aio_read64, LIO_READ);
}

DH_INTERCEPTOR(int, aio_write, struct aiocb *a)
{
    REQUEST(aio_write, LIO_WRITE);
}

DH_INTERCEPTOR(int, aio_write64, struct aiocb *a)
{
    REQUEST(aio_write64, LIO_WRITE);
}

static void requests_all(struct dh_thread *t, struct aiocb *const list[], int n)
{
    for (int i = 0; i < n; i++)
        if (list[i] != NULL && list[i]->aio_lio_opcode != LIO_NOP)
            requests(t, list[i], list[i]->aio_lio_opcode & OPERATION);
}

/* After waiting: those that are done. */
static void acquire_done(struct dh_thread *t, const struct aiocb *const list[], int n);

#define REQUEST_LIST(name)                                        \
    DH_ENTER(name, mode, list, n, event);                         \
    requests_all(sc.t, list, n);                                  \
    int rc = DH_BLOCKING(REAL(name)(mode, list, n, event));       \
    if (rc == 0 && mode == LIO_WAIT)                              \
        acquire_done(sc.t, (const struct aiocb *const *)list, n); \
    DH_RETURN(rc)

DH_INTERCEPTOR(int, lio_listio, int mode, struct aiocb *const list[], int n, struct sigevent *event)
{
    REQUEST_LIST(lio_listio);
}

DH_INTERCEPTOR(int, lio_listio64, int mode, struct aiocb *const list[], int n, struct sigevent *event)
{
    REQUEST_LIST(lio_listio64);
}

#define IS_DONE(name)              \
    DH_ENTER(name, a);             \
    int rc = REAL(name)(a);        \
    if (rc != EINPROGRESS)         \
        dh_order_acquire(sc.t, a); \
    DH_RETURN(rc)

DH_INTERCEPTOR(int, aio_error, const struct aiocb *a)
{
    IS_DONE(aio_error);
}

DH_INTERCEPTOR(int, aio_error64, const struct aiocb *a)
{
    IS_DONE(aio_error64);
}

static void acquire_done(struct dh_thread *t, const struct aiocb *const list[], int n)
{
    DH_RESOLVE(aio_error);
    for (int i = 0; i < n; i++)
        if (list[i] != NULL && REAL(aio_error)(list[i]) != EINPROGRESS)
            dh_order_acquire(t, list[i]);
}

#define RESULT(name)           \
    DH_ENTER(name, a);         \
    ssize_t r = REAL(name)(a); \
    fetched(sc.t, a, r);       \
    DH_RETURN(r)

static void fetched(struct dh_thread *t, struct aiocb *a, ssize_t r)
{
    if (r < 0)
        return;
    dh_order_acquire(t, a);
    if ((a->aio_lio_opcode & OPERATION) != LIO_READ)
        return;
    dh_fd_acquire(t, a->aio_fildes);
    dh_touch_write(t, a->aio_buf, (size_t)r);
}

DH_INTERCEPTOR(ssize_t, aio_return, struct aiocb *a)
{
    RESULT(aio_return);
}

DH_INTERCEPTOR(ssize_t, aio_return64, struct aiocb *a)
{
    RESULT(aio_return64);
}

#define SUSPEND(name)                                   \
    DH_ENTER(name, list, n, timeout);                   \
    int rc = DH_BLOCKING(REAL(name)(list, n, timeout)); \
    if (rc == 0)                                        \
        acquire_done(sc.t, list, n);                    \
    DH_RETURN(rc)

DH_INTERCEPTOR(int, aio_suspend, const struct aiocb *const list[], int n, const struct timespec *timeout)
{
    SUSPEND(aio_suspend);
}

DH_INTERCEPTOR(int, aio_suspend64, const struct aiocb *const list[], int n, const struct timespec *timeout)
{
    SUSPEND(aio_suspend64);
}
