/*
 * lard.c - what run-time systems call: include/deadheat/lard.h, which says what each function means
 * ("Low-Level Detection of Language-Level Data Races with LARD", sections 3 and 4; docs/design/lard.md).
 *
 * What a function means counts whatever regions the thread is
 * in: it is said to deadheat, not done by the run-time system. So each sets the regions aside while it works.
 */
#define DH_LARD 1
#include "deadheat/lard.h"

#include <errno.h>

#include "runtime/engine.h"
#include "runtime/identity.h"
#include "runtime/init.h"
#include "runtime/sync.h"
#include "runtime/tap.h"

/* The header says so too; the rest of the runtime is hidden. */
#pragma GCC visibility push(default)

DH_HIDDEN bool dh_system_kept;

/* Inside the runtime, with the regions set aside. */
struct said {
    struct dh_thread *t; /* NULL: not to be heard */
    u32 untracked, unordered, system_access, system_order;
    int error;
};

/* The caller is on top of the shadow call stack until `unplace`, so that reports can say where it was. */
static struct dh_frame *place(const void *pc)
{
    struct dh_frame *f = __dh_hot.sp;
    if (DH_UNLIKELY(f >= __dh_hot.limit))
        f = __dh_enter_slow();
    f->pc = pc;
    f->ctx = 0;
    __dh_hot.sp = f + 1;
    return f;
}

static void unplace(struct dh_frame *f)
{
    __dh_hot.sp = f;
}

static struct said begin(void)
{
    struct dh_thread *t = __dh_hot.self;
    struct said s = {.error = errno};
    if (!t || dh_runtime_off || !dh_thread_enter_any(t))
        return s;
    s.t = t;
    s.untracked = t->untracked;
    s.unordered = t->unordered;
    s.system_access = t->system_access;
    s.system_order = t->system_order;
    t->untracked = t->unordered = t->system_access = t->system_order = 0;
    t->language = true;
    return s;
}

static void end(const struct said *s)
{
    struct dh_thread *t = __dh_hot.self; /* which may have become another one */
    if (s->t) {
        t->untracked = s->untracked;
        t->unordered = s->unordered;
        t->system_access = s->system_access;
        t->system_order = s->system_order;
        t->language = false;
        dh_thread_leave(t);
    }
    errno = s->error;
}

/* ---- Accesses ---- */

/* Did this thread make such an access in this epoch? For a few aligned words: what the inlined check does. */
DH_INLINE bool hits(uptr addr, size_t n, enum dh_plane plane)
{
    if (n == 0 || n > 8 || (addr & 7) + n > 8)
        return false;
    u32 d = __atomic_load_n(dh_shadow(addr, plane), __ATOMIC_RELAXED) - __dh_hot.base;
    if ((addr & 3) + n > 4)
        d |= __atomic_load_n(dh_shadow(addr + n - 1, plane), __ATOMIC_RELAXED) - __dh_hot.base;
    return d < __dh_hot.span;
}

