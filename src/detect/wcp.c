/*
 * wcp.c - weak causal precedence: an order weaker than happens-before, by vector clocks in one pass.
 *
 * Paper: Kini, Mathur, Viswanathan, "Dynamic Race Prediction in Linear Time", PLDI 2017.
 *
 * The order is the smallest with (a) a release before each later access, in a section of the same lock, that
 * conflicts with an access in the section it ends; (b) of two sections of a lock by two threads, the release
 * of the first before that of the second if something in the first is ordered before something in the second;
 * (c) it may be continued by happens-before on either side. Fork and join belong to the order. Two
 * conflicting accesses that it does not order are a race.
 *
 * Guarantee: predictive-sound for the first race only: if there is a report, the trace has a predictable race
 * or a predictable deadlock. A later report may be an artefact. No report has a witness of its own: that
 * needs the trace, which this detector does not keep. `analyze` looks for one in a second reading
 * (confirm.h).
 *
 * How: h is what happened before a thread's next event, p what is weakly ordered before it.
 *
 * Departures: none from the definition. From the published tool: own earlier sections are not taken for those
 * of others, and accesses in a section that never ends are ordered by (a), since that is
 * done at the access. The queue of a lock is one for all threads, tidied as they advance, and never longer
 * than DH_WCP_QUEUE_MAX: beyond it old entries are merged, which orders more (loses races, invents none).
 * What was done to a variable under a lock is forgotten when no thread has anything to learn from it. A
 * thread that appears late without having been forked is not ordered after what was tidied away or forgotten.
 * Synchronisation other than mutexes orders as fork and join do. Atomic accesses come in cells of their own
 * (companions.h) after the plain one was checked, so rule (a) between an atomic and a plain access in two
 * sections of a lock may come too late for other accesses of the variable.
 */
#include "detect/wcp.h"
#include "detect/wcp_marks.h"

enum { FORGET_FROM = 8 };

struct held {
    u32 lock;
    struct dh_wcp_section *section;
};

struct thread {
    struct dh_vc h;
    struct dh_vc p; /* own component: the clock, so that own accesses are never a race */
    u32 tid;
    u32 clock; /* own component of h; a new one after everything that tells others */
    u32 own; /* what the own component of p would be: own events that are ordered before through other threads
              */
    struct held *held;
    u32 n_held, cap_held;
    bool ended;
};

struct lock {
    struct dh_vc p; /* of the last release */
    struct dh_wcp_section *last;
    struct dh_wcp_queue queue;
    struct dh_vc told;    /* what was told through anything but a mutex, */
    struct dh_vc readers; /* and by readers of a lock */
    bool hard;            /* not, or no longer, used as a mutex only */
};

/* The last two sections of a lock, of two threads, that read or wrote the variable. */
struct accessed {
    struct dh_wcp_section *read[2];
    struct dh_wcp_section *written[2];
};

struct cell {
    struct dh_wcp_marks r, w;
    u32 *locks;                /* number of each lock that was held at an access, */
    struct accessed *accessed; /* and what it protected */
    u32 n, cap;
    u32 only; /* the one thread that accessed it, + 1; 0: none yet */
    bool shared;
};

static void thread_init(struct dh_detector *d, void *thread, u32 tid)
{
    struct thread *t = thread;
    t->tid = tid;
    t->clock = 1;
    dh_vc_set(d, &t->h, tid, t->clock);
    dh_vc_set(d, &t->p, tid, t->clock);
}

static void tick(struct dh_detector *d, struct thread *t)
{
    t->clock++;
    dh_vc_set(d, &t->h, t->tid, t->clock);
    dh_vc_set(d, &t->p, t->tid, t->clock);
}

/* All of v is weakly ordered before the thread from here on. */
static void order_after(struct dh_detector *d, struct thread *t, const struct dh_vc *v)
{
    u32 own = dh_vc_get(v, t->tid);
    if (own > t->own)
        t->own = own;
    dh_vc_join(d, &t->p, v);
}

static void order_after_section(struct dh_detector *d, struct thread *t, const struct dh_wcp_section *s)
{
    if (dh_vc_get(&t->p, s->thread) < s->rel)
        order_after(d, t, &s->h);
}

/* Order as strong as fork and join give it. */
static void learn(struct dh_detector *d, struct thread *t, const struct dh_vc *told)
{
    dh_vc_join(d, &t->h, told);
    order_after(d, t, told);
}

