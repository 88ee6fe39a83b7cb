/*
 * trap.c - what a thread does at a breakpoint: RaceChaser's collision of two accesses (Caper and RaceChaser,
 * CC 2017, section 4.1), by the protocol of base/control.h.
 *
 * Runs in the handler of SIGILL, or SIGTRAP for watchpoints, with all signals blocked. Whatever the state,
 * the thread then executes its instruction out of line: the breakpoint may still be there or have been set
 * again, and returning to it might never end. So handling a trap never depends on whether the site is armed
 * at that moment, and code may be changed while threads run it.
 */
#include <errno.h>
#include <linux/futex.h>
#include <time.h>
#include <ucontext.h>

#include "base/sys.h"
#include "field/agent.h"
#include "field/deaths.h"
#include "field/excess.h"
#include "field/field.h"
#include "field/track.h"

/* How long, at most, a thread whose stack is being copied waits for the command before it continues
 * anyway. */
enum { SHOWN_US = 10000000 };

/* What a wait needs on the thread's stack, below the kernel's part: at most 632 bytes were measured. */
enum { ROOM = 1024 };

/* ---- Addresses ---- */

static const u8 gregs_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

static u64 value_of(const ucontext_t *uc, const struct dh_control_site *site, u8 reg)
{
    if (reg == DH_CONTROL_NONE)
        return 0;
    if (reg == DH_CONTROL_RIP)
        return site->pc + site->length;
    return (u64)uc->uc_mcontext.gregs[gregs_of[reg & 15]];
}

/* The first word of a thread's segment is its own address. */
static u64 own_segment(void)
{
    u64 base;
    __asm__("movq %%fs:0, %0" : "=r"(base));
    return base;
}

static struct dh_control_span span_of(const ucontext_t *uc, const struct dh_control_site *site,
                                      const struct dh_control_operand *o)
{
    const u64 backwards = 1 << 10; /* the direction flag */
    u64 at = value_of(uc, site, o->base) + value_of(uc, site, o->index) * o->scale + (u64)o->displacement;
    if (o->flags & DH_CONTROL_ADDR32)
        at = (u32)at;
    if (o->flags & DH_CONTROL_FS)
        at += own_segment();
    u64 size = o->size;
    if (o->flags & (DH_CONTROL_REPEAT | DH_CONTROL_AT_MOST)) {
        u64 times = value_of(uc, site, o->flags & DH_CONTROL_BY_RDX ? DH_CONTROL_RDX : DH_CONTROL_RCX);
        if (o->flags & DH_CONTROL_AT_MOST && times > 1)
            times = 1;
        if (times > 1 && (u64)uc->uc_mcontext.gregs[REG_EFL] & backwards)
            at -= (times - 1) * size;
        size *= times;
    }
    return (struct dh_control_span){at, size, o->kind};
}

static void describe_registers(const ucontext_t *uc, struct dh_control_access *ret)
{
    ret->time_us = dh_sys_now_us();
    ret->tid = (u32)dh_sys_gettid();
    for (u32 i = 0; i < 16; i++)
        ret->registers[i] = (u64)uc->uc_mcontext.gregs[gregs_of[i]];
}

static void describe(const ucontext_t *uc, const struct dh_control *c, const struct dh_control_site *site,
                     struct dh_control_access *ret)
{
    describe_registers(uc, ret);
    ret->registers[16] = site->pc;
    ret->site = (u32)(site - c->sites);
    ret->n_spans = site->n_operands;
    ret->met = 0;
    for (u32 i = 0; i < site->n_operands; i++)
        ret->spans[i] = span_of(uc, site, &site->operands[i]);
}

/* On an alternate stack the kernel has only made sure of its own part. */
static bool has_room(const ucontext_t *uc)
{
    const stack_t *s = &uc->uc_stack; /* of size 0 if there is none */
    const u64 left = (u64)(uptr)__builtin_frame_address(0) - (u64)(uptr)s->ss_sp;
    return left >= s->ss_size || left >= ROOM;
}

/* ---- Meeting ---- */

