/*
 * intercept.h - how a function of libc is stood before, in a program that the library is linked into.
 */
#ifndef DH_FIELD_INTERCEPT_H
#define DH_FIELD_INTERCEPT_H

#include <errno.h>

#include "field/track.h"

/* Weak: a program that defines one of these itself keeps its own. */
#define INTERCEPTOR DH_EXPORT __attribute__((weak))

/* intercept.c: the definition behind ours. */
void *dh_field_intercept_next(const char *name);

/* real_NAME finds the next definition when it is called for the first time. */
#define REAL(ret, name, params, args)                                                     \
    static ret resolve_##name params;                                                     \
    static ret(*real_##name) params = resolve_##name;                                     \
    static ret resolve_##name params                                                      \
    {                                                                                     \
        int error = errno;                                                                \
        __atomic_store_n(&real_##name, dh_field_intercept_next(#name), __ATOMIC_RELAXED); \
        errno = error;                                                                    \
        return real_##name args;                                                          \
    }

#endif
