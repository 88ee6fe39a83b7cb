/*
 * lock.c - see lock.h.
 */
#include "base/lock.h"

#include "base/sys.h"

/* One bit per rank this thread holds. Owner only. */
static _Thread_local u32 ranks_held __attribute__((tls_model("initial-exec")));

enum { PATIENCE = 64 }; /* pauses before yielding */

/* A kernel thread is identified by the address of its thread-local variables: they are at the same place in a
 * forked child, and no system call is needed. */
#ifdef DH_CHECKED
static void set_owner(struct dh_lock *l, const void *owner)
{
    __atomic_store_n(&l->owner, owner, __ATOMIC_RELAXED);
}

bool dh_lock_is_mine(const struct dh_lock *l)
{
    return __atomic_load_n(&l->owner, __ATOMIC_RELAXED) == &ranks_held;
}
#else
static void set_owner(const struct dh_lock *l, const void *owner)
{
    (void)l;
    (void)owner;
}

bool dh_lock_is_mine(const struct dh_lock *l)
{
    return __atomic_load_n(&l->held, __ATOMIC_RELAXED) != 0;
}
#endif

/*
 * A thread that takes and drops a lock in a tight loop (the program spins on an atomic) could starve another
 * one, since the lock is free for far less time than a yield takes. So a thread that has waited long sets a
 * flag, and those who come later back off once.
 */
static void spin(struct dh_lock *l)
{
    u32 spins = 0;
    if (DH_UNLIKELY(__atomic_load_n(&l->starved, __ATOMIC_RELAXED) != 0))
        dh_sys_yield();
    while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE) != 0) {
        while (__atomic_load_n(&l->held, __ATOMIC_RELAXED) != 0) {
            if (++spins < PATIENCE) {
                __builtin_ia32_pause();
            } else {
                __atomic_store_n(&l->starved, 1, __ATOMIC_RELAXED);
                dh_sys_yield();
            }
        }
    }
    if (spins >= PATIENCE) /* others still waiting will set it again */
        __atomic_store_n(&l->starved, 0, __ATOMIC_RELAXED);
    set_owner(l, &ranks_held);
}

void dh_lock_take(struct dh_lock *l)
{
    DH_ASSERT(l->rank >= DH_RANK_COLLECT && l->rank <= DH_RANK_POOL);
    DH_CHECK((ranks_held >> l->rank) == 0);
    spin(l);
    ranks_held |= 1u << l->rank;
}

bool dh_lock_try(struct dh_lock *l)
{
    DH_CHECK((ranks_held >> l->rank) == 0);
    if (__atomic_load_n(&l->held, __ATOMIC_RELAXED) || __atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
        return false;
    set_owner(l, &ranks_held);
    ranks_held |= 1u << l->rank;
    return true;
}

void dh_lock_drop(struct dh_lock *l)
{
    DH_ASSERT(dh_lock_is_mine(l) && (ranks_held >> l->rank & 1));
    set_owner(l, NULL);
    ranks_held &= ~(1u << l->rank);
    __atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

void dh_lock_fork_take(struct dh_lock *l)
{
    spin(l);
}

void dh_lock_fork_drop(struct dh_lock *l)
{
    DH_ASSERT(dh_lock_is_mine(l));
    set_owner(l, NULL);
    __atomic_store_n(&l->starved, 0, __ATOMIC_RELAXED); /* the child has no others */
    __atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}
