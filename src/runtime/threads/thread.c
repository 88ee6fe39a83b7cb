/*
 * thread.c - creation, start, end and joining of logical threads; slots.
 *
 * Slots index vector clocks. A new thread may take over the slot of a finished one only if the end of the old
 * thread happens before the creation of the new: then "knows the new thread's clock" rightly implies "knows
 * all the old one did". Otherwise a fresh slot is taken; when 65535 are in use, the oldest finished one is
 * reused anyway, and LOST_SLOTS counts it.
 */
#include "runtime/threads/thread.h"

#include <pthread.h>
#include <string.h>

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/engine/exception.h"
#include "runtime/engine/pending.h"
#include "runtime/engine/rules.h"
#include "runtime/init.h"
#include "runtime/shadow/collect.h"
#include "runtime/shadow/heap.h"
#include "runtime/shadow/region.h"
#include "runtime/shadow/split.h"
#include "runtime/shadow/touched.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/alone.h"
#include "runtime/threads/context.h"
#include "runtime/threads/identity.h"
#include "runtime/threads/period.h"
#include "runtime/threads/plain.h"

#define UID_MAX ((1u << 21) - 1)
#define INFO_SHIFT 10
enum { FRAMES_DEFAULT = 64 << 10, FRAMES_LEAST = 8 << 10, STACK_MAPPED = 64 << 20 };

_Thread_local struct dh_hot __dh_hot = DH_HOT_NONE;
static _Thread_local struct dh_frame unattached[2] __attribute__((tls_model("initial-exec")));

struct dh_lock dh_threads_lock = DH_LOCK_INIT(DH_RANK_THREADS);
struct dh_thread *dh_threads;

/* All under dh_threads_lock. */
static struct dh_thread_info *infos[(UID_MAX >> INFO_SHIFT) + 1];
static u32 next_uid = 1;
static struct slot {
    u32 clock; /* of its last owner, at its end */
    bool used;
} slots[DH_SLOTS_MAX];
static u32 slots_high;
static size_t static_tls; /* bytes below the thread pointer */

dh_uid_t dh_thread_uid(const struct dh_thread *t)
{
    return t->uid;
}

u32 dh_thread_uids(void)
{
    return next_uid;
}

struct dh_thread_info *dh_thread_info(dh_uid_t uid)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    u32 n = dh_uid_raw(uid);
    struct dh_thread_info *chunk = n <= UID_MAX ? infos[n >> INFO_SHIFT] : NULL;
    return chunk && n > 0 && n < next_uid ? &chunk[n & ((1u << INFO_SHIFT) - 1)] : NULL;
}

static struct dh_thread_info *info_new(void)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    u32 n = next_uid <= UID_MAX ? next_uid : UID_MAX;
    struct dh_thread_info **chunk = &infos[n >> INFO_SHIFT];
    if (!*chunk)
        *chunk = dh_pool_alloc(sizeof(**chunk) << INFO_SHIFT);
    if (!*chunk)
        return NULL;
    if (next_uid <= UID_MAX)
        next_uid++;
    struct dh_thread_info *info = &(*chunk)[n & ((1u << INFO_SHIFT) - 1)];
    *info = (struct dh_thread_info){.uid = dh_uid_from(n), .alive = true};
    return info;
}

static struct slot *slot_of(dh_slot_t slot)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock) && dh_slot_raw(slot) < slots_high);
    return &slots[dh_slot_raw(slot)];
}

/* Is a thread created by `parent` (NULL: the first thread) ordered after all that the last owner of slot s
 * did? From a parent in an unordered region it inherits nothing. */
static bool knows_end(const struct dh_thread *parent, u32 s)
{
    return !parent || (!parent->unordered && dh_vclock_get(&parent->vc, dh_slot_from(s)) >= slots[s].clock);
}

/* A slot for a thread created by `parent`. See the file head. A slot whose class no other thread has is worth
 * a longer clock: misses are cheaper then (engine/pending.h). */
