/*
 * excess.c - see excess.h.
 *
 * Usually the command clears what it has armed. On a busy machine it may get no processor for a second, and
 * meanwhile every thread of the program that comes to a hot breakpoint traps again and again. So there is a
 * moment by which the command must have acted, and a number of traps that may come after it; the thread that
 * makes the last of these restores the code. The command learns of that from a counter.
 *
 * This takes system calls that a filter may punish with death (open, pread, pwrite). Those that were
 * installed before the library began have let it open the same file; after that the program installs one
 * through functions of libc that the library replaces (syscall.c), and from then on nothing is restored. The
 * command abandons such a program when it notices.
 */
#include "field/excess.h"

#include "base/sys.h"
#include "field/agent.h"
#include "field/track.h"

static bool is_last(struct dh_control *c)
{
    const u32 spare = __atomic_load_n(&c->spare, __ATOMIC_RELAXED);
    if (!spare || dh_sys_now_us() < __atomic_load_n(&c->due_us, __ATOMIC_ACQUIRE))
        return false;
    const u32 n = __atomic_add_fetch(&c->overdue, 1, __ATOMIC_RELAXED);
    return n % spare ==
           0; /* and not only once: it may not have been possible, or the command has armed more */
}

/* One thread at a time. An access that is being tracked is lost before the first breakpoint is. */
void dh_field_excess_count(struct dh_control *c)
{
    if (!is_last(c))
        return;
    u32 before = __atomic_load_n(&c->cleared, __ATOMIC_RELAXED);
    if (before & 1 || !__atomic_compare_exchange_n(&c->cleared, &before, before + 1, false, __ATOMIC_SEQ_CST,
                                                   __ATOMIC_RELAXED))
        return;
    if (!__atomic_load_n(&c->restricted, __ATOMIC_SEQ_CST)) {
        dh_field_track_lose();
        dh_field_restore();
    }
    __atomic_store_n(&c->cleared, before + 2, __ATOMIC_RELEASE);
}

/* A thread that is restoring the code finishes first. */
void dh_field_excess_restrict(void)
{
    struct dh_control *c = __atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE);
    if (!c || !dh_field_is_original())
        return;
    __atomic_store_n(&c->restricted, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&c->cleared, __ATOMIC_SEQ_CST) & 1)
        dh_sys_yield();
}
