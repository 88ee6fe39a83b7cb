/*
 * lard.c - implements include/deadheat/lard.h, which documents each function ("Low-Level Detection of
 * Language-Level Data Races with LARD", sections 3 and 4; docs/design/lard.md).
 *
 * These calls count in whatever regions the thread is: they are statements to deadheat, not actions of the
 * language runtime. So each suspends the regions while it works.
 */
#define DH_LARD 2
#include "deadheat/lard.h"

#include <errno.h>

#include "runtime/abi/frame.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/pending.h"
#include "runtime/init.h"
#include "runtime/shadow/region.h"
#include "runtime/shadow/touched.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/alone.h"
#include "runtime/threads/held.h"
#include "runtime/threads/identity.h"
#include "runtime/threads/lately.h"
#include "runtime/threads/sync.h"

/* The header says so too; the rest of the runtime is hidden. */
#pragma GCC visibility push(default)

DH_HIDDEN bool dh_system_kept;

/* Inside the runtime, with the regions suspended. */
struct said {
    struct dh_thread *t; /* NULL: not to be heard */
    struct dh_regions regions;
};

static struct said begin(void)
{
    struct dh_thread *t = __dh_hot.self;
    struct said s = {0};
    if (!t || dh_runtime_off || !dh_thread_enter_any(t))
        return s;
    s.t = t;
    s.regions = dh_regions_of(t);
    dh_regions_set(t, (struct dh_regions){0});
    t->language = true;
    return s;
}

/* What the runtime itself does leaves errno alone; a signal that waited until now may not. */
static DH_COLD DH_NOINLINE void leave_slowly(struct dh_thread *t)
{
    int error = errno;
    dh_thread_leave_slow(t);
    errno = error;
}

DH_INLINE void leave(struct dh_thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->in_rt = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (DH_UNLIKELY(t->sig.pending || t->want_collect || t->want_raise))
        leave_slowly(t);
}

static void end(const struct said *s)
{
    struct dh_thread *t = __dh_hot.self; /* which may have become another one */
    if (!s->t)
        return;
    dh_regions_set(t, s->regions);
    t->language = false;
    leave(t);
}

/* ---- Accesses ---- */

/* Did this thread make such an access in this epoch? For a few aligned words: what the inlined check does. */
DH_INLINE bool hits(uptr addr, size_t n, enum dh_plane plane)
{
    if (n == 0 || n > 8 || (addr & 7) + n > 8)
        return false;
    u32 d = dh_cell_distance(dh_cell_load(dh_shadow(addr, plane)), __dh_hot.base);
    if ((addr & 3) + n > 4)
        d |= dh_cell_distance(dh_cell_load(dh_shadow(addr + n - 1, plane)), __dh_hot.base);
    return d < __dh_hot.span;
}

/* May the cells of a few aligned words, which did not hit, still contain such an access? Not if they hold one
 * access of an earlier epoch, or none, as they nearly always do. */
DH_INLINE bool may_hold_it(uptr addr, size_t n, enum dh_plane plane)
{
    return !dh_cell_is_simple(dh_cell_load(dh_shadow(addr, plane))) ||
           !dh_cell_is_simple(dh_cell_load(dh_shadow(addr + n - 1, plane))) || (addr & 7) + n > 8;
}

static void report_access(const volatile void *p, size_t n, u32 kind, const void *pc)
{
    struct said s = begin();
    struct dh_access_now a = {.t = s.t, .addr = (uptr)p, .size = n, .kind = kind};
    enum dh_plane plane = kind == DH_WRITE ? DH_PLANE_WRITE : DH_PLANE_READ;
    if (s.t && (dh_sink_wants_all() || s.t->unsampled || n == 0 || n > 8))
        dh_sink_access_at(s.t, p, n, kind, pc);
    else if (s.t && !(may_hold_it(a.addr, n, plane) && dh_engine_same_epoch(s.t, a.addr, n, kind)))
        dh_engine_access(&a, pc);
    end(&s);
}

void dh_lard_read(const volatile void *p, size_t n, const void *site)
{
    if (!hits((uptr)p, n, DH_PLANE_READ))
        report_access(p, n, DH_READ, site ? site : __builtin_return_address(0));
}

