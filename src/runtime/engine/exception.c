/*
 * exception.c - data-race exceptions (LARD, section 2.1; docs/design/exceptions.md).
 *
 * A race is found inside the runtime, where locks may be held and signals are deferred; but a handler may do
 * anything, including never return. So the race is noted where it is found (dh_exception_note, from report.c)
 * and raised when the thread leaves the runtime: on the same stack, before the access, just like a deferred
 * signal.
 *
 * Invariants:
 * - An access that is raised is not recorded until it is known to be made: dh_exception_check looks before
 * the engine records. Deferred accesses (`put_off`) are recorded when the handler lets it continue. So an
 * access never made neither hides earlier ones nor races with later ones. Exceptions: atomic
 * operations, frees, and races that appear between the check and the record.
 * - Races that a handler runs into are reported, not raised. That a handler is running is known by a mark on
 * the shadow call stack: whichever way the handler is left, the stack is popped below the mark, and what is
 * pushed then overwrites it.
 */
#include "runtime/engine/exception.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/pool.h"
#include "base/sys.h"
#define DH_RACE 1
#pragma GCC visibility push(default)
#include "deadheat/race.h"
#pragma GCC visibility pop
#include "runtime/report/report.h"
#include "runtime/shadow/region.h"
#include "runtime/threads/context.h"
#include "runtime/threads/lockset.h"
#include "runtime/threads/scope.h"
#include "runtime/threads/sync.h"

enum { PUT_OFF_MAX = 4, REPORTED_MAX = 16 };

/* A race waiting to be raised; from the pool. */
struct raise {
    struct dh_race_record record;
    struct put_off {
        uptr addr;
        size_t size;
        u32 kind;
        const void *pc;
    } put_off[PUT_OFF_MAX];
    u32 put_off_n;
    dh_id_t reported[REPORTED_MAX]; /* ids of earlier accesses that the first deferred access was reported to
                                       race with */
    u32 n_reported;
    bool unwinds; /* the access is in code that can be unwound */
};

/* Per kernel thread. */
static _Thread_local struct {
    struct raise *waiting;
    const struct raise *again;        /* its first access is being recorded */
    const struct dh_publish *learned; /* what an atomic operation would acquire before it is recorded */
    dh_id_t passed[REPORTED_MAX]; /* like raise.reported, for an atomic operation or a free that continues */
    u32 passed_n;
    const struct dh_race_record *current; /* valid while mark is on the shadow stack */
    const struct dh_frame *mark;
    bool checking;
    bool unwinds; /* likewise for what is being checked now */
    void *base[5];
    struct dh_frame *base_sp;
    bool has_base;
} own __attribute__((tls_model("initial-exec")));

/* The program's handler; from the pool and never freed, since it may be running. Atomic. */
static const struct asked {
    dh_race_handler *handler;
    void *arg;
} *asked;

typedef void thrower(const struct dh_race_record *race, int (*is_caught)(void *object));
static thrower *lent; /* atomic; NULL: the program expects no exception of ours */

/* ---- Noting ---- */

static bool is_in_handler(const struct dh_thread *t)
{
    return own.mark && own.mark >= t->frames && own.mark < __dh_hot.sp &&
           own.mark->pc == (const void *)dh_exception_deliver;
}

static void describe_thread(dh_uid_t uid, struct dh_race_access *to)
{
    to->thread = dh_uid_raw(uid);
    dh_lock_take(&dh_threads_lock);
    const struct dh_thread_info *info = dh_thread_info(uid);
    if (info) {
        to->tid = info->tid;
        memcpy(to->thread_name, info->name, sizeof(info->name));
    }
    dh_lock_drop(&dh_threads_lock);
}

static void describe(dh_id_t id, uptr addr, size_t size, struct dh_race_access *to)
{
    const struct dh_access_rec r = dh_id_get(id);
    to->kind = r.kind & DH_FREE ? DH_RACE_FREE : r.kind & DH_WRITE ? DH_RACE_WRITE : DH_RACE_READ;
    to->atomic = (r.kind & DH_ATOMIC) != 0;
    to->address = addr;
    to->size = size;
    describe_thread(r.uid, to);
    for (dh_ctx_t ctx = r.ctx; !dh_ctx_is_none(ctx); ctx = dh_ctx_node(ctx)->parent) {
        if (to->depth < DH_RACE_FRAMES)
            to->stack[to->depth] = (const void *)(uptr)dh_ctx_node(ctx)->pc;
        to->depth++;
    }
    for (dh_lockset_t s = r.lockset; dh_lockset_is_listed(s); s = dh_lockset_node(s)->parent) {
        if (to->held < DH_RACE_LOCKS)
            to->locks[to->held] = (struct dh_race_lock){.address = dh_lockset_node(s)->lock,
                                                        .shared = dh_lockset_node(s)->read};
        to->held++;
    }
}

