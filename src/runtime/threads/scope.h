/*
 * scope.h - how an interceptor enters and leaves the runtime. See runtime.h for the pattern.
 */
#ifndef DH_RUNTIME_THREADS_SCOPE_H
#define DH_RUNTIME_THREADS_SCOPE_H

#include <errno.h>

#include "clock/vclock.h"
#include "runtime/runtime.h"

/* The real functions, found by dlsym(RTLD_NEXT, ...) on first use or at start-up. */
#define REAL(name) dh_real_##name

/*
 * Defines the interceptor `name` and the pointer REAL(name). The symbol is exported, so that it replaces
 * libc's in every module of the process; intercept.syms (generated from these lines at build time) is the
 * linker's dynamic list. It is weak: a program that has a function of that name keeps its own.
 */
#define DH_INTERCEPTOR(ret, name, ...)                                                      \
    typedef ret (*dh_type_##name)(__VA_ARGS__);                                             \
    DH_HIDDEN dh_type_##name dh_real_##name;                                                \
    static struct dh_intercept_entry dh_entry_##name                                        \
        __attribute__((used, retain, section("dh_intercepts"))) = {#name, &dh_real_##name}; \
    DH_EXPORT __attribute__((weak)) ret name(__VA_ARGS__);                                  \
    DH_EXPORT ret name(__VA_ARGS__)

/* One per interceptor, collected by the linker, so that start-up can resolve all of them: dlsym is not
 * async-signal-safe, and a signal handler may make the first call. */
struct dh_intercept_entry {
    const char *name;
    void *real; /* address of REAL(name) */
};

/*
 * Follows an interceptor for libstdc++ or libgcc, which may be linked statically (-static-libstdc++). Then
 * the library's definition overrides the weak symbol, and dlsym finds none. So the driver links with
 * --wrap=name: the program's calls go to __wrap_name, an alias of the interceptor, and __real_name is
 * whichever function has the symbol: that of the static library, or else the interceptor. (A hidden
 * __real_name would hide the symbol, which shared libraries need.)
 */
#define DH_INTERCEPTOR_WRAPS(name)                                                                      \
    DH_HIDDEN __typeof__(name) __wrap_##name __attribute__((alias(#name)));                             \
    DH_EXPORT __typeof__(name) __real_##name __attribute__((weak));                                     \
    static struct dh_intercept_inside dh_inside_##name                                                  \
        __attribute__((used, retain, section("dh_insides"))) = {&dh_real_##name, (void *)__real_##name, \
                                                                (void *)__wrap_##name}

struct dh_intercept_inside {
    void *real;          /* address of REAL(name) */
    void *holder, *ours; /* the function with the symbol, NULL without --wrap; the interceptor */
};

/* Resolve REAL(name); cheap when done. Safe before dh_runtime_init. */
#define DH_RESOLVE(name)           \
    (DH_LIKELY(REAL(name) != NULL) \
         ? (void)0                 \
         : (void)(REAL(name) = (__typeof__(REAL(name)))dh_intercept_resolve(#name)))
void *dh_intercept_resolve(const char *name); /* intercept.c: dlsym; aborts with a sentence if missing */

struct dh_scope {
    struct dh_thread *t;
    struct dh_frame *frame;
    const struct dh_scope *outer; /* while it is blocked: the next outer blocked one */
    const uptr *bp;               /* of the interceptor: its caller's frame pointer, and its return address */
    u32 quiet;                    /* 1: called by the OpenMP runtime, so its accesses do not count; else 0 */
};

/* Returns false (and sets sc->t to NULL) if this thread is not attached or already in the runtime. */
bool dh_scope_begin(struct dh_scope *sc, const void *pc);
/* The calling thread is one of ours, even before it is attached and after its end: do not count it as
 * lost. */
void dh_scope_thread_known(void);
/* Pops the frame, raises races that were found, delivers deferred signals. Preserves errno. */
void dh_scope_end(struct dh_scope *sc);
/* The same after the call has taken effect: too late to raise a race before it. */
void dh_scope_return(struct dh_scope *sc);

/* A cancelled thread or a C++ exception leaves the interceptor by unwinding: leave the runtime properly. */
void dh_scope_leave(struct dh_scope *sc);
DH_INLINE void dh_scope_cleanup(struct dh_scope *sc)
{
    if (DH_UNLIKELY(sc->t != NULL))
        dh_scope_leave(sc);
}

/* While a call may block: signals are delivered at once, and the thread does not hold up others. */
void dh_scope_block(struct dh_scope *sc);
void dh_scope_unblock(struct dh_scope *sc);
/* The scope that the thread in this slot is blocked in, on that thread's stack; NULL: it is not blocked. A
 * handler that jumps out of a blocking call leaves it dangling: only read it with care. */
const struct dh_scope *dh_scope_blocked(dh_slot_t slot);

/* Declares a scope that is left automatically. It is empty until dh_scope_begin, so a function may also
 * return before that. Only the field that marks it empty is set: the rest would be stores in every
 * interceptor. */
#define DH_SCOPE(name)                                               \
    struct dh_scope name __attribute__((cleanup(dh_scope_cleanup))); \
    (name).t = NULL

#define DH_ENTER(name, ...)                                \
    DH_RESOLVE(name);                                      \
    DH_SCOPE(sc);                                          \
    if (!dh_scope_begin(&sc, __builtin_return_address(0))) \
    return REAL(name)(__VA_ARGS__)

#define DH_RETURN(value)                  \
    do {                                  \
        __typeof__(value) ret_ = (value); \
        dh_scope_return(&sc);             \
        return ret_;                      \
    } while (0)

#define DH_RETURN_VOID        \
    do {                      \
        dh_scope_return(&sc); \
        return;               \
    } while (0)

/* Around anything that may block, run program code, or be a cancellation point. */
#define DH_BLOCKING(call)              \
    ({                                 \
        dh_scope_block(&sc);           \
        __typeof__(call) rc_ = (call); \
        dh_scope_unblock(&sc);         \
        rc_;                           \
    })

#endif
