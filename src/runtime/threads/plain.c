/*
 * plain.c - see plain.h.
 *
 * The stack is walked from the interceptor's caller outwards, up to the innermost function that has a shadow
 * frame, recognised by its return address, which is what it pushed. If that is the caller itself, as it
 * usually is, the call's return address is remembered, and calls from there are not examined again: whether
 * the code at an address is instrumented does not change.
 *
 * How to get from a frame to the next depends only on the place of the call. So the result from the unwind
 * tables is cached too, by return address, and a walk costs one lookup per frame.
 *
 * A walk is trusted only if it ends at the top of the shadow stack, or at a function of ours that calls
 * program code, directly above the frame of an interceptor or the place that a signal interrupted. Otherwise
 * the callers of the plain function stay unknown, as do those beyond FRAMES_MAX plain frames.
 *
 * For an instrumented function called back by plain code, the same walk, from wherever the runtime is, finds
 * what belongs between its frame and the one below. No frame can be inserted there: it goes into the context.
 *
 * Entries of the tables are single words, read and written by all threads without a lock.
 */
#include "runtime/threads/plain.h"

#include "base/sys.h"
#include "runtime/threads/cfi.h"
#include "runtime/threads/thread.h"

/* No more than blocked.c examines. A frame as long as FAR must be a mistake. */
enum { FRAMES_MAX = 16, STEPS_MAX = 64, SETS = 1024, WAYS = 4, PAGE = 4096, FAR = 1 << 20 };
enum { SIZE_BITS = 12, BP_AT_BITS = 4, BY_BP = 1 << (SIZE_BITS + BP_AT_BITS), ROW_BITS = 17, NONE = 0 };

uptr dh_plain_ends[DH_PLAIN_ENDS];

/* Return address << 17 | how its function's frame ends, or NONE. Addresses have 47 bits. 0: free. */
static u64 rows[SETS][WAYS];
static u32 turn; /* roughly which entry of a set is replaced next */

/* The functions that are DH_CALLS_PROGRAM. */
extern const char __start_dh_calls_program[] DH_HIDDEN;
extern const char __stop_dh_calls_program[] DH_HIDDEN;

static u32 pack(const struct dh_cfi_row *r)
{
    if (r->size >> SIZE_BITS || r->bp_at >> BP_AT_BITS)
        return NONE;
    return (r->by_bp ? BY_BP : 0) | r->bp_at << SIZE_BITS | r->size;
}

static u64 *set_of(uptr pc)
{
    return rows[(pc * 0x9e3779b97f4a7c15ull) >> 54];
}

static bool look_up(uptr pc, u32 *ret_row)
{
    const u64 *set = set_of(pc);
    for (int i = 0; i < WAYS; i++) {
        u64 e = __atomic_load_n(&set[i], __ATOMIC_RELAXED);
        if (e >> ROW_BITS == pc) {
            *ret_row = (u32)(e & ((1u << ROW_BITS) - 1));
            return true;
        }
    }
    return false;
}

static void remember(uptr pc, u32 row)
{
    u64 *set = set_of(pc);
    u32 at = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % WAYS;
    for (u32 i = 0; i < WAYS; i++) {
        u64 e = __atomic_load_n(&set[i], __ATOMIC_RELAXED);
        if (e == 0 || e >> ROW_BITS == pc)
            at = i;
    }
    __atomic_store_n(&set[at], (u64)pc << ROW_BITS | row, __ATOMIC_RELAXED);
}

static void remember_end(uptr pc)
{
    __atomic_store_n(dh_plain_end(pc), pc, __ATOMIC_RELAXED);
}

/* A frame on the stack: the location of its callee's return address, and the frame pointer. */
struct at {
    const uptr *slot;
    uptr bp;
};

static const uptr *end_of(const struct at *at, u32 row)
{
    uptr base = row & BY_BP ? at->bp : (uptr)(at->slot + 1);
    return (const uptr *)base + (row & ((1u << SIZE_BITS) - 1)) - 1;
}

static bool is_sane(const struct at *at, const uptr *end)
{
    uptr distance = (uptr)end - (uptr)at->slot;
    return distance != 0 && distance < FAR && distance % sizeof(uptr) == 0;
}

/* The outermost function on a stack set up by hand may not have been called at all: then its return address
 * need not exist. */
static bool exists(const struct at *at, const uptr *end)
{
    uptr word;
    return (uptr)end / PAGE == (uptr)at->slot / PAGE || dh_sys_peek((uptr)end, &word, sizeof(word));
}