static dh_slot_t slot_take(const struct dh_thread *parent)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    dh_slot_t known = DH_SLOT_NONE, unknown = DH_SLOT_NONE;
    u32 busy = 0; /* classes in use */
    for (u32 s = 0; s < slots_high; s++)
        busy |= slots[s].used ? 1u << dh_thread_class(dh_slot_from(s)) : 0;
    for (u32 s = 0; s < slots_high; s++) {
        const dh_slot_t slot = dh_slot_from(s);
        if (slots[s].used)
            continue;
        if (!knows_end(parent, s))
            unknown = dh_slot_is_none(unknown) ? slot : unknown;
        else if (!(busy >> dh_thread_class(slot) & 1))
            return slot;
        else
            known = dh_slot_is_none(known) ? slot : known;
    }
    u32 s = slots_high;
    while (s < slots_high + DH_READ_CLASSES && (busy >> dh_thread_class(dh_slot_from(s)) & 1))
        s++;
    if (s < slots_high + DH_READ_CLASSES && s < DH_SLOTS_MAX)
        return dh_slot_from(s);
    if (!dh_slot_is_none(known))
        return known;
    if (slots_high < DH_SLOTS_MAX)
        return dh_slot_from(slots_high);
    if (!dh_slot_is_none(unknown))
        dh_runtime_count(DH_COUNT_LOST_SLOTS);
    return unknown;
}

/* t is about to run: whose read plane does it get (pending.h)? True: it shares that of running threads. */
static bool plane_take(struct dh_thread *t, const struct dh_thread *parent)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    bool told = false;
    t->sole = true;
    t->heir = !knows_end(parent, dh_slot_raw(t->slot));
    for (u32 s = t->class; s < slots_high; s += DH_READ_CLASSES)
        if (s != dh_slot_raw(t->slot)) {
            t->sole = t->sole && !slots[s].used;
            t->heir = t->heir || !knows_end(parent, s);
        }
    for (struct dh_thread *other = dh_threads; other && !t->sole; other = other->next) {
        if (other->class != t->class || other->state == DH_THREAD_FINISHED)
            continue;
        told = told || other->sole;
        __atomic_store_n(&other->sole, false, __ATOMIC_SEQ_CST);
    }
    return told;
}

/* Nobody refers to t any more. Under dh_threads_lock. */
static void remove_thread(struct dh_thread *t)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    if (t->prev)
        t->prev->next = t->next;
    else
        dh_threads = t->next;
    if (t->next)
        t->next->prev = t->prev;
    dh_thread_state_free(t);
}

/* Make room for n components in the vector clock of t. Old arrays are kept until the thread is freed: the
 * collector may be reading one. */
static bool reserve(struct dh_thread *t, u32 n)
{
    u32 *old, cap;
    if (!dh_vclock_reserve(&t->vc, n, &old, &cap)) {
        dh_runtime_degrade("no memory for vector clocks");
        return false;
    }
    if (old) {
        DH_ASSERT(t->old_clocks.n < DH_OLD_CLOCKS);
        t->old_clocks.c[t->old_clocks.n] = old;
        t->old_clocks.cap[t->old_clocks.n++] = cap;
    }
    return true;
}

/* *ret_share: dh_pending_share must be called before it runs. */
static struct dh_thread *make(struct dh_thread *parent, dh_ctx_t created_at, bool *ret_share)
{
    dh_lock_take(&dh_threads_lock);
    struct dh_thread *t = dh_thread_state_new();
    struct dh_thread_info *info = t ? info_new() : NULL;
    dh_slot_t slot = info ? slot_take(parent) : DH_SLOT_NONE;
    if (dh_slot_is_none(slot) || !reserve(t, dh_slot_raw(slot) + 1)) {
        dh_lock_drop(&dh_threads_lock);
        dh_thread_state_release(t);
        dh_runtime_count(DH_COUNT_LOST_MEMORY);
        return NULL;
    }
    info->parent = parent ? parent->uid : DH_UID_NONE;
    info->created_at = created_at;
    t->uid = info->uid;
    t->slot = slot;
    t->class = dh_thread_class(slot);
    if (slots_high <= dh_slot_raw(slot))
        slots_high = dh_slot_raw(slot) + 1;
    *ret_share = plane_take(t, parent);
    if (!t->sole)
        dh_runtime_count(DH_COUNT_PLANES_SHARED);
    else if (t->heir)
        dh_runtime_count(DH_COUNT_PLANES_INHERITED);
    slot_of(slot)->used = true;
    t->marks_read = DH_TOUCHED_BY_READ(t->class) | (dh_period_on ? DH_TOUCHED_WRITES : 0);
    t->marks_write = DH_TOUCHED_BY_WRITE(t->class);
    t->vc.n = dh_slot_raw(slot) + 1;
    *dh_vclock_at(&t->vc, slot) = slot_of(slot)->clock + 1;
    t->changed = true;
    t->saying = 1;
    t->mixing = DH_MIXING_START;
    t->gen = dh_collect_gen;
    t->next = dh_threads;
    if (dh_threads)
        dh_threads->prev = t;
    dh_threads = t;
    dh_lock_drop(&dh_threads_lock);
    return t;
}

