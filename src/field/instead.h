/*
 * instead.h - how functions of libc are replaced in every chased program, whether the library is linked into
 * it or preloaded: through redirect.h, or by the functions' names. In both cases a program that defines one
 * of these itself keeps its own.
 */
#ifndef DH_FIELD_INSTEAD_H
#define DH_FIELD_INSTEAD_H

#include <dlfcn.h>

#include "field/redirect.h"

/* INSTEAD_OF is followed by the body of the replacement; NEXT is the function that it replaces. */
#ifdef DH_FIELD_LINKED

#define INSTEAD_OF(ret, name, params)                                 \
    static void *next_##name;                                         \
    static ret instead_of_##name params;                              \
    DH_FIELD_REDIRECT(name, instead_of_##name, name, &next_##name, 1) \
    static ret instead_of_##name params

#define NEXT(fn) ((__typeof__(&fn))next_##fn)

#else

#define INSTEAD_OF(ret, name, params) DH_EXPORT ret name params

DH_INLINE void *dh_field_instead_next(void **known, const char *name)
{
    void *fn = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (!fn) {
        fn = dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, fn, __ATOMIC_RELEASE);
    }
    return fn;
}

#define NEXT(fn)                                             \
    ({                                                       \
        static void *known;                                  \
        (__typeof__(&fn))dh_field_instead_next(&known, #fn); \
    })

#endif

#endif
