/*
 * cxx.c - what the library of C++ does for threads where nobody looks, for track.h.
 *
 * The linker is told to lead calls of these functions here (src/cli/cmd_cc.c): a static libstdc++ would leave
 * out its own for one of the same name.
 */
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