bool dh_thread_outlived_all(const struct dh_thread *t)
{
    bool all = true;
    dh_lock_take(&dh_threads_lock);
    for (const struct dh_thread *other = dh_threads; other && all; other = other->next)
        all = other == t || other->state == DH_THREAD_FINISHED;
    for (u32 s = 0; s < slots_high && all; s++)
        all = s == dh_slot_raw(t->slot) || dh_vclock_get(&t->vc, dh_slot_from(s)) >= slots[s].clock;
    dh_lock_drop(&dh_threads_lock);
    return all;
}

struct dh_thread *dh_thread_new(struct dh_thread *parent)
{
    dh_alone_end(parent);
    bool share = false;
    struct dh_thread *t = make(parent, dh_thread_current_ctx(parent), &share);
    if (share)
        dh_pending_share(parent);
    if (t)
        dh_period_start();
    if (t && !parent->unordered)
        dh_sink_fork(parent, t);
    else if (t)
        dh_period_inherit(t);
    return t;
}

struct dh_thread *dh_thread_new_carried(struct dh_thread *parent)
{
    struct dh_thread *t = dh_thread_new(parent);
    if (!t)
        return NULL;
    t->carried = true;
    dh_period_heed(t);
    dh_sink_begin(t);
    dh_lock_take(&dh_threads_lock);
    t->state = DH_THREAD_RUNNING;
    dh_thread_info(t->uid)->carried = true;
    dh_lock_drop(&dh_threads_lock);
    return t;
}

void dh_thread_cancel_new(struct dh_thread *t)
{
    dh_lock_take(&dh_threads_lock);
    *slot_of(t->slot) = (struct slot){.clock = dh_thread_epoch(t)};
    dh_thread_info(t->uid)->alive = false;
    remove_thread(t);
    dh_lock_drop(&dh_threads_lock);
}

/* Where the calling thread's stack and thread-local storage are. */
static void find_bounds(struct dh_thread_info *info)
{
    pthread_attr_t attr;
    struct dh_heap_aside room;
    dh_heap_aside_begin(&room);
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        void *lo = NULL;
        size_t n = 0;
        if (pthread_attr_getstack(&attr, &lo, &n) == 0) {
            info->stack_lo = (uptr)lo;
            info->stack_hi = (uptr)lo + n;
        }
        pthread_attr_destroy(&attr);
    }
    dh_heap_aside_end();
    uptr tp = (uptr)__builtin_thread_pointer();
    info->tp = tp;
    info->tls_lo = tp - static_tls;
    info->tls_hi = tp + 4096; /* the thread descriptor follows the thread pointer */
}

/* The shadow call stack: deep enough for a real stack full of 64-byte frames. Less if address space is short:
 * glibc briefly takes 128 MiB when a thread first allocates. */
static void make_frames(struct dh_thread *t, const struct dh_thread_info *info)
{
    size_t n = (info->stack_hi - info->stack_lo) / 64;
    if (n == 0 || n > FRAMES_DEFAULT * 2)
        n = FRAMES_DEFAULT * 2;
    dh_lock_take(&dh_threads_lock);
    while (!(t->frames = dh_identity_take_frames(n)) && n > FRAMES_LEAST)
        n /= 4;
    dh_lock_drop(&dh_threads_lock);
    t->frames_n = t->frames ? n : 0;
    if (!t->frames) { /* no memory: one frame, used over and over by __dh_enter_slow */
        t->frames = unattached;
        dh_runtime_count(DH_COUNT_LOST_FRAMES);
    }
    __dh_hot.sp = t->frames;
    __dh_hot.limit = t->frames + t->frames_n;
}

/* All of a normal stack; for an unlimited one, which may span half the address space, the part that most
 * programs use. Shadow for the rest is mapped on fault. */
