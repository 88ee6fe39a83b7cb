/*
 * intercept/new.c - C++ operator new and delete, by their mangled names.
 *
 * libstdc++'s operators call malloc and free, which are intercepted, so leaving them alone would be
 * correct. But the caller of malloc would then be libstdc++, and the function that wrote `new`, which
 * is what a report must name, would be missing from every allocation stack: a function's own
 * place in a stack is the return address of what it calls.
 *
 * When no memory is left the library's operator takes over: it alone can run the new-handler and throw
 * std::bad_alloc. It is called with the runtime left, so an exception passes no frame of ours that has
 * anything to undo. A program that replaces the operators, or malloc, keeps its own; then the forms it did
 * not replace go to the library's, which are defined in terms of its own.
 */
#include "runtime/shadow/heap.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/scope.h"

/* What the two basic operators are called when they are certainly ours. */
DH_HIDDEN void *dh_new_own(size_t n) __attribute__((alias("_Znwm")));
DH_HIDDEN void dh_delete_own(void *p) __attribute__((alias("_ZdlPv")));
void *_Znwm(size_t n) __attribute__((weak));
void _ZdlPv(void *p) __attribute__((weak));

DH_INLINE bool replaced(void)
{
    return DH_UNLIKELY(_Znwm != dh_new_own || _ZdlPv != dh_delete_own || dh_malloc_replaced());
}

/* NULL if there is no memory, or if it is not ours to give. */
DH_INLINE void *try_new(size_t n, size_t align, const void *pc)
{
    if (replaced())
        return NULL;
    struct dh_scope sc;
    bool inside = dh_scope_begin(&sc, pc);
    void *p = dh_heap_alloc(inside ? sc.t : NULL, n, align, false);
    if (inside)
        dh_scope_end(&sc);
    return p;
}

/* False if the block was not ours to take. */
DH_INLINE bool try_delete(void *p, const void *pc)
{
    if (replaced())
        return false;
    if (p == NULL)
        return true;
    dh_sink_before_free(p, pc);
    struct dh_scope sc;
    bool inside = dh_scope_begin(&sc, pc);
    dh_heap_release(inside ? sc.t : NULL, p);
    if (inside)
        dh_scope_end(&sc);
    return true;
}

#define NEW(name, n, align, ...)                                  \
    do {                                                          \
        void *p = try_new(n, align, __builtin_return_address(0)); \
        if (DH_LIKELY(p != NULL))                                 \
            return p;                                             \
        DH_RESOLVE(name);                                         \
        return REAL(name)(__VA_ARGS__);                           \
    } while (0)

#define DELETE(name, p, ...)                                       \
    do {                                                           \
        if (DH_LIKELY(try_delete(p, __builtin_return_address(0)))) \
            return;                                                \
        DH_RESOLVE(name);                                          \
        REAL(name)(__VA_ARGS__);                                   \
    } while (0)

DH_INTERCEPTOR(void *, _Znwm, size_t n)
{
    NEW(_Znwm, n, 0, n);
}

DH_INTERCEPTOR(void *, _Znam, size_t n)
{
    NEW(_Znam, n, 0, n);
}

DH_INTERCEPTOR(void *, _ZnwmRKSt9nothrow_t, size_t n, const void *nothrow)
{
    NEW(_ZnwmRKSt9nothrow_t, n, 0, n, nothrow);
}

DH_INTERCEPTOR(void *, _ZnamRKSt9nothrow_t, size_t n, const void *nothrow)
{
    NEW(_ZnamRKSt9nothrow_t, n, 0, n, nothrow);
}

DH_INTERCEPTOR(void *, _ZnwmSt11align_val_t, size_t n, size_t align)
{
    NEW(_ZnwmSt11align_val_t, n, align, n, align);
}

DH_INTERCEPTOR(void *, _ZnamSt11align_val_t, size_t n, size_t align)
{
    NEW(_ZnamSt11align_val_t, n, align, n, align);
}

DH_INTERCEPTOR(void *, _ZnwmSt11align_val_tRKSt9nothrow_t, size_t n, size_t align, const void *nothrow)
{
    NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, n, align, n, align, nothrow);
}

DH_INTERCEPTOR(void *, _ZnamSt11align_val_tRKSt9nothrow_t, size_t n, size_t align, const void *nothrow)
{
    NEW(_ZnamSt11align_val_tRKSt9nothrow_t, n, align, n, align, nothrow);
}

DH_INTERCEPTOR(void, _ZdlPv, void *p)
{
    DELETE(_ZdlPv, p, p);
}

DH_INTERCEPTOR(void, _ZdaPv, void *p)
{
    DELETE(_ZdaPv, p, p);
}

DH_INTERCEPTOR(void, _ZdlPvm, void *p, size_t n)
{
    DELETE(_ZdlPvm, p, p, n);
}

DH_INTERCEPTOR(void, _ZdaPvm, void *p, size_t n)
{
    DELETE(_ZdaPvm, p, p, n);
}

DH_INTERCEPTOR(void, _ZdlPvRKSt9nothrow_t, void *p, const void *nothrow)
{
    DELETE(_ZdlPvRKSt9nothrow_t, p, p, nothrow);
}

DH_INTERCEPTOR(void, _ZdaPvRKSt9nothrow_t, void *p, const void *nothrow)
{
    DELETE(_ZdaPvRKSt9nothrow_t, p, p, nothrow);
}

DH_INTERCEPTOR(void, _ZdlPvSt11align_val_t, void *p, size_t align)
{
    DELETE(_ZdlPvSt11align_val_t, p, p, align);
}

DH_INTERCEPTOR(void, _ZdaPvSt11align_val_t, void *p, size_t align)
{
    DELETE(_ZdaPvSt11align_val_t, p, p, align);
}

DH_INTERCEPTOR(void, _ZdlPvmSt11align_val_t, void *p, size_t n, size_t align)
{
    DELETE(_ZdlPvmSt11align_val_t, p, p, n, align);
}

DH_INTERCEPTOR(void, _ZdaPvmSt11align_val_t, void *p, size_t n, size_t align)
{
    DELETE(_ZdaPvmSt11align_val_t, p, p, n, align);
}

DH_INTERCEPTOR(void, _ZdlPvSt11align_val_tRKSt9nothrow_t, void *p, size_t align, const void *nothrow)
{
    DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, p, p, align, nothrow);
}

DH_INTERCEPTOR(void, _ZdaPvSt11align_val_tRKSt9nothrow_t, void *p, size_t align, const void *nothrow)
{
    DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, p, p, align, nothrow);
}
