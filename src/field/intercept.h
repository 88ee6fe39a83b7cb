/*
 * intercept.h - how a function of libc is stood before, in a program that the library is linked into.
 */
#ifndef DH_FIELD_INTERCEPT_H
#define DH_FIELD_INTERCEPT_H

#include <errno.h>

#include "field/redirect.h"
#include "field/track.h"

/*
 * Followed by the body of what takes the function's place in a program whose synchronisation is followed;
 * real_NAME is the function. It is looked for when it is called for the first time.
 */
#define INTERCEPTOR(ret, name, params, args)                                             \
    static ret resolve_##name params;                                                    \
    static ret(*real_##name) params = resolve_##name;                                    \
    static ret resolve_##name params                                                     \
    {                                                                                    \
        int error = errno;                                                               \
        __atomic_store_n(&real_##name, dh_field_redirect_next(#name), __ATOMIC_RELAXED); \
        errno = error;                                                                   \
        return real_##name args;                                                         \
    }                                                                                    \
    static ret intercept_##name params;                                                  \
    DH_FIELD_REDIRECT(name, intercept_##name, 0)                                         \
    static ret intercept_##name params

#endif