static void map_stack_and_tls(const struct dh_thread_info *info)
{
    uptr n = info->stack_hi - info->stack_lo;
    if (n > STACK_MAPPED)
        n = STACK_MAPPED;
    if (n)
        dh_region_map((void *)(info->stack_hi - n), n);
    /* For the first thread it is elsewhere, in memory that the dynamic linker allocated. */
    dh_region_map((void *)info->tls_lo, info->tls_hi - info->tls_lo);
}

static void attach(struct dh_thread *t)
{
    struct dh_thread_info bounds = {0};
    find_bounds(&bounds); /* outside the lock: it may allocate */
    bounds.tid = dh_sys_gettid();
    dh_lock_take(&dh_threads_lock);
    struct dh_thread_info *info = dh_thread_info(t->uid);
    info->stack_lo = bounds.stack_lo;
    info->stack_hi = bounds.stack_hi;
    info->tls_lo = bounds.tls_lo;
    info->tls_hi = bounds.tls_hi;
    info->tp = bounds.tp;
    info->tid = bounds.tid;
    t->hot = &__dh_hot;
    t->state = DH_THREAD_RUNNING;
    dh_lock_drop(&dh_threads_lock);
    map_stack_and_tls(&bounds);
    make_frames(t, &bounds);
    dh_identity_start(t, bounds.stack_lo, bounds.stack_hi);
    __dh_hot.read_flip = DH_READ_FLIP(t->class);
    __dh_hot.self = t;
}

void dh_thread_start(struct dh_thread *t)
{
    t->in_rt = 1;
    attach(t);
    dh_thread_forget_cells(t);
    dh_sink_begin(t);
    dh_thread_leave(t);
}

void dh_thread_init_main(void)
{
    bool share;
    struct dh_thread *t = make(NULL, DH_CTX_NONE, &share);
    if (!t) {
        dh_runtime_degrade("no memory for the first thread");
        return;
    }
    static_tls = dh_region_static_tls();
    t->in_rt = 1;
    attach(t);
    dh_thread_set_name(t, "main");
    dh_thread_bind(t, (unsigned long)pthread_self());
    dh_sink_begin(t);
    dh_alone_begin(t);
    dh_thread_leave(t);
}

static void retire_ids(const struct dh_id_run *run)
{
    if (run->size)
        dh_ids_retire(run->first, run->size);
}

/* Afterwards only t's clock is left, for the thread that joins it. Returns where its stack was. */
static void retire(struct dh_thread *t, uptr *ret_lo, uptr *ret_hi)
{
    u32 last_epoch = dh_sink_end(t);
    dh_thread_release(t, &t->death, false);
    retire_ids(&t->ids.plain);
    retire_ids(&t->ids.special);
    dh_split_give_back(t);
    if (__dh_hot.self == t)
        __dh_hot = (struct dh_hot)DH_HOT_NONE;
    dh_lock_take(&dh_threads_lock);
    struct dh_thread_info *info = dh_thread_info(t->uid);
    info->alive = false;
    *ret_lo = info->stack_lo;
    *ret_hi = info->stack_hi;
    *slot_of(t->slot) = (struct slot){.clock = last_epoch};
    t->state = DH_THREAD_FINISHED;
    t->hot = NULL;
    dh_rules_give(t);
    dh_period_give(t);
    bool gone = t->joined_or_detached;
    if (gone)
        remove_thread(t);
    dh_lock_drop(&dh_threads_lock);
}

void dh_thread_finish(struct dh_thread *t)
{
    uptr lo, hi;
    t->in_rt++;
    struct dh_thread *native = dh_identity_native();
    if (t != native) { /* the kernel thread ends while it runs as another, which may continue elsewhere */
        dh_identity_switch(native, 0);
        t = native;
    }
    retire(t, &lo, &hi);
    /* The next thread on this stack starts with a clean history. */
    if (hi)
        dh_region_unmap((void *)lo, hi - lo);
}

void dh_thread_end_carried(struct dh_thread *t)
{
    uptr lo, hi;
    retire(t, &lo, &hi);
}

u32 dh_thread_last_epoch(const struct dh_thread *t)
{
    dh_lock_take(&dh_threads_lock);
    u32 epoch = slot_of(t->slot)->clock;
    dh_lock_drop(&dh_threads_lock);
    return epoch;
}