static void tell(struct dh_detector *d, struct thread *t, struct dh_vc *told)
{
    dh_vc_join(d, told, &t->h);
    tick(d, t);
}

static void fork_thread(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)e;
    struct thread *t = thread, *u = other;
    if (!u)
        return;
    learn(d, u, &t->h);
    u->ended = false;
    tick(d, t);
}

static void join_thread(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)e;
    struct thread *t = thread, *u = other;
    if (!u)
        return;
    learn(d, t, &u->h);
    u->ended = true;
    tick(d, u); /* its number may be forked again */
}

/* From now on this lock orders like fork and join; so does all that went before. */
static void harden(struct dh_detector *d, struct lock *l)
{
    l->hard = true;
    if (l->last)
        dh_vc_join(d, &l->told, &l->last->h);
}

static void acquire_hard(struct dh_detector *d, const struct dh_event *e, struct thread *t, struct lock *l)
{
    learn(d, t, &l->told);
    if (e->mode == DH_EXCLUSIVE)
        learn(d, t, &l->readers);
}

static void acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct thread *t = thread;
    struct lock *l = lock;
    if (DH_UNLIKELY(e->mode == DH_SHARED && !l->hard))
        harden(d, l);
    if (DH_UNLIKELY(l->hard)) {
        acquire_hard(d, e, t, l);
        return;
    }
    if (l->last && l->last->thread != t->tid) {
        if (dh_vc_get(&t->h, l->last->thread) < l->last->rel)
            dh_vc_join(d, &t->h, &l->last->h);
        order_after(d, t, &l->p);
    }
    if (t->n_held == t->cap_held &&
        !dh_mem_grow(&d->mem, (void **)&t->held, t->n_held, &t->cap_held, sizeof(*t->held))) {
        d->failed = true;
        return;
    }
    struct dh_wcp_section *s = dh_wcp_section_new(d, t->tid, t->clock);
    if (s)
        t->held[t->n_held++] = (struct held){.lock = e->target, .section = s};
}

static const struct dh_vc *knows(struct dh_detector *d, u32 tid)
{
    const struct thread *t = dh_detect_thread(d, tid);
    return !t || t->ended ? NULL : &t->p;
}

/* Takes the section of the lock from the thread's list; locks need not be released in order. */
static struct dh_wcp_section *take_held(struct thread *t, u32 lock)
{
    for (u32 i = t->n_held; i-- > 0;) {
        if (t->held[i].lock != lock)
            continue;
        struct dh_wcp_section *s = t->held[i].section;
        t->n_held--;
        for (; i < t->n_held; i++)
            t->held[i] = t->held[i + 1];
        return s;
    }
    return NULL;
}

static void release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct thread *t = thread;
    struct lock *l = lock;
    struct dh_wcp_section *s = take_held(t, e->target);
    if (!s) {
        tell(d, t, e->mode == DH_SHARED ? &l->readers : &l->told);
        return;
    }
    const struct dh_wcp_section *before = dh_wcp_queue_order(d, &l->queue, t->tid, &t->p);
    for (; before; before = dh_wcp_queue_order(d, &l->queue, t->tid, &t->p))
        order_after_section(d, t, before);
    s->rel = t->clock;
    dh_vc_copy(d, &s->h, &t->h);
    if (dh_vc_copy(d, &l->p, &t->p))
        dh_vc_set(d, &l->p, t->tid, t->own);
    s->refs++;
    dh_wcp_section_unref(d, l->last);
    l->last = s;
    dh_wcp_queue_push(d, &l->queue, s);
    dh_wcp_queue_tidy(d, &l->queue, knows);
    tick(d, t);
}

static void let_go(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)lock;
    dh_wcp_section_unref(d, take_held(thread, e->target));
}

/* Loads and waits learn, stores and signals tell; the rest does both. */
static void volatile_access(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct lock *l = lock;
    if (e->mode & DH_WRITE)
        tell(d, thread, &l->told);
    else
        learn(d, thread, &l->told);
}

static void atomic(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct lock *l = lock;
    if (!l)
        return; /* a fence: every atomic is taken to be ordered as it is */
    if (e->op != DH_OP_ATOMIC_STORE)
        learn(d, thread, &l->told);
    if (e->op == DH_OP_ATOMIC_STORE)
        dh_vc_clear(d, &l->told); /* who loads it sees no earlier one */
    if (e->op != DH_OP_ATOMIC_LOAD)
        tell(d, thread, &l->told);
}

