/*
 * plain.c - see plain.h.
 *
 * Unwinding finds the missing frames, and is far too slow for every call of malloc. But the distance on the
 * stack from the return address of a call to that of the function which makes it depends on the place of the
 * call alone, as long as that function does not move its stack pointer by amounts of its own. So what one
 * unwinding shows is remembered by return address: a distance, or that the function is instrumented and the
 * walk ends. From then on a walk costs one look-up a frame.
 *
 * A walk is believed only if it ends at a return address known to lie in an instrumented function; whatever
 * else it meets leads to another unwinding. A place seen with two distances, or whose function has a frame
 * pointer to move its stack by, ends walks from then on: its callers stay unknown, as do those beyond
 * FRAMES_MAX plain frames.
 *
 * Entries are single words, read and written by all threads without a lock.
 */
#include "runtime/plain.h"

#include <unwind.h>

#include "runtime/thread.h"

/* Unwindings in all. Places that do not stay in the table must not cost one each time. */
enum { FRAMES_MAX = 8, SETS = 1024, WAYS = 4, LEARN_MAX = 50000 };
enum { DISTANCE_BITS = 16, END = 0, DWARF_RBP = 6 };

struct dh_plain_image dh_plain_program, dh_plain_unwinder;

static u64 table[SETS][WAYS]; /* return address << 16 | distance in words; 0: free */
static u32 learned;

static u64 *set_of(uptr pc)
{
    return table[(pc * 0x9e3779b97f4a7c15ull) >> 54];
}

static bool look_up(uptr pc, u32 *ret_distance)
{
    const u64 *set = set_of(pc);
    for (int i = 0; i < WAYS; i++) {
        u64 e = __atomic_load_n(&set[i], __ATOMIC_RELAXED);
        if (e != 0 && e >> DISTANCE_BITS == pc) {
            *ret_distance = (u32)(e & ((1u << DISTANCE_BITS) - 1));
            return true;
        }
    }
    return false;
}

static void remember(uptr pc, u64 distance)
{
    u64 *set = set_of(pc);
    int at = (int)(learned % WAYS);
    for (int i = 0; i < WAYS; i++) {
        u64 e = __atomic_load_n(&set[i], __ATOMIC_RELAXED);
        if (e == 0)
            at = i;
        if (e >> DISTANCE_BITS != pc)
            continue;
        at = i;
        if ((e & ((1u << DISTANCE_BITS) - 1)) != distance)
            distance = END;
        break;
    }
    __atomic_store_n(&set[at], (u64)pc << DISTANCE_BITS | distance, __ATOMIC_RELAXED);
}

/* From the interceptor's caller outwards, up to the innermost function with a shadow frame. */
struct walk {
    uptr from, to; /* return addresses: of the interceptor, and of that function */
    uptr pc[FRAMES_MAX + 1], sp[FRAMES_MAX + 1], bp[FRAMES_MAX + 1];
    u32 n;
    bool found;
};

static _Unwind_Reason_Code look_at(struct _Unwind_Context *context, void *arg)
{
    struct walk *w = arg;
    uptr pc = _Unwind_GetIP(context);
    if (w->n == 0 && pc != w->from)
        return _URC_NO_REASON;
    w->found = w->n > 0 && pc == w->to;
    if (w->found || w->n == FRAMES_MAX + 1)
        return _URC_NORMAL_STOP;
    w->pc[w->n] = pc;
    w->sp[w->n] = _Unwind_GetCFA(context); /* after the call has returned */
    w->bp[w->n++] = _Unwind_GetGR(context, DWARF_RBP);
    return _URC_NO_REASON;
}

static void learn(struct walk *w)
{
    __atomic_fetch_add(&learned, 1, __ATOMIC_RELAXED);
    if (w->from - dh_plain_unwinder.lo >= dh_plain_unwinder.size)
        _Unwind_Backtrace(look_at, w);
    if (!w->found) {
        remember(w->from, END);
        w->n = 1;
        return;
    }
    for (u32 i = 0; i + 1 < w->n; i++) {
        uptr words = (w->sp[i + 1] - w->sp[i]) / sizeof(uptr);
        bool by_frame_pointer = w->bp[i] + 2 * sizeof(uptr) == w->sp[i + 1];
        remember(w->pc[i], by_frame_pointer || words >> DISTANCE_BITS ? END : words);
    }
    remember(w->pc[w->n - 1], END);
}

/* False if something on the way is not known yet. */
static bool walk_known(struct walk *w, const uptr *slot)
{
    u32 distance;
    for (w->pc[w->n++] = w->from;; w->pc[w->n++] = *slot) {
        if (!look_up(w->pc[w->n - 1], &distance))
            return false;
        if (distance == END)
            return true;
        if (w->n == FRAMES_MAX + 1)
            return false;
        slot += distance;
    }
}

void dh_plain_complete(struct dh_scope *sc, const uptr *slot)
{
    struct dh_frame *f = sc->frame;
    struct walk w = {.from = (uptr)f->pc};
    if (f == sc->t->frames || *slot != w.from)
        return;
    if (!walk_known(&w, slot)) {
        if (__atomic_load_n(&learned, __ATOMIC_RELAXED) >= LEARN_MAX)
            return;
        w = (struct walk){.from = w.from, .to = (uptr)f[-1].pc};
        learn(&w);
    }
    if (w.n < 2 || f + w.n > __dh_hot.limit)
        return;
    for (u32 i = w.n; i-- > 0;)
        *f++ = (struct dh_frame){.pc = (const void *)w.pc[i]};
    __dh_hot.sp = f; /* dh_scope_end goes back to sc->frame, below them all */
}

static _Unwind_Reason_Code stop_at_once(struct _Unwind_Context *context, void *arg)
{
    (void)context;
    (void)arg;
    return _URC_NORMAL_STOP;
}

void dh_plain_init(void)
{
    _Unwind_Backtrace(stop_at_once, NULL);
}

void dh_plain_forget(void)
{
    for (int i = 0; i < SETS; i++) {
        for (int k = 0; k < WAYS; k++)
            __atomic_store_n(&table[i][k], 0, __ATOMIC_RELAXED);
    }
}