void dh_thread_join(struct dh_thread *t, struct dh_thread *child)
{
    if (!t->unordered)
        dh_sink_join(t, child);
    dh_lock_take(&dh_threads_lock);
    remove_thread(child);
    dh_lock_drop(&dh_threads_lock);
    dh_alone_begin(t);
}

void dh_thread_detach(struct dh_thread *child)
{
    dh_lock_take(&dh_threads_lock);
    child->joined_or_detached = true;
    if (child->state == DH_THREAD_FINISHED)
        remove_thread(child);
    dh_lock_drop(&dh_threads_lock);
}

void dh_thread_set_name(struct dh_thread *t, const char *name)
{
    dh_lock_take(&dh_threads_lock);
    struct dh_thread_info *info = dh_thread_info(t->uid);
    size_t n = 0;
    for (; info && n + 1 < sizeof(info->name) && name[n]; n++)
        info->name[n] = name[n];
    if (info)
        info->name[n] = 0;
    dh_lock_drop(&dh_threads_lock);
    dh_sink_named(t);
}

void dh_thread_bind(struct dh_thread *t, unsigned long pthread)
{
    dh_lock_take(&dh_threads_lock);
    t->pthread = pthread;
    dh_lock_drop(&dh_threads_lock);
}

static bool interruptible; /* set once, atomic */

void dh_thread_may_be_interrupted(void)
{
    __atomic_store_n(&interruptible, true, __ATOMIC_SEQ_CST);
}

void dh_thread_joining(struct dh_thread *t, struct dh_thread *child)
{
    dh_lock_take(&dh_threads_lock);
    t->joining = child && !child->joined_or_detached ? child : NULL;
    dh_lock_drop(&dh_threads_lock);
}

bool dh_thread_will_know(const struct dh_thread *t)
{
    DH_ASSERT(dh_lock_is_mine(&dh_threads_lock));
    /* Checked first: a thread that left the wait by an exception or a jump may have outlived the one it
     * waited for. */
    return !__atomic_load_n(&interruptible, __ATOMIC_SEQ_CST) && t->joining &&
           t->joining->state == DH_THREAD_RUNNING;
}

struct dh_thread *dh_thread_by_pthread(unsigned long pthread)
{
    dh_lock_take(&dh_threads_lock);
    struct dh_thread *t = dh_threads;
    while (t && (t->pthread != pthread || t->joined_or_detached))
        t = t->next;
    dh_lock_drop(&dh_threads_lock);
    return t;
}

void dh_thread_switch(struct dh_thread *to, bool sync)
{
    struct dh_thread *from = __dh_hot.self;
    if (from == to)
        return;
    if (sync)
        dh_sink_hand_over(from, to);
    dh_identity_switch(to, (uptr)__builtin_frame_address(0));
}

void dh_thread_forget_cells(struct dh_thread *t)
{
    memset(&t->memo, 0, sizeof(t->memo));
    dh_pending_forget_seen(t);
    t->gen = dh_collect_gen;
    dh_period_heed(t);
}

void dh_thread_leave_slow(struct dh_thread *t)
{
    if (t->want_collect) {
        t->want_collect = false;
        t->in_rt = 1;
        dh_collect_run(t);
        t->in_rt = 0;
    }
    if (t->want_raise)
        dh_exception_deliver(t); /* before the access; a signal handler might jump past it */
    if (t->sig.pending)
        dh_signal_deliver(t);
}

/* In the child only `self` runs (language-level threads may run again, on it), and all that any thread did
 * before the fork is over: it happens before everything the child does, even if the thread was not joined. */
static void outlive_all(struct dh_thread *self)
{
    if (slots_high == 0 || !reserve(self, slots_high))
        return;
    for (u32 s = 0; s < slots_high; s++)
        if (s != dh_slot_raw(self->slot) && self->vc.c[s] < slots[s].clock)
            self->vc.c[s] = slots[s].clock;
    if (self->vc.n < slots_high)
        self->vc.n = slots_high;
    dh_snap_unref(self->snap);
    self->snap = NULL;
    self->changed = true;
    self->saying++;
}

