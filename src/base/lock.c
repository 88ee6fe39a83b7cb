/*
 * lock.c - see lock.h.
 */
#include "base/lock.h"

#include "base/sys.h"

/* One bit per rank this thread holds. Owner only. */
static _Thread_local u32 ranks_held __attribute__((tls_model("initial-exec")));

static void spin(struct dh_lock *l)
{
    for (u32 spins = 0; __atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE) != 0;) {
        while (__atomic_load_n(&l->held, __ATOMIC_RELAXED) != 0) {
            if (++spins < 64)
                __builtin_ia32_pause();
            else
                dh_sys_yield();
        }
    }
}

void dh_lock_take(struct dh_lock *l)
{
    DH_CHECK((ranks_held >> l->rank) == 0);
    spin(l);
    ranks_held |= 1u << l->rank;
}

void dh_lock_drop(struct dh_lock *l)
{
    ranks_held &= ~(1u << l->rank);
    __atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

void dh_lock_fork_take(struct dh_lock *l)
{
    spin(l);
}

void dh_lock_fork_drop(struct dh_lock *l)
{
    __atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}