void dh_exception_note(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size, u32 number)
{
    struct raise *w = own.waiting;
    if (own.again || is_in_handler(a->t))
        return;
    if (w) { /* one access may race with several; the first is raised */
        if (own.checking && w->n_reported < REPORTED_MAX && !w->put_off_n)
            w->reported[w->n_reported++] = id;
        return;
    }
    w = dh_pool_alloc(sizeof(*w));
    if (!w) {
        dh_runtime_count(DH_COUNT_LOST_MEMORY);
        return;
    }
    w->record.record_size = sizeof(w->record);
    w->record.number = number;
    w->record.late = !own.checking && (a->kind & (DH_ATOMIC | DH_FREE));
    if (a->piece)
        describe(a->id, addr & ~(uptr)(a->piece - 1), a->piece, &w->record.second);
    else
        describe(a->id, a->addr, a->size, &w->record.second);
    describe(id, addr, size, &w->record.first);
    w->reported[w->n_reported++] = id;
    w->unwinds = own.unwinds;
    own.waiting = w;
    a->t->want_raise = true;
}

static bool is_among(const dh_id_t *ids, u32 n, dh_id_t id)
{
    while (n > 0 && !dh_id_eq(ids[n - 1], id))
        n--;
    return n > 0;
}

static bool knows(const struct dh_publish *p, dh_id_t id)
{
    const dh_slot_t slot = dh_id_slot(id);
    u32 clock = dh_id_clock(id);
    return p->snap && ((dh_slot_eq(p->slot, slot) && p->clock >= clock) ||
                       (dh_slot_raw(slot) < p->snap->n && *dh_snap_at(p->snap, slot) >= clock));
}

bool dh_exception_reported(const struct dh_access_now *a, dh_id_t earlier)
{
    if (own.again && is_among(own.again->reported, own.again->n_reported, earlier))
        return true;
    if (own.learned && knows(own.learned, earlier))
        return true;
    return (a->kind & (DH_ATOMIC | DH_FREE)) && is_among(own.passed, own.passed_n, earlier);
}

void dh_exception_unwinds(bool unwinds)
{
    own.unwinds = unwinds;
}

void dh_exception_late(void)
{
    if (own.waiting)
        own.waiting->record.late = 1;
}

/* ---- Checking first ---- */

/* One word: check the write plane, and for a write the read planes too. *seen: the cells of the previous
 * word, which need not be checked twice. */
static void look(const struct dh_access_now *a, uptr word, dh_mask_t mask, dh_cell_t seen[DH_PLANES])
{
    u32 planes = 1u << DH_NTH_WRITE;
    if (a->kind & DH_WRITE)
        planes |= dh_engine_readers(a->t, word) | 1u << a->t->class;
    for (u32 rest = planes; rest; rest &= rest - 1) {
        u32 plane = (u32)__builtin_ctz(rest);
        const dh_cell_t *p = dh_shadow_nth(word, plane);
        struct dh_bytes bytes;
        dh_cell_t cell = dh_cell_load(p);
        while (dh_cell_is_split(cell) && !dh_split_read(p, cell, &bytes))
            cell = dh_cell_load(p);
        if (dh_cell_is_split(cell))
            dh_step_check_bytes(a, word, &bytes, mask);
        else if (!dh_cell_eq(cell, seen[plane]) && !dh_step_ordered(a->t, cell))
            dh_step_check(a, word, cell, mask);
        seen[plane] = dh_mask_is_full(mask) ? cell : DH_CELL_NONE;
    }
}

static bool races(const struct dh_access_now *a)
{
    uptr end = a->addr + a->size;
    dh_cell_t seen[DH_PLANES] = {0};
    own.checking = true;
    for (uptr word = a->addr & ~(uptr)3; word < end; word += 4) {
        look(a, word, dh_mask_within(word, a->addr, end), seen);
    }
    own.checking = false;
    return own.waiting != NULL;
}

