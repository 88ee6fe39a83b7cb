/*
 * identity.c - switches a kernel thread to another logical thread, and chooses the shadow call stack to use.
 *
 * The shadow call stack belongs to the machine stack. A language-level thread either has a stack of its own
 * (fibers) or runs on that of whichever kernel thread carries it (an interpreter whose state is on the heap).
 * Which of the two is unknown at the switch: a fiber library switches threads first, then stacks. So a new
 * thread has no frames until it first enters a function, and that function's stack address decides: on the
 * kernel thread's own stack, its frames go on top of the kernel thread's; elsewhere, it gets frames of its
 * own and keeps them.
 *
 * Invariant: hot.limit is 0 until that is decided, so the next __dh_enter comes here.
 *
 * A function that began as one thread may end as another, and then resets the top of the stack to where it
 * was in the former's frames. That is right on one machine stack. Otherwise it only makes calling contexts
 * wrong, since frames are never unmapped.
 */
#include "runtime/threads/identity.h"
#include "runtime/engine/parts.h"

#include "base/pool.h"
#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/sink/sink.h"

enum {
    CARRIED_FRAMES = 16 << 10, /* a fiber's stack of 1 MiB, in frames of 64 bytes */
    SPARE_TOUCHED = 64         /* this many spare stacks keep their memory */
};

static _Thread_local struct {
    struct dh_thread *native;
    uptr stack_lo, stack_size;
    bool tracked; /* accesses were checked since the memory below the top of the stack was cleared */
} home __attribute__((tls_model("initial-exec")));

/* ---- The machine's stack ---- */

static bool on_home_stack(uptr addr)
{
    return addr - home.stack_lo < home.stack_size;
}

/*
 * What remains are frames of functions that began as one thread and continue as another, like a scheduler's,
 * and thread-local storage, which is the kernel thread's. The kernel thread uses these in program order,
 * whichever thread it runs as.
 */
bool dh_identity_in_turn(const struct dh_thread *now, dh_uid_t earlier, uptr addr)
{
    struct dh_thread *native = home.native;
    if (!native || dh_uid_eq(now->uid, earlier))
        return false;
    dh_lock_take(&dh_threads_lock);
    const struct dh_thread_info *info = dh_thread_info(earlier), *own = dh_thread_info(native->uid);
    bool was_native = dh_uid_eq(earlier, native->uid), carried = info && info->carried;
    bool stackless = info && info->stackless;
    bool tls = own && addr >= own->tls_lo && addr < own->tls_hi;
    dh_lock_drop(&dh_threads_lock);
    if (tls)
        return was_native || carried;
    return on_home_stack(addr) && on_home_stack((uptr)__builtin_frame_address(0)) && !now->own_frames &&
           (was_native || stackless);
}

/* ---- Shadow call stacks ---- */

struct spare {
    struct spare *next;
    size_t n;
};
static struct spare *spares; /* under dh_threads_lock */
static u32 spares_n;

struct dh_frame *dh_identity_take_frames(size_t n)
{
    struct spare **link = &spares;
    while (*link && (*link)->n != n)
        link = &(*link)->next;
    struct spare *s = *link;
    if (!s)
        return dh_pool_alloc(n * sizeof(struct dh_frame));
    *link = s->next;
    spares_n--;
    return (struct dh_frame *)s;
}

void dh_identity_give_frames(struct dh_thread *t)
{
    struct dh_frame *frames = t->carried ? t->own_frames : t->frames;
    size_t n = t->carried ? CARRIED_FRAMES : t->frames_n;
    if (!frames || !n) /* for no frames, see thread.c */
        return;
    if (++spares_n > SPARE_TOUCHED && n * sizeof(*frames) > 4096)
        dh_sys_discard((uptr)frames + 4096, n * sizeof(*frames) - 4096);
    struct spare *s = (struct spare *)frames;
    *s = (struct spare){spares, n};
    spares = s;
}

/* ---- Which thread ---- */

void dh_identity_start(struct dh_thread *t, uptr stack_lo, uptr stack_hi)
{
    home.native = t;
    home.stack_lo = stack_lo;
    home.stack_size = stack_hi - stack_lo;
}

struct dh_thread *dh_identity_native(void)
{
    return home.native;
}

static void set_stackless(struct dh_thread *t)
{
    dh_lock_take(&dh_threads_lock);
    t->stackless = true;
    dh_thread_info(t->uid)->stackless = true;
    dh_lock_drop(&dh_threads_lock);
}

static bool in_frames(const struct dh_frame *f, const struct dh_thread *t)
{
    return (uptr)f - (uptr)t->frames <= t->frames_n * sizeof(*f);
}

/* The top of the kernel thread's own shadow call stack: as it is, or as it was left. */
static struct dh_frame *native_top(const struct dh_thread *current)
{
    const struct dh_thread *native = home.native;
    return current == native || in_frames(__dh_hot.sp, native) ? __dh_hot.sp : native->saved.sp;
}

/* t runs on the kernel thread's stack, from `top` on. */
static void borrow_frames(struct dh_thread *t, struct dh_frame *top)
{
    t->frames = home.native->frames;
    t->frames_n = home.native->frames_n;
    __dh_hot.sp = top;
    __dh_hot.limit = t->frames + t->frames_n;
}

static void use_own_frames(struct dh_thread *t, struct dh_frame *top)
{
    t->frames = t->own_frames;
    t->frames_n = CARRIED_FRAMES;
    __dh_hot.sp = top;
    __dh_hot.limit = t->frames + t->frames_n;
}

void dh_identity_tracked(void)
{
    home.tracked = true;
}

