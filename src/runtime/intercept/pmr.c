/*
 * intercept/pmr.c - std::pmr::set_default_resource and get_default_resource.
 *
 * libstdc++ keeps the default resource in an atomic of its own, which we do not see. The C++ standard: a call
 * that sets the resource synchronises with later calls that set or get it. Edge: every set before every
 * later set and get.
 */
#include "runtime/intercept/intercept.h"

static char resource; /* stands for the library's atomic */

DH_INTERCEPTOR(void *, _ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE, void *r)
{
    DH_ENTER(_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE, r);
    dh_order_release(sc.t, &resource);
    void *old = REAL(_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE)(r);
    dh_order_acquire(sc.t, &resource);
    DH_RETURN(old);
}
DH_INTERCEPTOR_WRAPS(_ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE);

DH_INTERCEPTOR(void *, _ZNSt3pmr20get_default_resourceEv, void)
{
    DH_ENTER(_ZNSt3pmr20get_default_resourceEv);
    void *r = REAL(_ZNSt3pmr20get_default_resourceEv)();
    dh_order_acquire(sc.t, &resource);
    DH_RETURN(r);
}
DH_INTERCEPTOR_WRAPS(_ZNSt3pmr20get_default_resourceEv);