static void enter_or_notify(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    tell(d, thread, &((struct lock *)lock)->told);
}

static void leave_or_wait(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    learn(d, thread, &((struct lock *)lock)->told);
}

/* Would being ordered after the section be nothing new to any thread? */
static bool is_known(struct dh_detector *d, const struct dh_wcp_section *s)
{
    if (!s)
        return true;
    if (!s->rel)
        return false; /* still open */
    for (u32 i = 0; i < d->n_threads; i++) {
        const struct dh_vc *p = i == s->thread ? NULL : knows(d, i);
        if (p && dh_vc_get(p, s->thread) < s->rel)
            return false;
    }
    return true;
}

static void drop_accessed(struct dh_detector *d, struct accessed *a)
{
    for (u32 k = 0; k < 2; k++) {
        dh_wcp_section_unref(d, a->read[k]);
        dh_wcp_section_unref(d, a->written[k]);
    }
    *a = (struct accessed){0};
}

/* A variable may be accessed under any outer lock, sooner or later. Of those locks only the ones are kept
 * under which something was done that is news to some thread: else memory would grow with locks times
 * variables. */
static void forget_known(struct dh_detector *d, struct cell *x)
{
    u32 n = 0;
    for (u32 i = 0; i < x->n; i++) {
        struct accessed a = x->accessed[i];
        u32 lock = x->locks[i];
        x->accessed[i] = (struct accessed){0};
        if (is_known(d, a.read[0]) && is_known(d, a.read[1]) && is_known(d, a.written[0]) &&
            is_known(d, a.written[1])) {
            drop_accessed(d, &a);
        } else {
            x->locks[n] = lock;
            x->accessed[n++] = a;
        }
    }
    x->n = n;
}

/* The entry of a lock for this variable, made on first use. NULL: no memory. */
static struct accessed *accessed_under(struct dh_detector *d, struct cell *x, u32 lock)
{
    for (u32 i = 0; i < x->n; i++) {
        if (x->locks[i] == lock)
            return &x->accessed[i];
    }
    if (x->n == x->cap && x->n >= FORGET_FROM)
        forget_known(d, x);
    if (x->n == x->cap) {
        u32 cap = x->cap;
        if (!dh_mem_grow(&d->mem, (void **)&x->locks, x->n, &cap, sizeof(*x->locks)) ||
            !dh_mem_grow(&d->mem, (void **)&x->accessed, x->n, &x->cap, sizeof(*x->accessed))) {
            d->failed = true;
            return NULL;
        }
    }
    x->locks[x->n] = lock;
    return &x->accessed[x->n++];
}

static void remember(struct dh_detector *d, struct dh_wcp_section **two, struct dh_wcp_section *s)
{
    if (two[0] == s)
        return;
    s->refs++;
    if (two[0] && two[0]->thread != s->thread) {
        dh_wcp_section_unref(d, two[1]);
        two[1] = two[0];
    } else {
        dh_wcp_section_unref(d, two[0]);
    }
    two[0] = s;
}

/* Rule (a): the last conflicting section of another thread has published all that earlier ones did. */
static void order_after_other(struct dh_detector *d, struct thread *t, struct dh_wcp_section *const *two)
{
    const struct dh_wcp_section *s = two[0] && two[0]->thread == t->tid ? two[1] : two[0];
    if (s)
        order_after_section(d, t, s);
}

static void report_one(struct dh_detector *d, const struct dh_event *e, const struct dh_wcp_mark *m,
                       bool write)
{
    struct dh_race race = {
        .cell = d->cell,
        .now = {.thread = e->thread, .site = e->site, .event = d->event, .write = e->op == DH_OP_WRITE},
        .earlier = {.thread = m->thread, .site = m->site, .event = m->event, .write = write},
    };
    dh_detect_emit(d, &race);
}

static DH_COLD void report(struct dh_detector *d, const struct dh_event *e, const struct dh_wcp_marks *marks,
                           const struct dh_vc *c, bool write)
{
    u32 told = 0;
    for (u32 i = 0; told < DH_RACES_OF_ACCESS && i < marks->n; i++) {
        struct dh_wcp_mark m = dh_wcp_marks_at(marks, i);
        if (m.clock > dh_vc_get(c, m.thread)) {
            report_one(d, e, &m, write);
            told++;
        }
    }
}

