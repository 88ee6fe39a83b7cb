/*
 * intercept.h - how a function of libc is stood before, in a program that the library is linked into.
 */
#ifndef DH_FIELD_INTERCEPT_H
#define DH_FIELD_INTERCEPT_H

#include <errno.h>

#include "field/track.h"

/* intercept.c: the definition behind ours. */
void *dh_field_intercept_next(const char *name);

/*
 * Followed by the body of what takes the function's place in a program that is chased; real_NAME is the
 * function. In all others the function itself is called, after one branch: a library that sleeps when the
 * program begins never wakes. real_NAME finds the next definition when it is called for the first time. Weak:
 * a program that defines one of these itself keeps its own.
 */
#define INTERCEPTOR(ret, name, params, args)                                              \
    static ret resolve_##name params;                                                     \
    static ret(*real_##name) params = resolve_##name;                                     \
    static ret resolve_##name params                                                      \
    {                                                                                     \
        int error = errno;                                                                \
        __atomic_store_n(&real_##name, dh_field_intercept_next(#name), __ATOMIC_RELAXED); \
        errno = error;                                                                    \
        return real_##name args;                                                          \
    }                                                                                     \
    static DH_COLD ret awake_##name params;                                               \
    DH_EXPORT __attribute__((weak)) ret name params                                       \
    {                                                                                     \
        if (DH_LIKELY(!__atomic_load_n(&dh_field_control, __ATOMIC_RELAXED)))             \
            return real_##name args;                                                      \
        return awake_##name args;                                                         \
    }                                                                                     \
    static ret awake_##name params

#endif