void dh_lard_write(const volatile void *p, size_t n, const void *site)
{
    if (!hits((uptr)p, n, DH_PLANE_WRITE))
        report_access(p, n, DH_WRITE, site ? site : __builtin_return_address(0));
}

/* ---- Regions: of the kernel thread, whichever thread it is ---- */

static void count(u32 *depth, bool begins)
{
    if (begins)
        ++*depth;
    else if (*depth)
        --*depth;
}

void dh_lard_untracked_begin(void)
{
    struct dh_thread *t = __dh_hot.self;
    if (t)
        count(dh_system_kept ? &t->system_access : &t->untracked, true);
}

void dh_lard_untracked_end(void)
{
    struct dh_thread *t = __dh_hot.self;
    if (!t)
        return;
    count(dh_system_kept ? &t->system_access : &t->untracked, false);
    if (!t->untracked)
        dh_identity_tracked();
}

void dh_lard_unordered_begin(void)
{
    struct dh_thread *t = __dh_hot.self;
    if (!t)
        return;
    dh_alone_never(t);
    count(dh_system_kept ? &t->system_order : &t->unordered, true);
}

void dh_lard_unordered_end(void)
{
    struct dh_thread *t = __dh_hot.self;
    if (t)
        count(dh_system_kept ? &t->system_order : &t->unordered, false);
}

void dh_lard_system_begin(void)
{
    dh_lard_untracked_begin();
    dh_lard_unordered_begin();
}

void dh_lard_system_end(void)
{
    dh_lard_unordered_end();
    dh_lard_untracked_end();
}

/* ---- Synchronisation on addresses ---- */

/* The following is first tried without suspending the regions: if there is nothing to acquire or publish,
 * they do not matter. */

