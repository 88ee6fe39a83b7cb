/*
 * instead.h - how functions of libc are replaced in every chased program, whether the library is linked into
 * it or preloaded: through redirect.h, or by the functions' names. In both cases a program that defines one
 * of these itself keeps its own.
 */
#ifndef DH_FIELD_INSTEAD_H
#define DH_FIELD_INSTEAD_H

#include <dlfcn.h>

#include "field/redirect.h"

/* INSTEAD_OF is followed by the body of the replacement; NEXT is the function that it replaces. INSTEAD_BY
 * and NEXT_BY: another one is called, since variable arguments cannot be passed on. */
#ifdef DH_FIELD_LINKED

#define INSTEAD_BY(ret, name, real, params)                           \
    static void *next_##name;                                         \
    static ret instead_of_##name params;                              \
    DH_FIELD_REDIRECT(name, instead_of_##name, real, &next_##name, 1) \
    static ret instead_of_##name params

#define NEXT_BY(fn, real) ((__typeof__(&real))next_##fn)

#else

#define INSTEAD_BY(ret, name, real, params) DH_EXPORT ret name params

DH_INLINE void *dh_field_instead_next(void **known, const char *name)
{
    void *fn = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (!fn) {
        fn = dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, fn, __ATOMIC_RELEASE);
    }
    return fn;
}

#define NEXT_BY(fn, real)                                        \
    ({                                                           \
        static void *known;                                      \
        (__typeof__(&real))dh_field_instead_next(&known, #real); \
    })

#endif

#define INSTEAD_OF(ret, name, params) INSTEAD_BY(ret, name, name, params)
#define NEXT(fn) NEXT_BY(fn, fn)

#endif
