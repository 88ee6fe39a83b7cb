/*
 * pending.c - see pending.h.
 */
#include "runtime/engine/pending.h"

#include "runtime/engine/engine.h"
#include "runtime/engine/exception.h"
#include "runtime/engine/recheck.h"
#include "runtime/engine/rules.h"
#include "runtime/init.h"
#include "runtime/shadow/cells.h"
#include "runtime/shadow/collect.h"
#include "runtime/shadow/exclusive.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/alone.h"
#include "runtime/threads/period.h"

bool dh_pending_on;
static bool ended; /* all threads have seen that it is off; atomic */

/* Cheaper than mfence, which also waits for instructions that it need not wait for. */
static void fence(void)
{
    __asm__ volatile("lock orl $0, -8(%%rsp)" ::: "memory", "cc");
}

static uptr first_word(const struct dh_pending *p)
{
    return p->where & (((u64)1 << DH_PENDING_WORDS) - 1);
}

static u32 words(const struct dh_pending *p)
{
    const u32 limit = 1u << (DH_PENDING_MASK - DH_PENDING_WORDS);
    return (u32)(p->where >> DH_PENDING_WORDS) % limit + 1;
}

static dh_mask_t mask_of(const struct dh_pending *p)
{
    return dh_mask_from((u32)(p->where >> DH_PENDING_MASK));
}

/* Is it certain that no read of t races with this write? */
static bool is_harmless(struct dh_thread *t, dh_cell_t cell)
{
    return dh_step_mine_simple(cell) || (dh_cell_is_simple(cell) && dh_step_ordered(t, cell));
}

/* The write cells have changed: whose write is it? Usually the thread's own. */
static DH_NOINLINE void look_again(struct dh_thread *t, const struct dh_pending *p)
{
    const dh_mask_t mask = mask_of(p);
    struct dh_access_now a = {.t = t, .kind = DH_READ, .id = p->id};
    for (uptr word = first_word(p), end = word + words(p) * 4ul; word < end; word += 4) {
        if (is_harmless(t, dh_cell_load(dh_shadow(word, DH_PLANE_WRITE))))
            continue;
        u32 size = dh_mask_count(mask);
        a.addr = word + dh_mask_first(mask);
        dh_step_widen(p->id, &a.addr, &size);
        a.size = size;
        dh_engine_look_again(&a, word, mask);
    }
}

void dh_pending_settle_now(struct dh_thread *t)
{
    u32 n = t->pending.n;
    t->pending.n = 0;
    fence();
    bool ranges = __atomic_load_n(&dh_ranges_active, __ATOMIC_ACQUIRE) != 0;
    for (u32 i = 0; i < n; i++) {
        const struct dh_pending *p = &t->pending.reads[i];
        const uptr addr = first_word(p);
        const dh_cell_t *w = dh_shadow(addr, DH_PLANE_WRITE);
        const u32 count = words(p);
        if (DH_UNLIKELY(ranges))
            dh_range_wait(addr, addr + count * 4ul);
        struct dh_recheck *r = dh_recheck_look(t, addr, count, mask_of(p));
        if (dh_cells_equal(w, count, p->seen) < count)
            look_again(t, p);
        dh_recheck_end(r);
    }
}

void dh_pending_forget_seen(struct dh_thread *t)
{
    for (u32 i = 0; i < t->pending.n; i++)
        t->pending.reads[i].seen = DH_PENDING_LOOK;
}

void dh_pending_init(void)
{
    dh_pending_on = dh_runtime_has_membarrier() && !dh_sink_wants_all() && !dh_exception_on() &&
                    !dh_rules_on && !dh_period_on && !dh_alone_lard_spoken();
    ended = !dh_pending_on;
    if (ended)
        dh_exclusive_end_all();
}

void dh_pending_share(struct dh_thread *self)
{
    if (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
        dh_collect_quiesce(self);
}

void dh_pending_end(struct dh_thread *self)
{
    if (__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
        return;
    __atomic_store_n(&dh_pending_on, false, __ATOMIC_SEQ_CST);
    dh_collect_quiesce(self);
    dh_exclusive_end_all();
    __atomic_store_n(&ended, true, __ATOMIC_RELEASE);
}
