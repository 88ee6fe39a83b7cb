/*
 * intercept.h - how a libc function is intercepted in a program that the library is linked into.
 */
#ifndef DH_FIELD_INTERCEPT_H
#define DH_FIELD_INTERCEPT_H

#include "field/redirect.h"
#include "field/track.h"

/* Followed by the body of the replacement, used in a program whose synchronisation is tracked; real_NAME is
 * the original function. */
#define INTERCEPTOR(ret, name, params)                               \
    static ret(*real_##name) params;                                 \
    static ret intercept_##name params;                              \
    DH_FIELD_REDIRECT(name, intercept_##name, name, &real_##name, 0) \
    static ret intercept_##name params

#endif
