/*
 * exclusive.c - see exclusive.h.
 */
#include "runtime/shadow/exclusive.h"

#include <string.h>

#include "base/sys.h"
#include "runtime/init.h"

struct dh_exclusive_work dh_exclusive[DH_READ_CLASSES];
static bool ended; /* set once, atomic */

void dh_exclusive_revoke(u32 *p, u32 was, u32 mark)
{
    u32 owners = (was & DH_TOUCHED_PLANES & ~mark) >> DH_READ_CLASSES;
    if (!owners || (was & DH_TOUCHED_SHARED) || __atomic_load_n(&ended, __ATOMIC_RELAXED))
        return;
    /* A third class that comes before this is done does it again. */
    if (!dh_sys_membarrier()) {
        /* membarrier was forbidden after start-up, by a seccomp filter. No thread begins anew, and those seen
         * to have begun are waited for; only stores still in a store buffer are left to chance. */
        dh_runtime_lose_membarrier();
        dh_exclusive_end_all();
    }
    for (; owners; owners &= owners - 1)
        while (dh_exclusive[__builtin_ctz(owners)].busy)
            dh_sys_yield();
    __atomic_fetch_or(p, DH_TOUCHED_SHARED, __ATOMIC_SEQ_CST);
}

void dh_exclusive_end_all(void)
{
    __atomic_store_n(&ended, true, __ATOMIC_SEQ_CST);
}

void dh_exclusive_fork_child(void)
{
    memset(dh_exclusive, 0, sizeof(dh_exclusive));
}
