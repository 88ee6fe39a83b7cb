/*
 * threads.c - threads that begin and end in the program's own code: another thread can reach their arguments
 * and results, so these escape. All other threads are started by foreign code.
 */
#include <pthread.h>
#include <threads.h>

#include "field/escape/shadow.h"

_Thread_local u32 __dh_esc_outside = 1;

/* The arguments of a thread that is being created. */
struct birth {
    u32 used; /* atomic */
    void *(*routine)(void *);
    thrd_start_t routine11; /* C11: instead */
    void *arg;
};

enum { BIRTHS = 256 };
static struct birth births[BIRTHS];

/* NULL: there are too many at once; then the thread counts as started by foreign code. */
static struct birth *conceive(void *(*routine)(void *), thrd_start_t routine11, void *arg)
{
    if (dh_esc_is_candidate((u64)arg))
        __dh_esc_slow_publish((u64)arg);
    for (size_t i = 0; i < BIRTHS && __dh_esc_mask != 0; i++) {
        struct birth *b = &births[i];
        u32 free = 0;
        if (!__atomic_compare_exchange_n(&b->used, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        b->routine = routine;
        b->routine11 = routine11;
        b->arg = arg;
        return b;
    }
    return NULL;
}

static struct birth begin(struct birth *b)
{
    struct birth copy = *b;
    __atomic_store_n(&b->used, 0, __ATOMIC_RELEASE);
    __dh_esc_outside = 0;
    return copy;
}

static void *begin_posix(void *arg)
{
    struct birth b = begin(arg);
    void *result = b.routine(b.arg);
    if (dh_esc_is_candidate((u64)result))
        __dh_esc_slow_publish((u64)result);
    return result;
}

static int begin_c11(void *arg)
{
    struct birth b = begin(arg);
    return b.routine11(b.arg);
}

int __dh_esc_pthread_create(void *thread, const void *attr, void *(*start)(void *), void *arg)
{
    struct birth *b = conceive(start, NULL, arg);
    if (!b)
        return pthread_create(thread, attr, start, arg);
    int rc = pthread_create(thread, attr, begin_posix, b);
    if (rc != 0)
        __atomic_store_n(&b->used, 0, __ATOMIC_RELEASE);
    return rc;
}

int __dh_esc_thrd_create(void *thread, int (*start)(void *), void *arg)
{
    struct birth *b = conceive(NULL, start, arg);
    if (!b)
        return thrd_create(thread, start, arg);
    int rc = thrd_create(thread, begin_c11, b);
    if (rc != thrd_success)
        __atomic_store_n(&b->used, 0, __ATOMIC_RELEASE);
    return rc;
}
