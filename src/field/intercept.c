/*
 * intercept.c - the functions by which threads synchronise, for track.h: the edges are those of `deadheat
 * run` (docs/design/interceptors.md), or more where being exact would require more knowledge.
 *
 * A release is reported before the real call, an acquire after it, and whether tracking is on is checked at
 * that very moment: a thread may have been waiting in the call since before tracking began.
 */
#include <aio.h>
#include <errno.h>
#include <malloc.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>

#include "field/intercept.h"

/* What the dead owner of a robust mutex did is ordered before us, and was not reported. */
static void acquire(const volatile void *object, int rc)
{
    if (rc == EOWNERDEAD)
        dh_field_track_lose();
    else if (rc == 0)
        dh_field_track_acquire(object);
}

#define ACQUIRES(name, params, args, object) \
    INTERCEPTOR(int, name, params)           \
    {                                        \
        int rc = real_##name args;           \
        if (dh_field_tracks())               \
            acquire(object, rc);             \
        return rc;                           \
    }

#define RELEASES(name, params, args, object) \
    INTERCEPTOR(int, name, params)           \
    {                                        \
        if (dh_field_tracks())               \
            dh_field_track_release(object);  \
        return real_##name args;             \
    }

/* ---- Locks ---- */

ACQUIRES(pthread_mutex_lock, (pthread_mutex_t * m), (m), m)
ACQUIRES(pthread_mutex_trylock, (pthread_mutex_t * m), (m), m)
ACQUIRES(pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *limit), (m, limit), m)
ACQUIRES(pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t clock, const struct timespec *limit),
         (m, clock, limit), m)
RELEASES(pthread_mutex_unlock, (pthread_mutex_t * m), (m), m)
ACQUIRES(mtx_lock, (mtx_t * m), (m), m)
ACQUIRES(mtx_trylock, (mtx_t * m), (m), m)
ACQUIRES(mtx_timedlock, (mtx_t *restrict m, const struct timespec *restrict limit), (m, limit), m)
RELEASES(mtx_unlock, (mtx_t * m), (m), m)
ACQUIRES(pthread_spin_lock, (pthread_spinlock_t * s), (s), s)
ACQUIRES(pthread_spin_trylock, (pthread_spinlock_t * s), (s), s)
RELEASES(pthread_spin_unlock, (pthread_spinlock_t * s), (s), s)

/* An unlock does not say which kind of lock it releases, so readers are ordered, too. */
ACQUIRES(pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), l)
ACQUIRES(pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l), l)
ACQUIRES(pthread_rwlock_timedrdlock, (pthread_rwlock_t *restrict l, const struct timespec *restrict limit),
         (l, limit), l)
ACQUIRES(pthread_rwlock_clockrdlock,
         (pthread_rwlock_t *restrict l, clockid_t clock, const struct timespec *restrict limit),
         (l, clock, limit), l)
ACQUIRES(pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), l)
ACQUIRES(pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l), l)
ACQUIRES(pthread_rwlock_timedwrlock, (pthread_rwlock_t *restrict l, const struct timespec *restrict limit),
         (l, limit), l)
ACQUIRES(pthread_rwlock_clockwrlock,
         (pthread_rwlock_t *restrict l, clockid_t clock, const struct timespec *restrict limit),
         (l, clock, limit), l)
RELEASES(pthread_rwlock_unlock, (pthread_rwlock_t * l), (l), l)

/* ---- Semaphores ---- */

ACQUIRES(sem_wait, (sem_t * s), (s), s)
ACQUIRES(sem_trywait, (sem_t * s), (s), s)
ACQUIRES(sem_timedwait, (sem_t *restrict s, const struct timespec *restrict limit), (s, limit), s)
ACQUIRES(sem_clockwait, (sem_t *restrict s, clockid_t clock, const struct timespec *restrict limit),
         (s, clock, limit), s)
RELEASES(sem_post, (sem_t * s), (s), s)

/* ---- Both release and acquire ---- */

static void acquired(const void **object)
{
    if (dh_field_tracks())
        dh_field_track_acquire(*object);
}

/* However the call is left: a thread that is cancelled in a wait has locked the mutex again. Condition
 * variables have no edge of their own. */
#define WAITS(name, params, args, object)                             \
    INTERCEPTOR(int, name, params)                                    \
    {                                                                 \
        if (dh_field_tracks())                                        \
            dh_field_track_release(object);                           \
        const void *what __attribute__((cleanup(acquired))) = object; \
        return real_##name args;                                      \
    }

WAITS(pthread_cond_wait, (pthread_cond_t *restrict c, pthread_mutex_t *restrict m), (c, m), m)
WAITS(pthread_cond_timedwait,
      (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict limit),
      (c, m, limit), m)
WAITS(pthread_cond_clockwait,
      (pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock,
       const struct timespec *restrict limit),
      (c, m, clock, limit), m)
WAITS(cnd_wait, (cnd_t * c, mtx_t *m), (c, m), m)
WAITS(cnd_timedwait, (cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict limit),
      (c, m, limit), m)
WAITS(pthread_barrier_wait, (pthread_barrier_t * b), (b), b)

/* ---- Things done once ---- */

/* The routine gets no argument, so calls in progress are kept on a stack. They nest, and may be left by
 * unwinding. */
struct once {
    void *control;
    void (*routine)(void);
    struct once *outer;
};
static __thread struct once *innermost;

static void leave_once(struct once *o)
{
    innermost = o->outer;
}

static void routine_ends(struct once **o)
{
    if (dh_field_tracks())
        dh_field_track_release((*o)->control);
}

static void run_once(void)
{
    struct once *o __attribute__((cleanup(routine_ends))) = innermost;
    if (dh_field_tracks())
        dh_field_track_acquire(o->control); /* an earlier attempt may have been cancelled */
    o->routine();
}