/* From the function that pc is in to its caller. */
static bool step(struct at *at, uptr pc)
{
    u32 row;
    if (pc >> (64 - ROW_BITS)) /* not an address */
        return false;
    bool known = look_up(pc, &row);
    if (!known) {
        struct dh_cfi_row found;
        row = dh_cfi_find(pc, &found) ? pack(&found) : NONE;
    }
    if (!known)
        remember(pc, row);
    if (row == NONE) {
        remember_end(pc);
        return false;
    }
    const uptr *end = end_of(at, row);
    if (!is_sane(at, end) || !exists(at, end))
        return false;
    u32 bp_at = row >> SIZE_BITS & ((1u << BP_AT_BITS) - 1);
    at->bp = bp_at ? end[1 - (long)bp_at] : at->bp;
    at->slot = end;
    return true;
}

static bool is_ours(uptr pc)
{
    return pc - (uptr)__start_dh_calls_program < (uptr)(__stop_dh_calls_program - __start_dh_calls_program);
}

/* Frames from `at` outwards, up to the function that returns to top. 0: not found, or too far away. */
static u32 collect(struct at *at, uptr top, uptr *ret_pc)
{
    u32 n = 0;
    do {
        if (n > FRAMES_MAX)
            return 0;
        ret_pc[n++] = *at->slot;
        if (!step(at, ret_pc[n - 1]))
            return 0;
    } while (*at->slot != top && !is_ours(*at->slot));
    if (n == 1 && *at->slot == top)
        remember_end(ret_pc[0]);
    return n;
}

void dh_plain_complete(struct dh_scope *sc, const uptr *bp)
{
    struct dh_frame *f = sc->frame;
    struct at at = {bp + 1, bp[0]};
    uptr pc[FRAMES_MAX + 1];
    if (f == sc->t->frames || *at.slot != (uptr)f->pc)
        return;
    u32 n = collect(&at, (uptr)f[-1].pc, pc);
    if (n < 2 || f + n > __dh_hot.limit)
        return;
    /* With their contexts: otherwise dh_plain_caller would take them for frames pushed by their own
     * functions. */
    dh_ctx_t ctx = dh_thread_frame_ctx(sc->t, f - 1);
    while (n-- > 0) {
        ctx = dh_thread_ctx(sc->t, ctx, (const void *)pc[n]);
        *f++ = (struct dh_frame){.pc = (const void *)pc[n], .ctx = dh_ctx_raw(ctx)};
    }
    __dh_hot.sp = f; /* dh_scope_end goes back to sc->frame, below them all */
}

/* The return address of a frame of t that an interceptor pushed, which then called out. */
static bool is_interceptor(const struct dh_thread *t, const uptr *slot)
{
    const struct dh_scope *lo = __builtin_frame_address(0), *hi = (const void *)slot, *sc;
    for (sc = dh_scope_blocked(t->slot); sc > lo && sc < hi && sc->t == t; sc = sc->outer) {
        if (sc->bp + 1 == slot)
            return true;
        lo = sc;
    }
    return false;
}

dh_ctx_t dh_plain_caller(struct dh_thread *t, const struct dh_frame *f, const struct dh_frame *top,
                         dh_ctx_t below)
{
    const uptr *bp = __builtin_frame_address(0);
    struct at at = {bp + 1, bp[0]};
    uptr pc[FRAMES_MAX + 1];
    if (t != __dh_hot.self || is_ours((uptr)f->pc))
        return below;
    u32 left = STEPS_MAX;
    for (const struct dh_frame *g = top; *at.slot != (uptr)f->pc || g != f; left--) {
        g -= *at.slot == (uptr)g->pc;
        if (left == 0 || !step(&at, *at.slot))
            return below;
    }
    u32 n = collect(&at, (uptr)f[-1].pc, pc);
    if (n < 2 || is_interceptor(t, at.slot))
        return below;
    while (n-- > 1)
        below = dh_thread_ctx(t, below, (const void *)pc[n]);
    return below;
}

void dh_plain_forget(void)
{
    for (int i = 0; i < SETS; i++) {
        for (int k = 0; k < WAYS; k++)
            __atomic_store_n(&rows[i][k], 0, __ATOMIC_RELAXED);
    }
    for (int i = 0; i < DH_PLAIN_ENDS; i++)
        __atomic_store_n(&dh_plain_ends[i], 0, __ATOMIC_RELAXED);
}