/* The fast paths below call nothing, so they save no registers. */
DH_INLINE bool enter_quickly(struct dh_thread *t)
{
    if (DH_UNLIKELY(!t || t->in_rt || t->gen != dh_collect_gen))
        return false;
    t->in_rt = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static DH_NOINLINE void acquire_slowly(const volatile void *object)
{
    struct said s = begin();
    if (s.t)
        dh_order_acquire(s.t, object);
    end(&s);
}

void dh_lard_acquire(const volatile void *object)
{
    struct dh_thread *t = __dh_hot.self;
    bool done = false;
    if (enter_quickly(t)) {
        done = dh_lately_known(dh_lately(t, (uptr)object), (uptr)object);
        leave(t);
    }
    if (!done)
        acquire_slowly(object);
}

void dh_lard_release(const volatile void *object)
{
    struct said s = begin();
    if (s.t)
        dh_order_release(s.t, object);
    end(&s);
}

void dh_lard_release_store(const volatile void *object)
{
    struct said s = begin();
    if (s.t)
        dh_order_release_store(s.t, object);
    end(&s);
}

/* t, which holds no lock, takes a recently used one exclusively, with nothing to acquire. False: another
 * case, and nothing was done. */
DH_INLINE bool lock_again(struct dh_thread *t, uptr lock, const void *pc)
{
    const struct dh_frame *top = __dh_hot.sp - 1;
    if (t->locks.n || !dh_lately_known(dh_lately(t, lock), lock) || !dh_held_noted(t, lock) ||
        __dh_hot.sp >= __dh_hot.limit || (top >= t->frames && dh_ctx_is_none(dh_ctx_of_frame(top))))
        return false;
    t->held[0] = (struct dh_held){.lock = lock,
                                  .pc = pc,
                                  .ctx = top >= t->frames ? dh_ctx_of_frame(top) : DH_CTX_NONE,
                                  .levels = 1,
                                  .flags = DH_LOCK_LANGUAGE};
    t->locks.n = 1;
    t->locks.gen++;
    t->stamp++;
    return true;
}

/* t releases its only lock, with nothing to publish. False: likewise. */
DH_INLINE bool unlock_quietly(struct dh_thread *t, uptr lock)
{
    const struct dh_held *h = &t->held[0];
    if (t->locks.n != 1 || h->lock != lock || h->levels > 1 || h->flags != DH_LOCK_LANGUAGE ||
        !dh_lately_said(t, dh_lately(t, lock), lock))
        return false;
    t->locks.n = 0;
    t->locks.gen++;
    t->stamp++;
    return true;
}

static DH_NOINLINE void lock_slowly(const volatile void *lock, int mode, const void *pc)
{
    struct said s = begin();
    if (s.t) {
        struct dh_frame *f = dh_frame_push(pc);
        dh_order_lock(s.t, lock, DH_LOCK_LANGUAGE | (mode == DH_LARD_SHARED ? DH_LOCK_READ : 0));
        dh_frame_pop(f);
    }
    end(&s);
}

static DH_NOINLINE void unlock_slowly(const volatile void *lock)
{
    struct said s = begin();
    if (s.t)
        dh_order_unlock(s.t, lock, false);
    end(&s);
}

void dh_lard_lock(const volatile void *lock, int mode)
{
    struct dh_thread *t = __dh_hot.self;
    bool done = false;
    if (mode == DH_LARD_EXCLUSIVE && enter_quickly(t)) {
        done = lock_again(t, (uptr)lock, __builtin_return_address(0));
        leave(t);
    }
    if (!done)
        lock_slowly(lock, mode, __builtin_return_address(0));
}

void dh_lard_unlock(const volatile void *lock)
{
    struct dh_thread *t = __dh_hot.self;
    bool done = false;
    if (enter_quickly(t)) {
        done = unlock_quietly(t, (uptr)lock);
        leave(t);
    }
    if (!done)
        unlock_slowly(lock);
}

/* ---- The current thread's clock ---- */

static uint64_t read_clock(struct dh_thread *t, dh_slot_t slot)
{
    dh_pending_settle(t); /* others will be ordered by what it reads */
    return dh_sink_read_clock(t, slot);
}

uint64_t dh_lard_read_vc(uint32_t index)
{
    struct said s = begin();
    uint64_t time = s.t ? read_clock(s.t, dh_slot_from(index)) : 0;
    end(&s);
    return time;
}

size_t dh_lard_read_vcs(uint64_t *times, size_t n)
{
    struct said s = begin();
    size_t all = s.t ? s.t->vc.n : 0;
    for (size_t i = 0; i < n && i < all; i++)
        times[i] = read_clock(s.t, dh_slot_from((u32)i));
    end(&s);
    return all;
}

void dh_lard_write_vc(uint32_t index, uint64_t time)
{
    struct said s = begin();
    if (s.t)
        dh_sink_write_clock(s.t, dh_slot_from(index), time);
    end(&s);
}

void dh_lard_write_vcs(const uint64_t *times, size_t n)
{
    struct said s = begin();
    for (size_t i = n; s.t && i-- > 0;) /* from the last on: the clock grows at once */
        dh_sink_write_clock(s.t, dh_slot_from((u32)i), times[i]);
    end(&s);
}

void dh_lard_advance(void)
{
    struct said s = begin();
    if (s.t)
        dh_thread_end_epoch(s.t);
    end(&s);
}

/* ---- Memory ---- */

/* Is there nothing to clear in [lo, lo + n), neither histories nor synchronisation? That is so before
 * accesses are checked, and for most objects, and then nothing needs to be done. */
static bool is_bare(uptr lo, size_t n)
{
    return !dh_sink_wants_all() && !dh_touched_any(lo, n) && !dh_sync_maybe(lo, n);
}

/* The part of [a, a + n) outside [b, b + n). */
static uptr without(uptr a, uptr b, size_t *n)
{
    uptr lo = a;
    if (a < b && a + *n > b)
        *n = b - a;
    else if (b <= a && b + *n > a) {
        lo = b + *n;
        *n = a - b;
    }
    return lo;
}

void dh_lard_clear(const volatile void *p, size_t n)
{
    if (is_bare((uptr)p, n))
        return;
    struct said s = begin();
    if (s.t && n) {
        dh_sink_clear_object(s.t, (uptr)p, n);
        dh_sink_forget(p, n);
    }
    end(&s);
}

void dh_lard_copy(volatile void *dst, const volatile void *src, size_t n)
{
    struct said s = begin();
    if (s.t && n && dst != src) {
        size_t rest = n;
        uptr lo = without((uptr)dst, (uptr)src, &rest);
        dh_sink_copy_object(s.t, (uptr)dst, (uptr)src, n);
        dh_sink_forget((void *)lo, rest);
    }
    end(&s);
}

/* Held locks move with their objects. As with any access to the memory, the threads concerned do nothing
 * meanwhile. */
static void move_held(uptr dst, uptr src, size_t n)
{
    dh_lock_take(&dh_threads_lock);
    for (struct dh_thread *t = dh_threads; t; t = t->next) {
        for (u32 i = 0; i < t->locks.n; i++) {
            struct dh_held *h = &t->held[i];
            if (h->lock - src >= n || !(h->flags & DH_LOCK_LANGUAGE))
                continue;
            dh_held_move(h, h->lock + (dst - src));
            t->locks.gen++;
            t->stamp++;
        }
    }
    dh_lock_drop(&dh_threads_lock);
}

void dh_lard_move(volatile void *dst, const volatile void *src, size_t n)
{
    if (is_bare((uptr)src, n) && is_bare((uptr)dst, n) && !dh_held_maybe((uptr)src, n))
        return;
    struct said s = begin();
    if (s.t && n && dst != src) {
        size_t rest = n;
        uptr lo = without((uptr)src, (uptr)dst, &rest);
        dh_sink_move_object(s.t, (uptr)dst, (uptr)src, n, lo, rest);
        dh_sync_move(dst, src, n);
        if (dh_held_maybe((uptr)src, n))
            move_held((uptr)dst, (uptr)src, n);
    }
    end(&s);
}

/* ---- Threads ---- */

/* Where the frame of the caller of this function ends: frame pointers are kept throughout the runtime. */
#define FRAME_END ((uptr)__builtin_frame_address(0) + 2 * sizeof(uptr))

DH_INLINE struct dh_thread *inner(const dh_lard_thread *t)
{
    return (struct dh_thread *)t;
}

dh_lard_thread *dh_lard_thread_new(const char *name)
{
    struct said s = begin();
    struct dh_thread *t = NULL;
    if (s.t) {
        struct dh_frame *f = dh_frame_push(__builtin_return_address(0));
        t = dh_thread_new_carried(s.t);
        dh_frame_pop(f);
    }
    if (t && name)
        dh_thread_set_name(t, name);
    end(&s);
    return (dh_lard_thread *)t;
}

dh_lard_thread *dh_lard_thread_self(void)
{
    return (dh_lard_thread *)__dh_hot.self;
}

/* With the regions as they are, since they go along. */
static void become(struct dh_thread *to, uptr frame_end)
{
    struct dh_thread *from = __dh_hot.self;
    if (!from || from == to || dh_runtime_off || !dh_thread_enter_any(from))
        return;
    dh_identity_switch(to, frame_end);
    leave(to);
}

void dh_lard_thread_switch(dh_lard_thread *t)
{
    if (!dh_identity_take_turn(inner(t)))
        become(t ? inner(t) : dh_identity_native(), FRAME_END);
}

void dh_lard_thread_end(dh_lard_thread *t)
{
    if (t && inner(t) == __dh_hot.self && inner(t)->carried)
        become(dh_identity_native(), FRAME_END);
    struct said s = begin();
    if (s.t && t && inner(t) != s.t && inner(t)->carried && inner(t)->state == DH_THREAD_RUNNING)
        dh_thread_end_carried(inner(t));
    end(&s);
}

void dh_lard_thread_join(dh_lard_thread *t)
{
    struct said s = begin();
    if (s.t && t && inner(t) != s.t && inner(t)->carried) {
        if (inner(t)->state == DH_THREAD_RUNNING)
            dh_thread_end_carried(inner(t));
        dh_thread_join(s.t, inner(t));
    }
    end(&s);
}

void dh_lard_thread_detach(dh_lard_thread *t)
{
    struct said s = begin();
    if (s.t && t && inner(t)->carried)
        dh_thread_detach(inner(t));
    end(&s);
}

uint32_t dh_lard_thread_index(const dh_lard_thread *t)
{
    return t ? dh_slot_raw(inner(t)->slot) : 0;
}

#pragma GCC visibility pop
