/*
 * intercept/future.c - std::promise::set_value_at_thread_exit and
 * std::packaged_task::make_ready_at_thread_exit.
 *
 * The headers of libstdc++ make a result known by an atomic store that we see. A result that is to be known
 * at the end of the thread is stored by the library itself, when the destructors of thread-specific data run,
 * and that we do not see; who waits for it loads it by code that we do see. Edge: the end of the thread, up
 * to there, before every load that finds the result.
 *
 * _M_set enters the result in a list of what the thread has to do at its end. The function to be called
 * there is replaced by ours, which publishes where the loads will look. The layout is that of libstdc++'s
 * ABI.
 */
#include "runtime/intercept/intercept.h"

/* What the future and the promise share, as far as it matters. */
struct state {
    void *vtable, *result;
    u32 status;
};

/* _State_baseV2::_Make_ready: an entry of the list, and a weak pointer, which keeps the memory of the state.
 */
struct make_ready {
    struct make_ready *next;
    void (*call)(void *);
    struct state *state;
    void *counts;
};

static void (*library_call)(void *); /* the same for all */

static void call(void *p)
{
    struct dh_scope sc;
    if (dh_scope_begin(&sc, __builtin_return_address(0))) {
        dh_order_release(sc.t, &((struct make_ready *)p)->state->status);
        dh_scope_end(&sc);
    }
    __atomic_load_n(&library_call, __ATOMIC_ACQUIRE)(p);
}

DH_INTERCEPTOR(void, _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv, struct make_ready *m)
{
    DH_RESOLVE(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv);
    REAL(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv)(m);
    __atomic_store_n(&library_call, m->call, __ATOMIC_RELEASE);
    m->call = call;
}
DH_INTERCEPTOR_WRAPS(_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv);