/* The language runtime's own locks belong to the kernel thread, whichever thread it runs as. */
static DH_NOINLINE void hand_over_locks(struct dh_thread *from, struct dh_thread *to)
{
    u32 kept = 0;
    for (u32 i = 0; i < from->locks.n; i++) {
        bool moves = (from->held[i].flags & DH_LOCK_UNORDERED) && to->locks.n < DH_HELD_MAX;
        if (moves)
            to->held[to->locks.n++] = from->held[i];
        else
            from->held[kept++] = from->held[i];
    }
    from->locks.n = kept;
    from->locks.gen++;
    from->stamp++;
    to->locks.gen++;
    to->stamp++;
}

/* Does t run on the stack of whichever kernel thread carries it, as far as is known? */
static bool is_on_home_stack(const struct dh_thread *t)
{
    return t->stackless >= t->carried;
}

static DH_COLD DH_NOINLINE void hand_over_signal(struct dh_thread *from, struct dh_thread *to)
{
    to->sig = from->sig;
    from->sig.pending = 0;
}

/*
 * Both threads use this kernel thread's stack and its frames, so these stay as they are. Nothing on the stack
 * counts as program data, no lock moves along, and no sink needs to be told.
 */
bool dh_identity_take_turn(struct dh_thread *to)
{
    struct dh_thread *from = __dh_hot.self;
    const u32 gen = dh_collect_gen;
    to = to ? to : home.native;
    if (!from || !to)
        return false;
    /* One test for all: other cases are rare, and fewer branches here leave more prediction for the
     * interpreter's. */
    u32 other = from->in_rt | to->in_rt | from->locks.n | (from->gen ^ gen) | (to->gen ^ gen);
    other |= !from->untracked;
    other |= home.tracked;
    other |= dh_sink_wants_all();
    other |= dh_runtime_off;
    other |= from == to;
    other |= from->parts.n != 0;
    other |= !is_on_home_stack(from);
    other |= !is_on_home_stack(to);
    other |= !in_frames(__dh_hot.sp, home.native);
    if (other)
        return false;
    from->in_rt = 1;
    to->in_rt = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    dh_regions_set(to, dh_regions_of(from));
    to->frames = home.native->frames;
    to->frames_n = home.native->frames_n;
    from->saved.base = __dh_hot.base;
    from->saved.bases = __dh_hot.bases;
    from->saved.span = __dh_hot.span;
    from->saved.sp = __dh_hot.sp;
    __dh_hot.base = to->saved.base;
    __dh_hot.bases = to->saved.bases;
    __dh_hot.span = to->saved.span;
    __dh_hot.read_flip = dh_thread_read_flip(to);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __dh_hot.self = to;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (DH_UNLIKELY(from->sig.pending))
        hand_over_signal(from, to);
    dh_regions_set(from, (struct dh_regions){0});
    from->in_rt = 0;
    dh_thread_leave(to);
    return true;
}

void dh_identity_switch(struct dh_thread *to, uptr top)
{
    struct dh_thread *from = __dh_hot.self;
    if (from == to)
        return;
    if ((home.tracked || !from->untracked) && on_home_stack(top)) {
        /* Threads that take turns on a kernel thread's stack find there what others left in frames that have
         * returned. */
        dh_sink_clear_stack(from, home.stack_lo, top & ~(uptr)7);
        home.tracked = !from->untracked;
    }
    if (from->carried && !from->own_frames && !from->stackless && on_home_stack(top))
        set_stackless(from);
    dh_parts_flush(from); /* they are recorded in the planes of the running thread */
    struct dh_frame *frame = native_top(from);
    dh_thread_enter_any(to);
    dh_regions_set(to, dh_regions_of(from));
    from->saved = __dh_hot;
    __dh_hot.base = to->saved.base;
    __dh_hot.bases = to->saved.bases;
    __dh_hot.span = to->saved.span;
    __dh_hot.read_flip = dh_thread_read_flip(to);
    if (to->own_frames) {
        use_own_frames(to, to->saved.sp);
    } else {
        borrow_frames(to, frame);
        if (to->carried && !to->stackless)
            __dh_hot.limit = NULL;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __dh_hot.self = to;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (DH_UNLIKELY(from->sig.pending)) /* it came just now, to this kernel thread */
        hand_over_signal(from, to);
    dh_regions_set(from, (struct dh_regions){0});
    from->language = false;
    if (DH_UNLIKELY(from->locks.n))
        hand_over_locks(from, to);
    dh_sink_carried(to, home.native);
    from->in_rt = 0;
}

/* See the file head. */
static DH_COLD DH_NOINLINE struct dh_frame *choose(struct dh_thread *t)
{
    u32 in_rt = t->in_rt; /* an interceptor is inside the runtime, program code is not */
    t->in_rt = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (on_home_stack((uptr)__builtin_frame_address(0))) {
        set_stackless(t);
    } else {
        dh_lock_take(&dh_threads_lock);
        t->own_frames = dh_identity_take_frames(CARRIED_FRAMES);
        dh_lock_drop(&dh_threads_lock);
    }
    if (t->own_frames)
        use_own_frames(t, t->own_frames);
    else
        borrow_frames(t, __dh_hot.sp);
    struct dh_frame *f = __dh_hot.sp;
    if (in_rt)
        t->in_rt = in_rt;
    else
        dh_thread_leave(t);
    return f;
}

struct dh_frame *dh_identity_frame(struct dh_thread *t)
{
    if (!__dh_hot.limit && t->carried)
        return choose(t);
    /* Full: the deepest frame is used over and over. */
    dh_runtime_count(DH_COUNT_LOST_FRAMES);
    return __dh_hot.limit - 1;
}
