/*
 * intercept/exception.c - C++ exceptions that several threads hold.
 *
 * std::exception_ptr and std::future pass an exception from thread to thread, and the thread that drops the
 * last reference frees it. The counting is done by atomics inside libstdc++, which we do not see, so the end
 * of another thread's catch block would look unordered with the free. Edge: every drop of a reference before
 * the destruction of the exception.
 *
 * A reference is dropped in two places: exception_ptr::_M_release, which the header's destructor calls, and
 * the clean-up at the end of a catch block, which libstdc++ reaches through libgcc's _Unwind_DeleteException.
 * The edge is exact: it is published before the count goes down, and acquired once the count shows that ours
 * is the last reference, which the library then drops.
 *
 * The layout is that of libstdc++'s ABI (unwind-cxx.h there): the count is at a fixed distance before the
 * object, the unwinder's header right before it. A dependent exception, which rethrow_exception makes, begins
 * with the address of the object it stands for. Exceptions of other libraries are left alone.
 */
#include <unwind.h>

#include "runtime/intercept/intercept.h"

enum {
    COUNT_BEFORE_OBJECT = 128,
    START_BEFORE_HEADER = 80 /* of a dependent exception */
};

static const u64 CLASS_GNU = 0x474e5543432b2b00; /* "GNUCC++" and a zero; a one if it is dependent */

struct exception_ptr {
    void *object;
};

static int *count_of(void *object)
{
    return (int *)((char *)object - COUNT_BEFORE_OBJECT);
}

static void tell(void (*edge)(struct dh_thread *, const volatile void *), void *object, const void *pc)
{
    struct dh_scope sc;
    if (!dh_scope_begin(&sc, pc))
        return;
    edge(sc.t, object);
    dh_scope_end(&sc);
}

extern DH_HIDDEN void (*dh_real__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)(struct exception_ptr *);

/* The real function runs the destructor, which is program code: it is called with the runtime left. */
static void let_go(struct exception_ptr *p, const void *pc)
{
    int *count = count_of(p->object), n = __atomic_load_n(count, __ATOMIC_RELAXED);
    tell(dh_order_release, p->object, pc);
    while (n > 1) {
        if (__atomic_compare_exchange_n(count, &n, n - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
    tell(dh_order_acquire, p->object, pc);
    dh_real__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(p);
}

DH_INTERCEPTOR(void, _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv, struct exception_ptr *p)
{
    DH_RESOLVE(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv);
    if (p->object)
        let_go(p, __builtin_return_address(0));
}
DH_INTERCEPTOR_WRAPS(_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv);

/* NULL: not one of libstdc++'s, or one of a libstdc++ that we cannot reach. */
static void *object_of(struct _Unwind_Exception *e)
{
    if (!dh_real__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv)
        return NULL;
    if (e->exception_class == CLASS_GNU)
        return e + 1;
    if (e->exception_class == CLASS_GNU + 1)
        return *(void **)((char *)e - START_BEFORE_HEADER);
    return NULL;
}

/* All that libgcc's does, but with a reference of our own, so that the library's clean-up never drops the
 * last one behind our back. */
DH_INTERCEPTOR(void, _Unwind_DeleteException, struct _Unwind_Exception *e)
{
    struct exception_ptr held = {object_of(e)};
    if (held.object)
        __atomic_fetch_add(count_of(held.object), 1, __ATOMIC_RELAXED);
    if (e->exception_cleanup)
        e->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, e);
    if (held.object)
        let_go(&held, __builtin_return_address(0));
}
DH_INTERCEPTOR_WRAPS(_Unwind_DeleteException);