/* When the first access of a call is deferred, so are the later ones: memcpy reads, then writes. */
bool dh_exception_check(const struct dh_access_now *a)
{
    if (own.again || (a->kind & (DH_ATOMIC | DH_FREE)) || is_in_handler(a->t))
        return false;
    if (!own.waiting && !races(a))
        return false;
    struct raise *w = own.waiting;
    if (w->put_off_n == PUT_OFF_MAX)
        return false;
    w->put_off[w->put_off_n++] = (struct put_off){a->addr, a->size, a->kind,
                                                  (const void *)(uptr)dh_ctx_node(dh_id_get(a->id).ctx)->pc};
    return true;
}

void dh_exception_before_atomic(const volatile void *p, u32 size, u32 order, u32 kind, const void *pc)
{
    struct dh_thread *t = __dh_hot.self;
    bool reads = kind == DH_ATOMIC_LOAD || kind == DH_ATOMIC_CAS_FAILED;
    bool acquires = kind != DH_ATOMIC_STORE && order != DH_RELAXED && order != DH_RELEASE;
    struct dh_access_now a = {
        .t = t, .addr = (uptr)p, .size = size, .kind = DH_ATOMIC | (reads ? DH_READ : DH_WRITE)};
    own.passed_n = 0;
    if (!t || dh_runtime_off || is_in_handler(t) || !dh_thread_enter(t))
        return;
    struct dh_sync *object = acquires && !t->unordered ? dh_sync_take(NULL, a.addr, false) : NULL;
    own.learned = object ? &object->write : NULL;
    if (dh_step_identify(&a, pc))
        races(&a);
    own.learned = NULL;
    if (object)
        dh_sync_drop(object);
    dh_thread_leave(t);
}

void dh_exception_before_free(void *p, const void *pc)
{
    struct dh_thread *t = __dh_hot.self;
    struct dh_heap_block block;
    struct dh_scope sc;
    own.passed_n = 0;
    if (!t || dh_runtime_off || t->untracked || is_in_handler(t) || !dh_scope_begin(&sc, pc))
        return;
    if (dh_heap_find((uptr)p, &block) && block.start == (uptr)p && !block.freed &&
        dh_region_map(p, block.size)) {
        struct dh_access_now a = {
            .t = t, .addr = block.start, .size = block.size, .kind = DH_WRITE | DH_FREE | DH_RANGE};
        if (dh_step_identify(&a, NULL))
            races(&a);
    }
    dh_scope_end(&sc);
}

/* ---- Raising ---- */

static int is_caught(void *object)
{
    return dh_unwind_try(object) == DH_UNWIND_CAUGHT;
}

static _Noreturn void end_process(struct dh_thread *t)
{
    t->in_rt = 1;
    dh_report_finish();
    dh_sys_say("stopped at a data race, before its second access (on_race=exception)");
    dh_sys_abort();
}

