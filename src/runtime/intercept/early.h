/*
 * early.h - functions that may be called while the real ones are being looked up.
 *
 * dlsym and what it calls use memcpy, strlen and the like, which reach our interceptors. The first call
 * looks the real function up; a call that comes in meanwhile, from inside the look-up or from another
 * thread, is done by a plain loop.
 */
#ifndef DH_RUNTIME_INTERCEPT_EARLY_H
#define DH_RUNTIME_INTERCEPT_EARLY_H

#include "runtime/threads/scope.h"

extern DH_HIDDEN bool dh_early_busy; /* intercept/mem.c; atomic */

/* Make sure REAL(name) is there, or return `fallback`. */
#define DH_EARLY(name, fallback)                                             \
    do {                                                                     \
        if (DH_UNLIKELY(REAL(name) == NULL)) {                               \
            if (__atomic_exchange_n(&dh_early_busy, true, __ATOMIC_ACQ_REL)) \
                return fallback;                                             \
            DH_RESOLVE(name);                                                \
            __atomic_store_n(&dh_early_busy, false, __ATOMIC_RELEASE);       \
        }                                                                    \
    } while (0)

/* The loops. The files that use them are compiled with -fno-builtin, or the compiler would turn a loop
 * into a call of the very function it stands in for. */
DH_INLINE void *dh_early_copy(void *dst, const void *src, size_t n)
{
    char *d = dst;
    const char *s = src;
    if (d < s)
        for (size_t i = 0; i < n; i++)
            d[i] = s[i];
    else
        for (size_t i = n; i-- > 0;)
            d[i] = s[i];
    return dst;
}

DH_INLINE void *dh_early_set(void *dst, int c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((char *)dst)[i] = (char)c;
    return dst;
}

DH_INLINE int dh_early_compare(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
    return 0;
}

DH_INLINE size_t dh_early_length(const char *s)
{
    size_t n = 0;
    while (s[n] != 0)
        n++;
    return n;
}

#endif