/* Tracking may begin while the routine runs, so the stack is always kept. */
INTERCEPTOR(int, pthread_once, (pthread_once_t * control, void (*routine)(void)))
{
    struct once o __attribute__((cleanup(leave_once))) = {control, routine, innermost};
    innermost = &o;
    int rc = real_pthread_once(control, run_once);
    if (dh_field_tracks())
        dh_field_track_acquire(control);
    return rc;
}

INTERCEPTOR(void, call_once, (once_flag * control, void (*routine)(void)))
{
    struct once o __attribute__((cleanup(leave_once))) = {control, routine, innermost};
    innermost = &o;
    real_call_once(control, run_once);
    if (dh_field_tracks())
        dh_field_track_acquire(control);
}

/* ---- Not tracked ---- */

/* With these a thread may order others in ways that are not seen. If the thread itself is ordered after the
 * access, the window ends. */
#define UNFOLLOWED(ret, name, params, args) \
    INTERCEPTOR(ret, name, params)          \
    {                                       \
        if (dh_field_tracks())              \
            dh_field_track_give_up();       \
        return real_##name args;            \
    }

int __cxa_atexit(void (*fn)(void *), void *arg, void *module);
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *module);
UNFOLLOWED(int, __cxa_atexit, (void (*fn)(void *), void *arg, void *module), (fn, arg, module))
UNFOLLOWED(int, on_exit, (void (*fn)(int, void *), void *arg), (fn, arg))
UNFOLLOWED(int, __register_atfork,
           (void (*prepare)(void), void (*parent)(void), void (*child)(void), void *module),
           (prepare, parent, child, module))
UNFOLLOWED(int, kill, (pid_t pid, int number), (pid, number))
UNFOLLOWED(int, sigqueue, (pid_t pid, int number, const union sigval value), (pid, number, value))
UNFOLLOWED(int, pthread_kill, (pthread_t t, int number), (t, number))
UNFOLLOWED(int, raise, (int number), (number))
UNFOLLOWED(int, killpg, (pid_t group, int number), (group, number))
UNFOLLOWED(int, tgkill, (pid_t pid, pid_t tid, int number), (pid, tid, number))
UNFOLLOWED(int, pthread_sigqueue, (pthread_t t, int number, const union sigval value), (t, number, value))
UNFOLLOWED(unsigned, alarm, (unsigned seconds), (seconds))
UNFOLLOWED(useconds_t, ualarm, (useconds_t after, useconds_t every), (after, every))
UNFOLLOWED(int, setitimer,
           (__itimer_which_t which, const struct itimerval *restrict value, struct itimerval *restrict old),
           (which, value, old))
UNFOLLOWED(int, aio_read, (struct aiocb * request), (request))
UNFOLLOWED(int, aio_write, (struct aiocb * request), (request))
UNFOLLOWED(int, lio_listio,
           (int mode, struct aiocb *const requests[restrict], int n, struct sigevent *restrict event),
           (mode, requests, n, event))
UNFOLLOWED(int, aio_read64, (struct aiocb64 * request), (request))
UNFOLLOWED(int, aio_write64, (struct aiocb64 * request), (request))
UNFOLLOWED(int, lio_listio64,
           (int mode, struct aiocb64 *const requests[restrict], int n, struct sigevent *restrict event),
           (mode, requests, n, event))
UNFOLLOWED(int, aio_fsync, (int op, struct aiocb *request), (op, request))
UNFOLLOWED(int, aio_fsync64, (int op, struct aiocb64 *request), (op, request))
UNFOLLOWED(int, getaddrinfo_a,
           (int mode, struct gaicb *requests[restrict], int n, struct sigevent *restrict event),
           (mode, requests, n, event))
UNFOLLOWED(int, timer_settime,
           (timer_t timer, int flags, const struct itimerspec *restrict value,
            struct itimerspec *restrict old),
           (timer, flags, value, old))
UNFOLLOWED(int, mq_notify, (mqd_t q, const struct sigevent *event), (q, event))
UNFOLLOWED(int, mq_send, (mqd_t q, const char *p, size_t n, unsigned priority), (q, p, n, priority))
UNFOLLOWED(int, mq_timedsend,
           (mqd_t q, const char *p, size_t n, unsigned priority, const struct timespec *limit),
           (q, p, n, priority, limit))
UNFOLLOWED(int, msgsnd, (int id, const void *p, size_t n, int flags), (id, p, n, flags))
struct sembuf;
UNFOLLOWED(int, semop, (int id, struct sembuf *ops, size_t n), (id, ops, n))
UNFOLLOWED(int, semtimedop, (int id, struct sembuf *ops, size_t n, const struct timespec *limit),
           (id, ops, n, limit))

/* The last argument is passed only for some commands. <sys/sem.h> is not included, because it declares this
 * differently. */
UNFOLLOWED(int, semctl, (int id, int n, int command, void *arg), (id, n, command, arg))

/* ---- Memory that is reused ---- */

/* The ordering between two users of one block is inside the allocator. */
static void forget_block(void *p)
{
    if (p)
        dh_field_track_forget(p, malloc_usable_size(p));
}

INTERCEPTOR(void, free, (void *p))
{
    if (dh_field_tracks())
        forget_block(p);
    real_free(p);
}

INTERCEPTOR(void *, realloc, (void *p, size_t n))
{
    if (dh_field_tracks())
        forget_block(p);
    return real_realloc(p, n);
}

INTERCEPTOR(int, munmap, (void *p, size_t n))
{
    if (dh_field_tracks())
        dh_field_track_forget(p, n);
    return real_munmap(p, n);
}