/* Does the signal end the process? Then this is the last chance to report what was found. */
static bool is_deadly(int sig)
{
    struct sigaction now;
    return dh_signal_action(sig, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}

static void send_signal(struct dh_thread *t, const struct dh_race_record *race)
{
    int sig = dh_opts.race_signal;
    siginfo_t info = {.si_signo = sig};
    info.si_code = TRAP_HWBKPT; /* as for a watchpoint: si_addr is the address of the data */
    info.si_addr = (void *)race->second.address;
    if (is_deadly(sig)) {
        t->in_rt = 1;
        dh_report_finish();
        t->in_rt = 0;
    }
    dh_sys6(SYS_rt_tgsigqueueinfo, dh_sys3(SYS_getpid, 0, 0, 0), dh_sys_gettid(), sig, (long)&info, 0, 0);
}

/* By unwinding, so that cleanup handlers and destructors run; if a frame in between forbids that, by a jump
 * past all of them. */
static _Noreturn void end_thread(struct dh_thread *t)
{
    if (dh_unwind_try_exit() != DH_UNWIND_TERMINATES)
        pthread_exit(PTHREAD_CANCELED);
    if (!own.has_base) {
        dh_sys_say("the thread cannot be unwound, and the process would not outlive it otherwise");
        end_process(t);
    }
    __dh_hot.sp = own.base_sp;
    __builtin_longjmp(own.base, 1);
}

static enum dh_race_action by_option(void)
{
    static const u8 actions[] = {[DH_ACTION_THROW] = DH_RACE_THROW,
                                 [DH_ACTION_SIGNAL] = DH_RACE_SIGNAL,
                                 [DH_ACTION_CONTINUE] = DH_RACE_CONTINUE,
                                 [DH_ACTION_THREAD] = DH_RACE_ABORT_THREAD,
                                 [DH_ACTION_ABORT] = DH_RACE_ABORT};
    return (enum dh_race_action)actions[dh_opts.race_action];
}

/* Returns if the thread continues. */
static void act(struct dh_thread *t, const struct dh_race_record *race, bool unwinds)
{
    const struct asked *a = __atomic_load_n(&asked, __ATOMIC_ACQUIRE);
    enum dh_race_action todo = a && a->handler ? a->handler(race, a->arg) : DH_RACE_DEFAULT;
    thrower *throw_it = __atomic_load_n(&lent, __ATOMIC_ACQUIRE);
    if (todo == DH_RACE_DEFAULT)
        todo = by_option();
    if (todo == DH_RACE_THROW && unwinds && throw_it)
        throw_it(race, is_caught);
    if (todo == DH_RACE_THROW || todo == DH_RACE_SIGNAL)
        send_signal(t, race);
    if (todo == DH_RACE_ABORT_THREAD)
        end_thread(t);
    if (todo == DH_RACE_ABORT)
        end_process(t);
}

/* The access is made: record it, and what was deferred with it. The latter may be raised in turn. */
static void go_on(const struct raise *r)
{
    if (!r->put_off_n) { /* the caller of the check records it next */
        own.passed_n = r->n_reported;
        for (u32 i = 0; i < r->n_reported; i++)
            own.passed[i] = r->reported[i];
    }
    for (u32 i = 0; i < r->put_off_n; i++) {
        const struct put_off *a = &r->put_off[i];
        struct dh_thread *t = __dh_hot.self;
        if (!t || !dh_thread_enter(t))
            return;
        own.again = i == 0 ? r : NULL;
        dh_range_access(t, (const void *)a->addr, a->size, a->kind, a->pc);
        own.again = NULL;
        dh_thread_leave(t);
    }
}

void dh_exception_deliver(struct dh_thread *t)
{
    int e = errno;
    struct raise r;
    struct dh_frame *f = __dh_hot.sp;
    t->want_raise = own.unwinds = false;
    if (!own.waiting)
        return;
    t->in_rt = 1; /* the copy may compile to a call of memcpy, which is intercepted */
    r = *own.waiting;
    dh_pool_free(own.waiting, sizeof(r));
    own.waiting = NULL;
    t->in_rt = 0;
    if (f < __dh_hot.limit) { /* else there is no room for the mark that keeps this from recursing */
        dh_runtime_count(r.record.late ? DH_COUNT_RAISED_LATE : DH_COUNT_RAISED);
        *f = (struct dh_frame){.pc = (const void *)dh_exception_deliver};
        own.mark = f;
        own.current = &r.record;
        __dh_hot.sp = f + 1;
        act(t, &r.record, r.unwinds);
        own.mark = NULL;
        own.current = NULL;
        __dh_hot.sp = f;
    }
    go_on(&r);
    errno = e;
}

void *dh_exception_base(void *(*routine)(void *), void *arg)
{
    own.base_sp = __dh_hot.sp;
    if (__builtin_setjmp(own.base) != 0)
        return PTHREAD_CANCELED;
    own.has_base = true;
    void *result = routine(arg);
    own.has_base = false; /* also prevents a tail call, which would remove the frame */
    return result;
}

/* ---- What the program calls ---- */

dh_race_handler *dh_on_race(dh_race_handler *handler, void *arg)
{
    struct dh_thread *t = __dh_hot.self;
    bool entered = t && dh_thread_enter_any(t);
    struct asked *fresh = dh_pool_alloc(sizeof(*fresh));
    if (entered)
        dh_thread_leave(t);
    if (!fresh)
        return NULL;
    fresh->handler = handler;
    fresh->arg = arg;
    const struct asked *old = __atomic_exchange_n(&asked, fresh, __ATOMIC_ACQ_REL);
    return old ? old->handler : NULL;
}

const struct dh_race_record *dh_race_current(void)
{
    const struct dh_thread *t = __dh_hot.self;
    return t && is_in_handler(t) ? own.current : NULL;
}

DH_EXPORT int dh_race_lend_thrower(thrower *f);
DH_EXPORT int dh_race_lend_thrower(thrower *f)
{
    __atomic_store_n(&lent, f, __ATOMIC_RELEASE);
    return 1;
}
