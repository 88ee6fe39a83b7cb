/*
 * compat/java.c - ThreadSanitizer's interface for Java virtual machines (tsan_interface_java.h).
 *
 * The VM reports where its heap is, which blocks are in it, and how the collector moves them; and its
 * monitors and volatile fields by address. All of it maps directly to lard.h.
 *
 * __tsan_java_find asks which blocks there are, so they are kept: for each 8 bytes of the heap, which is how
 * blocks are aligned, the length in such units of the block that starts there, or 0. That is an eighth of the
 * memory in use at most, and none for parts of the heap without blocks. A collector that moves blocks has
 * stopped the world; otherwise the VM ensures that no other thread uses the block.
 */
#include <string.h>

#include "base/sys.h"
#include "runtime/compat/compat.h"
#include "runtime/engine/pending.h"
#include "runtime/threads/sync.h"

#define DH_LARD 2
#include "deadheat/lard.h"

typedef unsigned long jptr;

enum { UNIT = 8 };

static jptr heap_begin, heap_end;
static u32 *lengths;

static u32 *length_at(jptr p)
{
    return lengths + (p - heap_begin) / UNIT;
}

static bool in_heap(jptr p, jptr n)
{
    return lengths && p >= heap_begin && p <= heap_end && n <= heap_end - p;
}

/* ---- The heap ---- */

DH_COMPAT void __tsan_java_init(jptr begin, jptr size)
{
    heap_begin = begin;
    heap_end = begin + size;
    lengths = dh_sys_map(size / UNIT * sizeof(u32));
    if (__dh_hot.self) /* __tsan_java_finalize takes in what other threads have done, without their help */
        dh_pending_end(__dh_hot.self);
    dh_region_map((void *)begin, size);
}

/* The status to exit with. */
DH_COMPAT int __tsan_java_fini(void)
{
    return dh_runtime_exit_status(0);
}

static void forget_blocks(jptr p, jptr n)
{
    if (in_heap(p, n))
        memset(length_at(p), 0, n / UNIT * sizeof(u32));
}

DH_COMPAT void __tsan_java_alloc(jptr p, jptr n)
{
    dh_lard_clear((void *)p, n);
    if (!in_heap(p, n))
        return;
    forget_blocks(p, n);
    *length_at(p) = (u32)(n / UNIT);
}

DH_COMPAT void __tsan_java_free(jptr p, jptr n)
{
    forget_blocks(p, n);
    dh_lard_clear((void *)p, n);
}

DH_COMPAT void __tsan_java_move(jptr src, jptr dst, jptr n)
{
    dh_lard_move((void *)dst, (void *)src, n);
    if (!in_heap(src, n) || !in_heap(dst, n))
        return;
    memmove(length_at(dst), length_at(src), n / UNIT * sizeof(u32));
    if (src < dst)
        forget_blocks(src, n < dst - src ? n : dst - src);
    else if (src > dst)
        forget_blocks(src + n - (n < src - dst ? n : src - dst), n < src - dst ? n : src - dst);
}

/* The first block in [*from, to): its size, and where it is. 0: none. */
DH_COMPAT jptr __tsan_java_find(jptr *from, jptr to)
{
    if (!lengths || *from < heap_begin || to > heap_end || *from >= to)
        return 0;
    const u32 *first = length_at(*from);
    size_t n = (to - *from) / UNIT, i = 0;
    while (i < n && !first[i])
        i++;
    if (i == n)
        return 0;
    *from += i * UNIT;
    return (jptr)first[i] * UNIT;
}

/*
 * A finaliser is about to run: everything done to the object happens before it, since the object is
 * unreachable. This is implemented by ordering all that every thread has done so far before it. What a
 * running thread does next, up to its next release, cannot be distinguished, and counts as done before.
 * Recordings and the laboratory do not see this call.
 */
DH_COMPAT void __tsan_java_finalize(void)
{
    DH_COMPAT_ENTER();
    dh_lock_take(&dh_threads_lock);
    for (struct dh_thread *u = dh_threads; u; u = u->next) {
        if (u->state == DH_THREAD_FINISHED)
            dh_thread_acquire(sc.t, &u->death);
        else if (u != sc.t && u->state == DH_THREAD_RUNNING)
            dh_thread_write_clock(sc.t, u->slot, dh_thread_read_clock(u, u->slot));
    }
    dh_lock_drop(&dh_threads_lock);
    dh_scope_end(&sc);
}

/* ---- Monitors, volatile fields ---- */

static void lock(jptr addr, u32 flags, int levels, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return;
    while (levels-- > 0)
        dh_order_lock(sc.t, (void *)addr, flags);
    dh_scope_end(&sc);
}

static int unlock(jptr addr, bool all, const void *pc)
{
    DH_SCOPE(sc);
    if (!dh_scope_begin(&sc, pc))
        return 0;
    u32 levels = dh_order_unlock(sc.t, (void *)addr, all);
    dh_scope_end(&sc);
    return (int)levels;
}

DH_COMPAT void __tsan_java_mutex_lock(jptr addr)
{
    lock(addr, DH_LOCK_RECURSIVE, 1, __builtin_return_address(0));
}

DH_COMPAT void __tsan_java_mutex_unlock(jptr addr)
{
    unlock(addr, false, __builtin_return_address(0));
}

DH_COMPAT void __tsan_java_mutex_read_lock(jptr addr)
{
    lock(addr, DH_LOCK_READ, 1, __builtin_return_address(0));
}

DH_COMPAT void __tsan_java_mutex_read_unlock(jptr addr)
{
    unlock(addr, false, __builtin_return_address(0));
}

/* Around Object.wait: all levels at once. */
DH_COMPAT void __tsan_java_mutex_lock_rec(jptr addr, int levels)
{
    lock(addr, DH_LOCK_RECURSIVE, levels, __builtin_return_address(0));
}

DH_COMPAT int __tsan_java_mutex_unlock_rec(jptr addr)
{
    return unlock(addr, true, __builtin_return_address(0));
}

DH_COMPAT void __tsan_java_acquire(jptr addr)
{
    dh_lard_acquire((void *)addr);
}

DH_COMPAT void __tsan_java_release(jptr addr)
{
    dh_lard_release((void *)addr);
}

DH_COMPAT void __tsan_java_release_store(jptr addr)
{
    dh_lard_release_store((void *)addr);
}