static void report_access(const volatile void *p, size_t n, u32 kind, const void *pc)
{
    struct said s = begin();
    if (s.t)
        dh_range_access(s.t, p, n, kind, pc);
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
    if (t)
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

/* ---- Locks that are held, roughly, so that moving memory need not ask every thread ---- */

enum { HELD_SHIFT = 12, HELD_BLOCKS = 1024 };
static u32 held_in[HELD_BLOCKS]; /* by page, modulo so many; atomic */

static u32 *held_count(uptr lock)
{
    return &held_in[(lock >> HELD_SHIFT) % HELD_BLOCKS];
}

static bool may_be_held(uptr lo, size_t n)
{
    uptr first = lo >> HELD_SHIFT, last = (lo + n - 1) >> HELD_SHIFT;
    for (uptr page = first; page <= last && page < first + HELD_BLOCKS; page++)
        if (__atomic_load_n(held_count(page << HELD_SHIFT), __ATOMIC_RELAXED))
            return true;
    return false;
}

/* ---- Synchronisation on addresses ---- */

void dh_lard_acquire(const volatile void *object)
{
    struct said s = begin();
    if (s.t)
        dh_sync_acquire(s.t, object);
    end(&s);
}

void dh_lard_release(const volatile void *object)
{
    struct said s = begin();
    if (s.t)
        dh_sync_release(s.t, object);
    end(&s);
}

void dh_lard_release_store(const volatile void *object)
{
    struct said s = begin();
    if (s.t)
        dh_sync_release_store(s.t, object);
    end(&s);
}

void dh_lard_lock(const volatile void *lock, int mode)
{
    struct said s = begin();
    if (s.t) {
        struct dh_frame *f = place(__builtin_return_address(0));
        u32 before = s.t->held_n;
        dh_mutex_lock(s.t, lock, DH_LOCK_LANGUAGE | (mode == DH_LARD_SHARED ? DH_LOCK_READ : 0));
        if (s.t->held_n != before)
            __atomic_fetch_add(held_count((uptr)lock), 1, __ATOMIC_RELAXED);
        unplace(f);
    }
    end(&s);
}

void dh_lard_unlock(const volatile void *lock)
{
    struct said s = begin();
    if (s.t) {
        u32 before = s.t->held_n;
        dh_mutex_unlock(s.t, lock, false);
        if (s.t->held_n != before)
            __atomic_fetch_sub(held_count((uptr)lock), 1, __ATOMIC_RELAXED);
    }
    end(&s);
}

/* ---- The current thread's clock ---- */

/* To a tap an epoch of a thread is an object that is released when its time is read, and acquired by whoever
 * writes that time: it then knows all that the thread knew. */
static const void *epoch_object(u32 slot, u64 time)
{
    return (const void *)(1ull << 63 | (u64)slot << 32 | (u32)time);
}

static uint64_t read_clock(struct dh_thread *t, u32 slot)
{
    if (!dh_tap)
        return dh_thread_read_clock(t, slot);
    u32 time = dh_vclock_get(&t->vc, slot);
    if (slot == t->slot)
        dh_sync_release(t, epoch_object(slot, time));
    return time;
}

static void write_clock(struct dh_thread *t, u32 slot, u64 time)
{
    if (dh_tap && slot != t->slot && time > dh_vclock_get(&t->vc, slot))
        dh_sync_acquire(t, epoch_object(slot, time));
    dh_thread_write_clock(t, slot, time);
}

uint64_t dh_lard_read_vc(uint32_t index)
{
    struct said s = begin();
    uint64_t time = s.t ? read_clock(s.t, index) : 0;
    end(&s);
    return time;
}

size_t dh_lard_read_vcs(uint64_t *times, size_t n)
{
    struct said s = begin();
    size_t all = s.t ? s.t->vc.n : 0;
    for (size_t i = 0; i < n && i < all; i++)
        times[i] = read_clock(s.t, (u32)i);
    end(&s);
    return all;
}

void dh_lard_write_vc(uint32_t index, uint64_t time)
{
    struct said s = begin();
    if (s.t)
        write_clock(s.t, index, time);
    end(&s);
}

void dh_lard_write_vcs(const uint64_t *times, size_t n)
{
    struct said s = begin();
    for (size_t i = n; s.t && i-- > 0;) /* from the last on: the clock grows at once */
        write_clock(s.t, (u32)i, times[i]);
    end(&s);
}

void dh_lard_advance(void)
{
    struct said s = begin();
    if (s.t) {
        s.t->changed = s.t->changed || dh_tap; /* with a tap nobody counts what an epoch records */
        dh_thread_end_epoch(s.t);
    }
    end(&s);
}

/* ---- Memory ---- */

static void clear(struct dh_thread *t, uptr lo, size_t n)
{
    u32 slot = dh_range_announce(lo, lo + n);
    dh_engine_clear(t, (void *)lo, n);
    dh_range_retract(slot);
}

static void copy(struct dh_thread *t, uptr dst, uptr src, size_t n)
{
    if (dh_tap) {
        dh_tap->memory(t, DH_OP_RANGE_COPY, dst, n, src);
        return;
    }
    u32 slot = dh_range_announce(dst, dst + n);
    dh_engine_copy(t, (void *)dst, (void *)src, n);
    dh_range_retract(slot);
}

/* What of [a, a + n) is not in [b, b + n). */
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
    struct said s = begin();
    if (s.t && n) {
        clear(s.t, (uptr)p, n);
        dh_sync_forget(p, n);
    }
    end(&s);
}

void dh_lard_copy(volatile void *dst, const volatile void *src, size_t n)
{
    struct said s = begin();
    if (s.t && n && dst != src) {
        size_t rest = n;
        uptr lo = without((uptr)dst, (uptr)src, &rest);
        copy(s.t, (uptr)dst, (uptr)src, n);
        dh_sync_forget((void *)lo, rest);
    }
    end(&s);
}

/* Locks that somebody holds move with their objects. The threads concerned do nothing meanwhile, as with any
 * access to the memory. */
static void move_held(uptr dst, uptr src, size_t n)
{
    dh_lock_take(&dh_threads_lock);
    for (struct dh_thread *t = dh_threads; t; t = t->next) {
        for (u32 i = 0; i < t->held_n; i++) {
            struct dh_held *h = &t->held[i];
            if (h->lock - src >= n || !(h->flags & DH_LOCK_LANGUAGE))
                continue;
            __atomic_fetch_sub(held_count(h->lock), 1, __ATOMIC_RELAXED);
            h->lock += dst - src;
            __atomic_fetch_add(held_count(h->lock), 1, __ATOMIC_RELAXED);
            t->held_gen++;
            t->stamp++;
        }
    }
    dh_lock_drop(&dh_threads_lock);
}

void dh_lard_move(volatile void *dst, const volatile void *src, size_t n)
{
    struct said s = begin();
    if (s.t && n && dst != src) {
        size_t rest = n;
        uptr lo = without((uptr)src, (uptr)dst, &rest);
        if (dh_tap) {
            dh_tap->memory(s.t, DH_OP_RANGE_MOVE, (uptr)dst, n, (uptr)src);
        } else {
            copy(s.t, (uptr)dst, (uptr)src, n);
            clear(s.t, lo, rest);
        }
        dh_sync_move(dst, src, n);
        if (may_be_held((uptr)src, n))
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
        struct dh_frame *f = place(__builtin_return_address(0));
        t = dh_thread_new_carried(s.t);
        unplace(f);
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
    dh_thread_leave(to);
}

void dh_lard_thread_switch(dh_lard_thread *t)
{
    int error = errno;
    become(t ? inner(t) : dh_identity_native(), FRAME_END);
    errno = error;
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
    return t ? inner(t)->slot : 0;
}

#pragma GCC visibility pop
