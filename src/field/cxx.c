/*
 * cxx.c - what the library of C++ does for threads where nobody looks, for track.h.
 *
 * The linker is told to lead calls of these functions here (src/cli/cmd_cc.c): a static libstdc++ would leave
 * out its own for one of the same name.
 */
#include <unwind.h>

#include "field/track.h"

/* ---- Guards ---- */

/* What compiled code reads before it calls these is an atomic of the program. */
int __real___cxa_guard_acquire(void *guard) __attribute__((weak));
void __real___cxa_guard_release(void *guard) __attribute__((weak));
void __real___cxa_guard_abort(void *guard) __attribute__((weak));
DH_EXPORT int __wrap___cxa_guard_acquire(void *guard);
DH_EXPORT void __wrap___cxa_guard_release(void *guard);
DH_EXPORT void __wrap___cxa_guard_abort(void *guard);

int __wrap___cxa_guard_acquire(void *guard)
{
    int mine = __real___cxa_guard_acquire(guard);
    if (dh_field_tracks())
        dh_field_track_acquire(guard);
    return mine;
}

void __wrap___cxa_guard_release(void *guard)
{
    if (dh_field_tracks())
        dh_field_track_release(guard);
    __real___cxa_guard_release(guard);
}

void __wrap___cxa_guard_abort(void *guard)
{
    if (dh_field_tracks())
        dh_field_track_release(guard);
    __real___cxa_guard_abort(guard);
}

/* ---- Results at the end of a thread ---- */

/* std::promise::set_value_at_thread_exit and the like. libstdc++ itself stores that the result is there, when
 * the thread's destructors have run; who waits loads that by code of the program. _M_set enters a function in
 * a list of what is to be called then, and ours is put in its place. The layout is that of libstdc++'s ABI.
 */
struct state { /* what the future and the promise share, as far as it matters */
    void *vtable, *result;
    u32 status;
};
struct make_ready { /* an entry of the list, and a weak pointer to the state */
    struct make_ready *next;
    void (*call)(void *);
    struct state *state;
    void *counts;
};

void __real__ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct make_ready *m)
    __attribute__((weak));
DH_EXPORT void __wrap__ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct make_ready *m);

static void (*library_call)(void *); /* the same for all */

static void make_ready(void *p)
{
    const struct make_ready *m = p;
    if (dh_field_tracks())
        dh_field_track_release(&m->state->status);
    __atomic_load_n(&library_call, __ATOMIC_ACQUIRE)(p);
}

void __wrap__ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(struct make_ready *m)
{
    __real__ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(m);
    if (!__atomic_load_n(&dh_field_control, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&library_call, m->call, __ATOMIC_RELEASE);
    m->call = make_ready;
}

/* ---- Exceptions that several threads hold ---- */

/* Whoever lets go of one last destroys it, after all others have let go of it. They are counted inside
 * libstdc++, by whose ABI the count is at a fixed distance before the object. That somebody is the last is
 * not seen, so one of several that lets go ends the window. */
enum { COUNT_BEFORE_OBJECT = 128, START_BEFORE_HEADER = 80 /* of a dependent exception */ };

static const u64 CLASS_GNU = 0x474e5543432b2b00; /* "GNUCC++" and a zero; a one if it is dependent */

static void let_go(const void *object)
{
    const int *count = (const int *)((const char *)object - COUNT_BEFORE_OBJECT);
    if (__atomic_load_n(count, __ATOMIC_RELAXED) > 1)
        dh_field_track_give_up();
}

void __real__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **p) __attribute__((weak));
DH_EXPORT void __wrap__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **p);

void __wrap__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(void **p)
{
    if (dh_field_tracks() && *p)
        let_go(*p);
    __real__ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(p);
}

/* The end of a catch block comes here, from inside libstdc++: by the first name if that is a shared library.
 * This is all that libgcc's does. */
DH_EXPORT void __wrap__Unwind_DeleteException(struct _Unwind_Exception *e);
DH_EXPORT __attribute__((weak, alias("__wrap__Unwind_DeleteException"))) void
_Unwind_DeleteException(struct _Unwind_Exception *e);

void __wrap__Unwind_DeleteException(struct _Unwind_Exception *e)
{
    if (dh_field_tracks() && e->exception_class == CLASS_GNU)
        let_go(e + 1);
    if (dh_field_tracks() && e->exception_class == CLASS_GNU + 1)
        let_go(*(void **)((char *)e - START_BEFORE_HEADER));
    if (e->exception_cleanup)
        e->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, e);
}

/* ---- The default resource of std::pmr ---- */

/* It is in an atomic of libstdc++. */
static const char resource;

void *__real__ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE(void *r) __attribute__((weak));
void *__real__ZNSt3pmr20get_default_resourceEv(void) __attribute__((weak));
DH_EXPORT void *__wrap__ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE(void *r);
DH_EXPORT void *__wrap__ZNSt3pmr20get_default_resourceEv(void);

void *__wrap__ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE(void *r)
{
    if (dh_field_tracks())
        dh_field_track_release(&resource);
    void *old = __real__ZNSt3pmr20set_default_resourceEPNS_15memory_resourceE(r);
    if (dh_field_tracks())
        dh_field_track_acquire(&resource);
    return old;
}

void *__wrap__ZNSt3pmr20get_default_resourceEv(void)
{
    void *r = __real__ZNSt3pmr20get_default_resourceEv();
    if (dh_field_tracks())
        dh_field_track_acquire(&resource);
    return r;
}
