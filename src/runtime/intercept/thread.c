/*
 * intercept/thread.c - creation, end and joining of POSIX threads.
 *
 * Edges: what the creator did before pthread_create happens before all the new thread does; all a thread
 * did, its TSD destructors included, happens before what follows a successful join of it.
 *
 * The order at birth: the parent creates the logical thread, creates the kernel thread, binds the handle, and
 * only then lets the child continue. So the child's handle is known before the child can use it or anyone can
 * join it, and the child never runs program code unattached. Asynchronous signals are blocked on the child
 * until it is attached: a handler there would look like an unknown thread. The parent returns when the child
 * is about to run program code: a child that starts late would find its creator past the accesses they race
 * on, or gone. That is not guaranteed, and takes at most a hundredth of the time.
 *
 * The order at death: program code on a thread ends with its TSD destructors, which libc calls in up to
 * PTHREAD_DESTRUCTOR_ITERATIONS rounds. Our key sets itself again in every round but the last, so
 * the thread ends there: after return, pthread_exit and cancellation alike.
 */
#define _GNU_SOURCE 1
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/engine/exception.h"
#include "runtime/intercept/intercept.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/signal.h"
#include "runtime/threads/thread.h"

/* Our slow paths and the signal trampoline run on the program's stacks. */
enum { STACK_MIN = 128 << 10 };

/* How long a parent waits for its child to begin; what all of them may wait together, beside BEGIN_SHARE of
 * the time since the first one did; and as what a wait counts at most, since a longer one is due to other
 * processes that were given the processor. A program with few threads always waits, one that does nothing but
 * create threads hardly notices. */
enum { BEGIN_US = 20000, BEGIN_FREE_US = 20000, BEGIN_SHARE = 100, BEGIN_COUNTED_US = 1000 };

enum { UNBOUND = 0, UNBOUND_WAITED = 1, BOUND = 2 };

/* Shared by parent and child; from the runtime's own memory, freed by the last one to finish. */
struct start {
    struct dh_thread *t;
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } routine;
    void *arg;
    u64 mask; /* the child's signal mask, if mask_known */
    bool mask_known;
    u32 bound;  /* futex: has the parent bound the handle? */
    bool begun; /* the child is attached; atomic */
    u32 users;  /* parent and child; atomic */
};

static pthread_key_t key;
static bool key_ok;

/* ---- End ---- */

static void thread_ends(void *value)
{
    uptr rounds = (uptr)value;
    if (rounds > 1 && pthread_setspecific(key, (void *)(rounds - 1)) == 0)
        return;
    struct dh_thread *t = __dh_hot.self;
    if (t == NULL)
        return;
    /* For good: from here on a handler would run on a thread that no longer exists for us. */
    dh_signal_block_all();
    if (dh_thread_enter_any(t)) {
        dh_mutex_bequeath(t);
        dh_thread_leave(t);
    }
    dh_thread_finish(t);
}

static void arm_end(void)
{
    if (key_ok)
        pthread_setspecific(key, (void *)(uptr)PTHREAD_DESTRUCTOR_ITERATIONS);
}

void dh_intercept_thread_init(void)
{
    dh_scope_thread_known();
    key_ok = pthread_key_create(&key, thread_ends) == 0;
    arm_end(); /* the main thread may leave by pthread_exit */
}

/* ---- Birth ---- */

static void start_free(struct start *s)
{
    if (__atomic_sub_fetch(&s->users, 1, __ATOMIC_ACQ_REL) == 0)
        dh_pool_free(s, sizeof(*s));
}

static void child_begins(struct start *s)
{
    dh_scope_thread_known();
    u64 mask = dh_signal_block_all();
    for (int spins = 0; spins < 100 && __atomic_load_n(&s->bound, __ATOMIC_ACQUIRE) != BOUND; spins++)
        __builtin_ia32_pause(); /* the parent has only a few instructions to go */
    u32 was = UNBOUND;
    if (__atomic_compare_exchange_n(&s->bound, &was, UNBOUND_WAITED, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&s->bound, __ATOMIC_ACQUIRE) != BOUND)
            dh_sys6(SYS_futex, (long)&s->bound, FUTEX_WAIT_PRIVATE, UNBOUND_WAITED, 0, 0, 0);
    arm_end();
    dh_thread_start(s->t);
    if (s->mask_known)
        mask = s->mask;
    __atomic_store_n(&s->begun, true, __ATOMIC_RELEASE);
    start_free(s);
    dh_signal_set_mask(mask);
}