static void check(struct dh_detector *d, const struct dh_event *e, const struct thread *t,
                  struct dh_wcp_marks *m, bool write)
{
    if (dh_is_known(&m->all, &t->p))
        return;
    if (DH_UNLIKELY(dh_wcp_marks_exceed(m, &t->p)))
        report(d, e, m, &t->p, write);
    else
        m->all = (struct dh_known){.tid = t->tid, .clock = t->clock};
}

static void mark(struct dh_detector *d, const struct dh_event *e, const struct thread *t,
                 struct dh_wcp_marks *m)
{
    dh_known_add(&m->all, !m->n, &t->p, t->tid, t->clock);
    dh_wcp_marks_set(d, m, t->tid, t->clock, e->site);
}

static void access(struct dh_detector *d, const struct dh_event *e, struct thread *t, struct cell *x,
                   bool write)
{
    for (u32 i = 0; i < t->n_held; i++) {
        struct accessed *a = accessed_under(d, x, t->held[i].lock);
        if (!a)
            return;
        order_after_other(d, t, a->written);
        if (write)
            order_after_other(d, t, a->read);
        remember(d, write ? a->written : a->read, t->held[i].section);
    }
    if (x->only != t->tid + 1) {
        x->shared = x->only != 0;
        x->only = t->tid + 1;
    }
    if (x->shared) {
        check(d, e, t, &x->w, true);
        if (write)
            check(d, e, t, &x->r, false);
    }
    mark(d, e, t, write ? &x->w : &x->r);
}

static void read(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    access(d, e, thread, cell, false);
}

static void write(struct dh_detector *d, const struct dh_event *e, void *thread, void *cell)
{
    access(d, e, thread, cell, true);
}

static void drop(struct dh_detector *d, void *cell)
{
    struct cell *x = cell;
    dh_wcp_marks_drop(d, &x->r);
    dh_wcp_marks_drop(d, &x->w);
    for (u32 i = 0; i < x->n; i++)
        drop_accessed(d, &x->accessed[i]);
    dh_detect_free(d, x->locks, x->cap * sizeof(*x->locks));
    dh_detect_free(d, x->accessed, x->cap * sizeof(*x->accessed));
}

static void ref(struct dh_wcp_section *s)
{
    if (s)
        s->refs++;
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *old = from;
    dh_wcp_marks_copy(d, &x->r, &old->r);
    dh_wcp_marks_copy(d, &x->w, &old->w);
    x->only = old->only;
    x->shared = old->shared;
    x->locks = dh_detect_dup(d, old->locks, old->cap * sizeof(*old->locks));
    x->accessed = dh_detect_dup(d, old->accessed, old->cap * sizeof(*old->accessed));
    if (!x->locks || !x->accessed)
        return;
    x->n = old->n;
    x->cap = old->cap;
    for (u32 i = 0; i < x->n; i++) {
        for (u32 k = 0; k < 2; k++) {
            ref(x->accessed[i].read[k]);
            ref(x->accessed[i].written[k]);
        }
    }
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    (void)e;
    __builtin_prefetch(x->w.items);
    __builtin_prefetch(x->r.items);
    __builtin_prefetch(x->locks);
    __builtin_prefetch(x->accessed);
}

const struct dh_detector_ops dh_detector_wcp = {
    .name = "wcp",
    .paper = "Kini, Mathur, Viswanathan: Dynamic Race Prediction in Linear Time (PLDI 2017)",
    .guarantee = DH_PREDICTIVE_SOUND,
    .summary =
        "weak causal precedence in one pass; the first race is real (or there is a deadlock), later ones "
        "unconfirmed",
    .thread_size = sizeof(struct thread),
    .lock_size = sizeof(struct lock),
    .cell_size = sizeof(struct cell),
    .thread_init = thread_init,
    .read = read,
    .write = write,
    .acquire = acquire,
    .release = release,
    .let_go = let_go,
    .fork = fork_thread,
    .join = join_thread,
    .volatile_access = volatile_access,
    .atomic = atomic,
    .barrier_enter = enter_or_notify,
    .barrier_leave = leave_or_wait,
    .wait = leave_or_wait,
    .notify = enter_or_notify,
    .soon = soon,
    .cell_drop = drop,
    .cell_copy = copy,
};