void dh_thread_fork_child(struct dh_thread *self)
{
    dh_lock_take(&dh_threads_lock); /* no other thread exists; for callees that assert the lock */
    for (struct dh_thread *t = dh_threads, *next; t; t = next) {
        next = t->next;
        if (t == self || t == dh_identity_native() || t->carried || t->state == DH_THREAD_FINISHED)
            continue;
        retire_ids(&t->ids.plain);
        retire_ids(&t->ids.special);
        dh_thread_info(t->uid)->alive = false;
        *slot_of(t->slot) = (struct slot){.clock = dh_thread_epoch(t)};
        remove_thread(t);
    }
    outlive_all(self);
    dh_rules_fork_child();
    dh_period_fork_child();
    dh_thread_info(self->uid)->tid = dh_sys_gettid();
    dh_lock_drop(&dh_threads_lock);
    dh_alone_begin(self);
}

/* ---- The shadow call stack ---- */

DH_PRESERVE struct dh_frame *__dh_enter_slow(void)
{
    struct dh_thread *t = __dh_hot.self;
    return t && t->frames_n ? dh_identity_frame(t) : unattached;
}

/* The slot for (parent, pc) in the table of recently used contexts. */
DH_INLINE struct dh_ctxc *ctxc_at(struct dh_thread *t, dh_ctx_t parent, const void *pc)
{
    return &t->ctxc[(u32)(dh_hash64((uptr)pc ^ (u64)dh_ctx_raw(parent) << 32) >> 40) % DH_CTXC];
}

DH_INLINE bool is_at(const struct dh_ctxc *c, dh_ctx_t parent, const void *pc)
{
    return DH_LIKELY(c->pc == pc && dh_ctx_eq(c->parent, parent) && !dh_ctx_is_none(c->ctx));
}

static dh_ctx_t put_ctx(struct dh_ctxc *c, dh_ctx_t parent, const void *pc)
{
    *c = (struct dh_ctxc){.parent = parent, .ctx = dh_ctx_intern(parent, pc), .pc = pc};
    return c->ctx;
}

dh_ctx_t dh_thread_leaf(struct dh_thread *t, dh_ctx_t parent, const void *pc)
{
    struct dh_ctxc *c = ctxc_at(t, parent, pc);
    if (!is_at(c, parent, pc))
        *c = (struct dh_ctxc){.parent = parent, .ctx = dh_ctx_leaf(parent, pc), .pc = pc};
    return c->ctx;
}

dh_ctx_t dh_thread_ctx(struct dh_thread *t, dh_ctx_t parent, const void *pc)
{
    struct dh_ctxc *c = ctxc_at(t, parent, pc);
    return is_at(c, parent, pc) ? c->ctx : put_ctx(c, parent, pc);
}

/* The context of f. For a function called by plain code it depends on more than the frame below. */
DH_INLINE dh_ctx_t frame_ctx(struct dh_thread *t, const struct dh_frame *f, const struct dh_frame *top,
                             dh_ctx_t below)
{
    struct dh_ctxc *c = ctxc_at(t, below, f->pc);
    if (is_at(c, below, f->pc))
        return c->ctx;
    dh_ctx_t caller = DH_UNLIKELY(dh_plain_may(f->pc)) ? dh_plain_caller(t, f, top, below) : below;
    return dh_ctx_eq(caller, below) ? put_ctx(c, below, f->pc) : dh_thread_ctx(t, caller, f->pc);
}

dh_ctx_t dh_thread_frame_ctx(struct dh_thread *t, struct dh_frame *top)
{
    if (top < t->frames)
        return DH_CTX_NONE;
    DH_ASSERT(!t->frames_n || top < t->frames + t->frames_n || t->carried);
    struct dh_frame *f = top;
    while (f > t->frames && dh_ctx_is_none(dh_ctx_of_frame(f)))
        f--;
    dh_ctx_t ctx = dh_ctx_of_frame(f);
    if (dh_ctx_is_none(ctx)) {
        ctx = dh_thread_ctx(t, DH_CTX_NONE, f->pc);
        dh_ctx_set_frame(f, ctx);
    }
    while (f < top) {
        f++;
        ctx = frame_ctx(t, f, top, ctx);
        dh_ctx_set_frame(f, ctx);
    }
    return ctx;
}

dh_ctx_t dh_thread_current_ctx(struct dh_thread *t)
{
    return dh_thread_frame_ctx(t, __dh_hot.sp - 1);
}