/* By yielding: a parent that slept until the child woke it would take the processor away from it at that very
 * moment. */
static void await_begin(const struct start *s)
{
    static u64 first_us, waited_us; /* atomic */
    u64 begin = dh_sys_now_us(), none = 0;
    __atomic_compare_exchange_n(&first_us, &none, begin, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    u64 passed = begin - __atomic_load_n(&first_us, __ATOMIC_RELAXED);
    if (__atomic_load_n(&waited_us, __ATOMIC_RELAXED) > BEGIN_FREE_US + passed / BEGIN_SHARE)
        return;
    while (!__atomic_load_n(&s->begun, __ATOMIC_ACQUIRE) && dh_sys_now_us() < begin + BEGIN_US)
        dh_sys_yield();
    dh_sys_yield(); /* it has begun, and has yet to do something */
    u64 waited = dh_sys_now_us() - begin;
    __atomic_fetch_add(&waited_us, waited < BEGIN_COUNTED_US ? waited : BEGIN_COUNTED_US, __ATOMIC_RELAXED);
}

/* Outside the runtime: the child may have to wait for a collection, which waits for who is inside. */
static void let_begin(struct dh_scope *scope, struct start *s)
{
    dh_scope_block(scope);
    await_begin(s);
    dh_scope_unblock(scope);
    start_free(s);
}

static void *posix_thread(void *p)
{
    struct start *s = p;
    void *(*routine)(void *) = s->routine.posix;
    void *arg = s->arg;
    child_begins(s);
    return dh_exception_on() ? dh_exception_base(routine, arg) : routine(arg);
}

static int c11_thread(void *p)
{
    struct start *s = p;
    int (*routine)(void *) = s->routine.c11;
    void *arg = s->arg;
    child_begins(s);
    return routine(arg);
}

/* The program's attributes, but with a stack that holds our frames too. Copying the structure is safe: libc
 * only reads the copy, and what it points to belongs to the original. */
static const pthread_attr_t *roomy(const pthread_attr_t *attr, pthread_attr_t *storage)
{
    void *base = NULL;
    size_t size = 0;
    if (attr == NULL || pthread_attr_getstacksize(attr, &size) != 0 || size == 0 || size >= STACK_MIN)
        return attr;
    if (pthread_attr_getstack(attr, &base, &size) != 0 || (uptr)base + size != 0)
        return attr; /* the program gave the memory itself */
    *storage = *attr;
    return pthread_attr_setstacksize(storage, STACK_MIN) == 0 ? storage : attr;
}

static struct start *start_new(struct dh_thread *parent)
{
    struct start *s = dh_pool_alloc(sizeof(*s));
    if (s == NULL) {
        dh_runtime_count(DH_COUNT_LOST_MEMORY);
        return NULL;
    }
    s->t = dh_thread_new(parent);
    if (s->t == NULL) {
        dh_pool_free(s, sizeof(*s));
        return NULL;
    }
    s->users = 2;
    dh_exit_wait_for_threads();
    return s;
}

static void let_go(struct start *s, pthread_t handle, bool detached)
{
    dh_thread_bind(s->t, (unsigned long)handle);
    if (detached)
        dh_thread_detach(s->t);
    if (__atomic_exchange_n(&s->bound, BOUND, __ATOMIC_RELEASE) == UNBOUND_WAITED)
        dh_sys6(SYS_futex, (long)&s->bound, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void take_back(struct start *s)
{
    dh_thread_cancel_new(s->t);
    dh_pool_free(s, sizeof(*s));
}

/* The mask a child inherits: that of the program, not the one a held-back signal left behind. */
static u64 mask_to_inherit(struct dh_thread *t, u64 mask)
{
    return t->sig.pending ? t->sig.mask : mask;
}

/* The program only sees EAGAIN; it cannot know that we caused it. */
static void explain_failure(void)
{
    static bool said;
    struct rlimit lim;
    if (dh_sys6(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&lim, 0, 0) < 0 || lim.rlim_cur == RLIM_INFINITY)
        return;
    if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        dh_sys_say(
            "a thread could not be created; under `ulimit -v` deadheat needs three times the program's own "
            "address space");
}

DH_INTERCEPTOR(int, pthread_create, pthread_t *th, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    DH_ENTER(pthread_create, th, attr, fn, arg);
    dh_sink_access(sc.t, th, sizeof(*th), DH_WRITE); /* libc stores it before the thread starts */
    struct start *s = start_new(sc.t);
    if (s == NULL)
        DH_RETURN(REAL(pthread_create)(th, attr, fn, arg));
    s->routine.posix = fn;
    s->arg = arg;
    pthread_attr_t own;
    const pthread_attr_t *given = attr;
    attr = roomy(given, &own);
    int detach = PTHREAD_CREATE_JOINABLE;
    sigset_t explicit_mask;
    if (attr != NULL)
        pthread_attr_getdetachstate(attr, &detach);
    s->mask_known = attr == NULL || pthread_attr_getsigmask_np(attr, &explicit_mask) != 0;
    u64 mask = dh_signal_block_all();
    s->mask = mask_to_inherit(sc.t, mask);
    pthread_t handle;
    int rc = REAL(pthread_create)(&handle, attr, posix_thread, s);
    if (rc == 0) {
        *th = handle;
        let_go(s, handle, detach == PTHREAD_CREATE_DETACHED);
    } else {
        take_back(s);
        explain_failure();
    }
    dh_signal_set_mask(mask);
    if (rc == 0)
        let_begin(&sc, s);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, thrd_create, thrd_t *th, thrd_start_t fn, void *arg)
{
    DH_ENTER(thrd_create, th, fn, arg);
    dh_sink_access(sc.t, th, sizeof(*th), DH_WRITE);
    struct start *s = start_new(sc.t);
    if (s == NULL)
        DH_RETURN(REAL(thrd_create)(th, fn, arg));
    s->routine.c11 = fn;
    s->arg = arg;
    s->mask_known = true;
    u64 mask = dh_signal_block_all();
    s->mask = mask_to_inherit(sc.t, mask);
    thrd_t handle;
    int rc = REAL(thrd_create)(&handle, c11_thread, s);
    if (rc == thrd_success) {
        *th = handle;
        let_go(s, (pthread_t)handle, false);
    } else {
        take_back(s);
    }
    dh_signal_set_mask(mask);
    if (rc == thrd_success)
        let_begin(&sc, s);
    DH_RETURN(rc);
}

/* ---- Joining ---- */

/* The handle is looked up before the call: once it is joined, libc may give it to a new thread. */
static void joined(struct dh_scope *sc, struct dh_thread *child, bool ok, void *out, size_t out_size)
{
    if (!ok)
        return;
    if (child != NULL)
        dh_thread_join(sc->t, child);
    if (out != NULL)
        dh_sink_access(sc->t, out, out_size, DH_WRITE);
}

DH_INTERCEPTOR(int, pthread_join, pthread_t th, void **ret)
{
    DH_ENTER(pthread_join, th, ret);
    struct dh_thread *child = dh_thread_by_pthread((unsigned long)th);
    dh_thread_joining(sc.t, child);
    int rc = DH_BLOCKING(REAL(pthread_join)(th, ret));
    dh_thread_joining(sc.t, NULL);
    joined(&sc, child, rc == 0, ret, sizeof(*ret));
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_tryjoin_np, pthread_t th, void **ret)
{
    DH_ENTER(pthread_tryjoin_np, th, ret);
    struct dh_thread *child = dh_thread_by_pthread((unsigned long)th);
    int rc = DH_BLOCKING(REAL(pthread_tryjoin_np)(th, ret));
    joined(&sc, child, rc == 0, ret, sizeof(*ret));
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_timedjoin_np, pthread_t th, void **ret, const struct timespec *limit)
{
    DH_ENTER(pthread_timedjoin_np, th, ret, limit);
    struct dh_thread *child = dh_thread_by_pthread((unsigned long)th);
    int rc = DH_BLOCKING(REAL(pthread_timedjoin_np)(th, ret, limit));
    joined(&sc, child, rc == 0, ret, sizeof(*ret));
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_clockjoin_np, pthread_t th, void **ret, clockid_t clock,
               const struct timespec *limit)
{
    DH_ENTER(pthread_clockjoin_np, th, ret, clock, limit);
    struct dh_thread *child = dh_thread_by_pthread((unsigned long)th);
    int rc = DH_BLOCKING(REAL(pthread_clockjoin_np)(th, ret, clock, limit));
    joined(&sc, child, rc == 0, ret, sizeof(*ret));
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, thrd_join, thrd_t th, int *ret)
{
    DH_ENTER(thrd_join, th, ret);
    struct dh_thread *child = dh_thread_by_pthread((unsigned long)th);
    dh_thread_joining(sc.t, child);
    int rc = DH_BLOCKING(REAL(thrd_join)(th, ret));
    dh_thread_joining(sc.t, NULL);
    joined(&sc, child, rc == thrd_success, ret, sizeof(*ret));
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_detach, pthread_t th)
{
    DH_ENTER(pthread_detach, th);
    struct dh_thread *child = dh_thread_by_pthread((unsigned long)th);
    int rc = REAL(pthread_detach)(th);
    if (rc == 0 && child != NULL)
        dh_thread_detach(child);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, thrd_detach, thrd_t th)
{
    DH_ENTER(thrd_detach, th);
    struct dh_thread *child = dh_thread_by_pthread((unsigned long)th);
    int rc = REAL(thrd_detach)(th);
    if (rc == thrd_success && child != NULL)
        dh_thread_detach(child);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(int, pthread_setname_np, pthread_t th, const char *name)
{
    DH_ENTER(pthread_setname_np, th, name);
    int rc = REAL(pthread_setname_np)(th, name);
    /* A detached thread is not found by its handle, but may name itself. */
    struct dh_thread *named =
        pthread_equal(th, pthread_self()) ? sc.t : dh_thread_by_pthread((unsigned long)th);
    if (rc == 0 && named != NULL)
        dh_thread_set_name(named, name);
    DH_RETURN(rc);
}

/* ---- Cancellation ---- */

extern DH_HIDDEN int (*dh_real_pthread_cancel)(pthread_t);

static void *wait_for_cancel(void *unused)
{
    dh_scope_thread_known();
    for (;;)
        pause();
    return unused;
}

/*
 * A thread with asynchronous cancellation can be hit anywhere, also inside the runtime, where unwinding
 * would leave locks held. libc does it by a signal whose handler it installs when first needed; so the need
 * is created, with a thread of our own, and the handler is put behind our trampoline.
 */
static void hook_cancel(void)
{
    static u32 state; /* 0: not done, 1: under way, 2: done */
    u32 was = 0;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)
        return;
    if (!__atomic_compare_exchange_n(&state, &was, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != 2)
            dh_sys_yield();
        return;
    }
    pthread_t th;
    DH_RESOLVE(pthread_create);
    DH_RESOLVE(pthread_join);
    if (REAL(pthread_create)(&th, NULL, wait_for_cancel, NULL) == 0) {
        REAL(pthread_cancel)(th);
        REAL(pthread_join)(th, NULL);
    }
    dh_signal_hook_cancel();
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
}

/* No edge: what the canceller did is not ordered before the clean-up handlers. Outside the runtime's scope,
 * because a thread may cancel itself and not come back. */
DH_INTERCEPTOR(int, pthread_cancel, pthread_t th)
{
    DH_RESOLVE(pthread_cancel);
    dh_thread_may_be_interrupted();
    hook_cancel();
    return REAL(pthread_cancel)(th);
}
