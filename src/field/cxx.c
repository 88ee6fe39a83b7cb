/*
 * cxx.c - synchronisation inside the C++ library that would otherwise be invisible, for track.h.
 *
 * All of it is called across modules, from the program and within a shared libstdc++. Programs that link that
 * library statically cannot be tracked (src/chase/built.c).
 */
#include <unwind.h>

#include "field/intercept.h"

/* ---- Guards ---- */

/* The byte that compiled code tests before it calls these is an atomic of the program. */
INTERCEPTOR(int, __cxa_guard_acquire, (void *guard))
{
    int mine = real___cxa_guard_acquire(guard);
    if (dh_field_tracks())
        dh_field_track_acquire(guard);
    return mine;
}

INTERCEPTOR(void, __cxa_guard_release, (void *guard))
{
    if (dh_field_tracks())
        dh_field_track_release(guard);
    real___cxa_guard_release(guard);
}

INTERCEPTOR(void, __cxa_guard_abort, (void *guard))
{
    if (dh_field_tracks())
        dh_field_track_release(guard);
    real___cxa_guard_abort(guard);
}

/* ---- Results at the end of a thread ---- */

/* std::promise::set_value_at_thread_exit and the like. libstdc++ itself stores that the result is ready,
 * after the thread's destructors have run; a waiter loads that in code of the program. _M_set adds a function
 * to a list of those to be called then, and ours replaces it. The layout is that of libstdc++'s ABI. */
struct state { /* shared by the future and the promise; only the relevant part */
    void *vtable, *result;
    u32 status;
};
struct make_ready { /* an entry of the list, and a weak pointer to the state */
    struct make_ready *next;
    void (*call)(void *);
    struct state *state;
    void *counts;
};

static void (*library_call)(void *); /* the same for all */

static void make_ready(void *p)
{
    const struct make_ready *m = p;
    if (dh_field_tracks())
        dh_field_track_release(&m->state->status);
    __atomic_load_n(&library_call, __ATOMIC_ACQUIRE)(p);
}

INTERCEPTOR(void, _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv, (struct make_ready * m))
{
    real__ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(m);
    __atomic_store_n(&library_call, m->call, __ATOMIC_RELEASE);
    m->call = make_ready;
}

/* ---- Exceptions that several threads hold ---- */

/* The last holder to release one destroys it, after all others have released it. The count is inside
 * libstdc++, whose ABI puts it at a fixed distance before the object. Which release is the last cannot be
 * seen, so a release by one of several holders ends the window. */
enum { COUNT_BEFORE_OBJECT = 128, START_BEFORE_HEADER = 80 /* of a dependent exception */ };

static const u64 CLASS_GNU = 0x474e5543432b2b00; /* "GNUCC++" and a zero; a one if it is dependent */

static void let_go(const void *object)
{
    const int *count = (const int *)((const char *)object - COUNT_BEFORE_OBJECT);
    if (__atomic_load_n(count, __ATOMIC_RELAXED) > 1)
        dh_field_track_give_up();
}

INTERCEPTOR(void, _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv, (void **p))
{
    if (dh_field_tracks() && *p)
        let_go(*p);
    real__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(p);
}

/* The end of a catch block comes here, from inside libstdc++. */
INTERCEPTOR(void, _Unwind_DeleteException, (struct _Unwind_Exception * e))
{
    if (dh_field_tracks() && e->exception_class == CLASS_GNU)
        let_go(e + 1);
    if (dh_field_tracks() && e->exception_class == CLASS_GNU + 1)
        let_go(*(void **)((char *)e - START_BEFORE_HEADER));
    real__Unwind_DeleteException(e);
}

/* ---- The default resource of std::pmr ---- */

/* It is stored in an atomic of libstdc++. */
static const char resource;

INTERCEPTOR(void *, _ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE, (void *r))
{
    if (dh_field_tracks())
        dh_field_track_release(&resource);
    void *old = real__ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE(r);
    if (dh_field_tracks())
        dh_field_track_acquire(&resource);
    return old;
}

INTERCEPTOR(void *, _ZNSt3pmr20get_default_resourceEv, (void))
{
    void *r = real__ZNSt3pmr20get_default_resourceEv();
    if (dh_field_tracks())
        dh_field_track_acquire(&resource);
    return r;
}
