/*
 * threads.c - the creation and the end of threads, for track.h.
 *
 * While something is tracked, a new thread starts in a function of ours, which inherits its creator's
 * knowledge. That also stops the tracking of an access to memory that is now the thread's stack: stacks are
 * reused, and the ordering between the two threads is inside libc.
 */
#include <pthread.h>
#include <threads.h>

#include "field/intercept.h"

/* The arguments of a thread that is being created. Its address identifies the edge between the two
 * threads. */
struct birth {
    u32 used; /* atomic */
    void *(*routine)(void *);
    thrd_start_t routine11; /* C11: instead */
    void *arg;
    size_t stack;
};

enum { BIRTHS = 256, DEFAULT_STACK = 8 << 20, ABOVE_STACK = 1 << 16 };
static struct birth births[BIRTHS];

/* NULL: there are too many at once. */
static struct birth *conceive(const struct birth *with)
{
    for (size_t i = 0; i < BIRTHS; i++) {
        u32 free = 0;
        if (!__atomic_compare_exchange_n(&births[i].used, &free, 1, false, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        births[i].routine = with->routine;
        births[i].routine11 = with->routine11;
        births[i].arg = with->arg;
        births[i].stack = with->stack;
        dh_field_track_release(&births[i]);
        return &births[i];
    }
    dh_field_track_lose();
    return NULL;
}

static void give_back(struct birth *b)
{
    __atomic_store_n(&b->used, 0, __ATOMIC_RELEASE);
}

/* Runs in the new thread. Its descriptor and thread-local variables are above its stack. */
static struct birth begin(struct birth *b)
{
    struct birth copy = *b;
    if (dh_field_tracks()) {
        const char *self = (const char *)pthread_self();
        dh_field_track_forget(self - copy.stack, copy.stack + ABOVE_STACK);
        dh_field_track_acquire(b);
    }
    give_back(b);
    return copy;
}

static void *begin_posix(void *arg)
{
    struct birth b = begin(arg);
    return b.routine(b.arg);
}

static int begin_c11(void *arg)
{
    struct birth b = begin(arg);
    return b.routine11(b.arg);
}

static size_t stack_size(const pthread_attr_t *attr)
{
    size_t n = 0;
    if (attr)
        pthread_attr_getstacksize(attr, &n);
    return n > DEFAULT_STACK ? n : DEFAULT_STACK;
}

INTERCEPTOR(int, pthread_create,
            (pthread_t *restrict t, const pthread_attr_t *restrict attr, void *(*routine)(void *),
             void *restrict arg))
{
    struct birth *b =
        dh_field_tracks()
            ? conceive(&(struct birth){.routine = routine, .arg = arg, .stack = stack_size(attr)})
            : NULL;
    int rc = b ? real_pthread_create(t, attr, begin_posix, b) : real_pthread_create(t, attr, routine, arg);
    if (rc && b)
        give_back(b);
    return rc;
}

INTERCEPTOR(int, thrd_create, (thrd_t * t, thrd_start_t routine, void *arg))
{
    struct birth *b =
        dh_field_tracks()
            ? conceive(&(struct birth){.routine11 = routine, .arg = arg, .stack = DEFAULT_STACK})
            : NULL;
    int rc = b ? real_thrd_create(t, begin_c11, b) : real_thrd_create(t, routine, arg);
    if (rc != thrd_success && b)
        give_back(b);
    return rc;
}

#define JOINS(name, params, args)         \
    INTERCEPTOR(int, name, params)        \
    {                                     \
        int rc = real_##name args;        \
        if (dh_field_tracks() && rc == 0) \
            dh_field_track_join(t);       \
        return rc;                        \
    }

JOINS(pthread_join, (pthread_t t, void **ret), (t, ret))
JOINS(pthread_tryjoin_np, (pthread_t t, void **ret), (t, ret))
JOINS(pthread_timedjoin_np, (pthread_t t, void **ret, const struct timespec *limit), (t, ret, limit))
JOINS(pthread_clockjoin_np, (pthread_t t, void **ret, clockid_t clock, const struct timespec *limit),
      (t, ret, clock, limit))
JOINS(thrd_join, (thrd_t t, int *ret), (t, ret))