static bool overlap(const struct dh_control_span *a, const struct dh_control_span *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* At the second side, while a window is open. */
static void note_seen(struct dh_control *c, u32 site, u8 what)
{
    if (!(__atomic_load_n(&c->seen[site], __ATOMIC_RELAXED) & what))
        __atomic_fetch_or(&c->seen[site], what, __ATOMIC_RELAXED);
}

/* Would the two accesses race? *first->met and *second->met say on which bytes. */
static bool conflict(struct dh_control *c, struct dh_control_access *second, u32 *ret_met)
{
    const struct dh_control_access *first = &c->first;
    bool atomic = c->sites[first->site].atomic && c->sites[second->site].atomic, harmless = false;
    for (u32 i = 0; i < first->n_spans; i++) {
        for (u32 k = 0; k < second->n_spans; k++) {
            if (!overlap(&first->spans[i], &second->spans[k]))
                continue;
            if (!atomic && (first->spans[i].kind | second->spans[k].kind) & DH_CONTROL_WRITE) {
                *ret_met = i;
                second->met = k;
                return true;
            }
            harmless = true;
        }
    }
    if (harmless)
        __atomic_fetch_add(&c->harmless, 1, __ATOMIC_RELAXED);
    note_seen(c, second->site, harmless ? DH_CONTROL_SEEN_SAME : DH_CONTROL_SEEN_OTHER);
    return false;
}

/* Does the command know of this access already, so that nobody need wait for it? */
static bool may_pass(const struct dh_control *c, u64 pc)
{
    u32 n = __atomic_load_n(&c->n_passed, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < n && i < DH_CONTROL_PASSED; i++)
        if (c->passed[i] == pc)
            return true;
    return false;
}

/* ---- The state word shared by both sides ---- */

static u32 load_state(struct dh_control *c)
{
    return __atomic_load_n(&c->state, __ATOMIC_ACQUIRE);
}

static u32 in_phase(u32 state, u32 phase)
{
    return (state & ~(u32)DH_CONTROL_PHASE) | phase;
}

static void wake(struct dh_control *c)
{
    dh_sys6(SYS_futex, (long)&c->state, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
}

/* From exactly `from` to another phase of the same generation. */
static bool move(struct dh_control *c, u32 from, u32 phase)
{
    if (!__atomic_compare_exchange_n(&c->state, &from, in_phase(from, phase), false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return false;
    wake(c);
    return true;
}

/* Sleeps until the word is no longer `seen`, or this time has come; may return early. */
static void sleep_on(struct dh_control *c, u32 seen, u64 until_us)
{
    u64 now = dh_sys_now_us(), left = until_us > now ? until_us - now : 0;
    struct timespec t = {(time_t)(left / 1000000), (long)(left % 1000000 * 1000)};
    if (left)
        dh_sys6(SYS_futex, (long)&c->state, FUTEX_WAIT, seen, (long)&t, 0, 0);
}

/* Limits until_us to most_us from now. */
static u64 within(u64 until_us, u64 most_us)
{
    u64 most = dh_sys_now_us() + dh_field_agent_bound(most_us);
    return until_us < most ? until_us : most;
}

static bool is_same_generation(u32 a, u32 b)
{
    return in_phase(a, 0) == in_phase(b, 0);
}

/* Waits until the command has moved on to another generation. False: it has not, by then. */
static bool wait_for_command(struct dh_control *c, u32 mine, u64 until_us)
{
    for (;;) {
        u32 seen = load_state(c);
        if (!is_same_generation(seen, mine))
            return true;
        if (dh_sys_now_us() >= until_us)
            return false;
        sleep_on(c, seen, until_us);
    }
}

/* When the window's grant is used up. */
static u64 end_of_grant(const struct dh_control *c)
{
    return c->first.time_us + c->grant_us;
}

/* Other threads' traps overlap with a wait until then, and after that the command is late. */
static void expect_by(struct dh_control *c, u64 due_us)
{
    __atomic_store_n(&c->due_us, due_us, __ATOMIC_RELEASE);
}

/* The same for one of two threads that have met, and when its time was over. Without its stack, the race can
 * still be reported. */
static bool wait_to_be_shown(struct dh_control *c, u32 mine, u32 who, u64 *ret_until)
{
    u64 least = dh_sys_now_us() + c->patience_us, until = end_of_grant(c);
    *ret_until = within(until > least ? until : least, SHOWN_US);
    if (who == DH_CONTROL_GONE_SECOND)
        expect_by(c, *ret_until);
    if (wait_for_command(c, mine, *ret_until))
        return true;
    u32 before = __atomic_load_n(&c->gone, __ATOMIC_RELAXED), after;
    do
        after = (is_same_generation(before, mine) ? before : in_phase(mine, 0)) | who;
    while (!__atomic_compare_exchange_n(&c->gone, &before, after, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return false;
}

/* The second thread to come. */
static void show_second(struct dh_control *c, u32 mine)
{
    u64 until;
    if (!wait_to_be_shown(c, mine, DH_CONTROL_GONE_SECOND, &until))
        __atomic_store_n(&c->gone_us, until, __ATOMIC_RELEASE);
}

/* Steering: the thread at the first side resumes when the other's access has been made. Without a breakpoint
 * after that access, there would be no way to tell. */
static void wait_for_second(struct dh_control *c)
{
    if (c->second.site < c->n_sites && !c->sites[c->second.site].behind) {
        __atomic_store_n(&c->waived, 1, __ATOMIC_RELEASE);
        return;
    }
    const u64 start = dh_sys_now_us(), until = within(end_of_grant(c), c->hold_us);
    for (u64 now = start; !__atomic_load_n(&c->made, __ATOMIC_ACQUIRE); now = dh_sys_now_us()) {
        if (now >= until) {
            __atomic_store_n(&c->waived, 1, __ATOMIC_RELEASE);
            break;
        }
        struct timespec t = {(time_t)((until - now) / 1000000), (long)((until - now) % 1000000 * 1000)};
        dh_sys6(SYS_futex, (long)&c->made, FUTEX_WAIT, 0, (long)&t, 0, 0);
    }
    u64 now = dh_sys_now_us();
    __atomic_store_n(&c->held_us,
                     now < until     ? now - start
                     : until > start ? until - start
                                     : 0,
                     __ATOMIC_RELEASE);
}

/* Has this thread, which was at the first side, been met there? It may not wake until the command has moved
 * on to another generation, and then the state word no longer tells. After a meeting no other thread is
 * first. */
static bool was_met(struct dh_control *c)
{
    return c->second.tid && c->first.tid == (u32)dh_sys_gettid();
}

static const struct dh_control_site *find_behind(const struct dh_control *c, u64 pc)
{
    for (int r = 0; r < DH_CONTROL_REGIONS; r++) {
        u64 i = (pc - c->regions[r]) / DH_CONTROL_SLOT;
        if (i < c->n_sites && c->sites[i].behind == pc)
            return &c->sites[i];
    }
    return NULL;
}

/* Is the thread at the breakpoint after an access, in its slot? The code that follows returns to the
 * program. */
static bool go_behind_access(struct dh_control *c, ucontext_t *uc, u64 pc)
{
    const struct dh_control_site *site = find_behind(c, pc);
    if (!site)
        return false;
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)pc + 1;
    if (!dh_field_is_original())
        return true;
    if (site->order) {
        __atomic_fetch_add(&c->traps, 1, __ATOMIC_RELAXED);
        dh_field_track_made();
    }
    if (c->hold_us && site->sides & DH_CONTROL_SECOND &&
        (u32)dh_sys_gettid() == __atomic_load_n(&c->second.tid, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&c->made, 1, __ATOMIC_RELEASE);
        dh_sys6(SYS_futex, (long)&c->made, FUTEX_WAKE, INT32_MAX, 0, 0, 0);
    }
    return true;
}

/* Another thread was shown, and this one, which was at the first side then, has to wait on. Later windows are
 * kept for other threads: the number differs by then. */
static bool is_kept(struct dh_control *c, u32 seen)
{
    return __atomic_load_n(&c->kept, __ATOMIC_ACQUIRE) == in_phase(seen, 0) &&
           c->first.tid == (u32)dh_sys_gettid();
}

/* The thread at the first side: how long it may wait, and how late it was. */
struct waiting {
    u32 mine; /* the generation */
    u64 until;
    u64 late;
};

/* Its time was over before this moment: since then it was runnable, and had no processor. */
static void note_late(struct dh_control *c, struct waiting *w, u64 now)
{
    w->late += now > w->until ? now - w->until : 0;
    __atomic_store_n(&c->late, (u64)in_phase(w->mine, 0) << 32 | (u32)w->late, __ATOMIC_RELEASE);
}

/* The processor time of this thread. */
static u64 own_us(void)
{
    struct timespec t = {0};
    dh_sys3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&t, 0);
    return (u64)t.tv_sec * 1000000 + (u64)t.tv_nsec / 1000;
}

/* Resumes while the window is still open. */
static void leave(struct dh_control *c)
{
    __atomic_store_n(&c->left_traps, __atomic_load_n(&c->traps, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    __atomic_store_n(&c->left_us, dh_sys_now_us(), __ATOMIC_RELEASE);
}

/* The delay is over: the command ends the window, or else the thread resumes by itself. */
static void wait_for_end(struct dh_control *c, struct waiting *w)
{
    w->until = within(UINT64_MAX, c->patience_us);
    if (wait_for_command(c, w->mine, w->until))
        return;
    note_late(c, w, dh_sys_now_us());
    leave(c);
}

/* At the first side, which this thread has claimed. */
static void hold(struct dh_control *c, const struct dh_control_site *site, const ucontext_t *uc, u32 mine)
{
    describe(uc, c, site, &c->first);
    struct waiting w = {mine, c->first.time_us, 0};
    bool watched = false;
    note_late(c, &w, dh_sys_now_us()); /* it may have lost its processor before it could wait */
    w.until = within(UINT64_MAX, c->patience_us);
    expect_by(c, c->first.time_us + 2 * c->patience_us);
    move(c, in_phase(mine, DH_CONTROL_CLAIMED), DH_CONTROL_HELD);
    for (;;) {
        u32 seen = load_state(c), phase = seen & DH_CONTROL_PHASE;
        if (!is_same_generation(seen, w.mine) && is_kept(c, seen)) {
            w.mine = seen;
            watched = false;
            continue;
        }
        if (!is_same_generation(seen, w.mine)) {
            if (c->hold_us && was_met(c))
                wait_for_second(c);
            return;
        }
        if (phase == DH_CONTROL_EXPIRED) {
            wait_for_end(c, &w);
            return;
        }
        if (phase == DH_CONTROL_MET || phase == DH_CONTROL_SHOWN) {
            note_late(c, &w, dh_sys_now_us()); /* its time may have been over before the other came */
            if (wait_to_be_shown(c, w.mine, DH_CONTROL_GONE_FIRST, &w.until))
                continue;
            note_late(c, &w, dh_sys_now_us());
            leave(c);
            if (c->hold_us)
                wait_for_second(c);
            return;
        }
        if (phase == DH_CONTROL_TRACKED) {
            const u64 before = own_us();
            note_late(c, &w, c->attended_us);
            dh_field_track_begin(c);
            w.until = c->attended_us + own_us() - before;
            note_late(c, &w, dh_sys_now_us());
            leave(c);
            return;
        }
        if (phase == DH_CONTROL_WATCHED && !watched) {
            watched = true;
            note_late(c, &w, c->attended_us);
            w.until = within(c->until_us, c->delay_us);
        }
        if (dh_sys_now_us() < w.until) {
            sleep_on(c, seen, w.until);
            continue;
        }
        note_late(c, &w, dh_sys_now_us());
        w.until = dh_sys_now_us(); /* so that it is counted once */
        move(c, seen, DH_CONTROL_EXPIRED);
    }
}

/* Is this thread's next access ordered after the tracked one? */
static bool is_ordered(struct dh_control *c, u32 seen)
{
    return (seen & DH_CONTROL_PHASE) == DH_CONTROL_TRACKED && dh_field_track_is_ordered(c);
}

static void show_meeting(struct dh_control *c, u32 seen)
{
    if (dh_field_agent_rules() || c->hold_us)
        dh_field_deaths_note(); /* it will be asked what came of this */
    move(c, in_phase(seen, DH_CONTROL_MET), DH_CONTROL_SHOWN);
    show_second(c, seen);
}

/* At the second side, while another thread waits at the first or is tracked from there. */
static void compare(struct dh_control *c, const struct dh_control_site *site, const ucontext_t *uc, u32 seen)
{
    struct dh_control_access here;
    u32 met = 0;
    describe(uc, c, site, &here);
    if (here.tid == c->first.tid)
        note_seen(c, here.site, DH_CONTROL_SEEN_SELF);
    if (here.tid == c->first.tid || !conflict(c, &here, &met))
        return;
    if (is_ordered(c, seen)) {
        note_seen(c, here.site, DH_CONTROL_SEEN_SAME);
        if (!__atomic_load_n(&c->lost, __ATOMIC_ACQUIRE)) /* if tracking was lost, it is only assumed */
            __atomic_fetch_add(&c->ordered, 1, __ATOMIC_RELAXED);
        return;
    }
    if (may_pass(c, site->pc) || !move(c, seen, DH_CONTROL_MET))
        return;
    c->first.met = met;
    c->second = here;
    show_meeting(c, seen);
}

/* ---- Watchpoints ---- */

enum { CODE_PERF = 6, PERF_DATA_AT = 24 }; /* TRAP_PERF and si_perf_data, which glibc does not know yet */

/* A hardware watchpoint of ours was hit, after the access. False: it is not ours. */
static bool on_watch(struct dh_control *c, const siginfo_t *info, const ucontext_t *uc)
{
    u64 data = *(const u64 *)((const char *)info + PERF_DATA_AT);
    if ((data & DH_CONTROL_WATCH_MASK) != DH_CONTROL_WATCH)
        return false;
    __atomic_fetch_add(&c->traps, 1, __ATOMIC_RELAXED);
    u32 seen = load_state(c), phase = seen & DH_CONTROL_PHASE;
    if ((phase != DH_CONTROL_HELD && phase != DH_CONTROL_WATCHED) ||
        (data & ~DH_CONTROL_WATCH_MASK) != __atomic_load_n(&c->watching, __ATOMIC_ACQUIRE) ||
        may_pass(c, (u64)uc->uc_mcontext.gregs[REG_RIP]) || !has_room(uc) || !move(c, seen, DH_CONTROL_MET))
        return true;
    c->first.met = 0;
    describe_registers(uc, &c->second);
    c->second.registers[16] = (u64)uc->uc_mcontext.gregs[REG_RIP];
    c->second.site = DH_CONTROL_NOWHERE;
    c->second.met = 0;
    c->second.n_spans = 1;
    c->second.spans[0] = (struct dh_control_span){.address = (u64)(uptr)info->si_addr};
    show_meeting(c, seen);
    return true;
}

/* ---- The trap ---- */

static const struct dh_control_site *find(const struct dh_control *c, u64 pc)
{
    u32 number = dh_control_find(c, pc);
    return number == DH_CONTROL_NOWHERE ? NULL : &c->sites[number];
}

bool dh_field_trap(int number, const siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    struct dh_control *c = __atomic_load_n(&dh_field_control, __ATOMIC_ACQUIRE);
    if (c && number == SIGTRAP && info->si_code == CODE_PERF)
        return on_watch(c, info, uc);
    if (!c || number != SIGILL || info->si_code <= 0)
        return false;
    const u64 pc = (u64)uc->uc_mcontext.gregs[REG_RIP];
    const struct dh_control_site *site = find(c, pc);
    if (!site)
        return go_behind_access(c, uc, pc);
    if (dh_field_is_original() && dh_field_agent_allows(c, site) && !dh_field_agent_is_gone(c)) {
        u32 seen = load_state(c), phase = has_room(uc) ? seen & DH_CONTROL_PHASE : (u32)DH_CONTROL_OFF;
        __atomic_fetch_add(&c->traps, 1, __ATOMIC_RELAXED);
        if (has_room(uc))
            dh_field_excess_count(c);
        if (phase == DH_CONTROL_OPEN && site->sides & DH_CONTROL_FIRST) {
            if (move(c, seen, DH_CONTROL_CLAIMED))
                hold(c, site, uc, seen);
        } else if ((phase == DH_CONTROL_HELD || phase == DH_CONTROL_WATCHED || phase == DH_CONTROL_TRACKED) &&
                   site->sides & DH_CONTROL_SECOND) {
            compare(c, site, uc, seen);
        }
        if (site->order)
            dh_field_track_atomic(site->order, span_of(uc, site, &site->operands[0]).address);
    }
    uc->uc_mcontext.gregs[REG_RIP] = (greg_t)site->out_of_line;
    return true;
}
