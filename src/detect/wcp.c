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
 * or a predictable deadlock, provided that its threads synchronise by nothing but mutexes (and fork and join)
 * and release them in reverse order. A later report may be an artefact. No report has a witness of its own:
 * that needs the trace, which this detector does not keep. `analyze` looks for one in a second pass
 * (confirm.h).
 *
 * How: h is what happened before a thread's next event, p what is weakly ordered before it.
 *
 * Departures: none from the definition. From the published tool: a thread's own earlier sections do not count
 * as those of others, and accesses in a section that never ends are ordered by (a), since that is done at the
 * access. The queue of a lock is one for all threads, tidied as they advance, and never longer than
 * DH_WCP_QUEUE_MAX: beyond it old entries are merged, which orders more (loses races, invents none). What was
 * done to a variable under a lock is forgotten when no thread can acquire anything from it. A thread that
 * appears late without having been forked is not ordered after what was tidied away or forgotten.
 * Synchronisation other than mutexes creates ordering like fork and join. Atomic accesses come in cells of
 * their own (companions.h) after the plain one was checked, so rule (a) between an atomic and a plain access
 * in two sections of a lock may come too late for other accesses of the variable.
 */
#include "detect/wcp.h"
#include "detect/wcp_marks.h"

/* Sections that all threads are ordered after are searched for when this many more are closed than were left
 * last time, and at least a quarter more. The search compares every thread with every other: the more
 * threads, the more sections must pay for it, up to SETTLE_ASKED comparisons each. */
enum { SETTLE_FROM = 1024, SETTLE_PER_THREAD = 16, SETTLE_ASKED = 64 };

struct wcp {
    u32 *known; /* of each thread: up to which clock all others were ordered after its releases when last
                 * checked */
    u32 n_known;
    u64 closed; /* sections listed by their threads, */
    u64 left;   /* and those that were left when it was settled last */
    u64 settle_at;
};

struct held {
    u32 lock;
    struct dh_wcp_section *section;
};

struct thread {
    struct dh_vc h;
    struct dh_vc p; /* own component: the clock, so that own accesses are never a race */
    u32 tid;
    u32 clock; /* own component of h; a new one after everything that publishes it */
    u32 own; /* what the own component of p would be: own events that are ordered before through other threads
              */
    struct held *held;
    u32 n_held, cap_held;
    struct dh_wcp_closed closed;
    bool ended;
};

struct lock {
    struct dh_vc p;              /* of the last release */
    struct dh_wcp_section *last; /* and its section, if there is one, */
    u32 thread, rel;             /* with the numbers of that */
    struct dh_wcp_queue queue;
    struct dh_vc published; /* through anything but a mutex, */
    struct dh_vc readers;   /* and by readers of a lock */
    bool hard;              /* not, or no longer, used as a mutex only */
};

/* A section that read or wrote the variable. Of those of one lock that read, and of those that wrote, the
 * last two of different threads are kept. */
struct use {
    struct dh_wcp_section *section;
    u32 lock;
    bool write;
    bool older; /* of the two */
};

struct cell {
    struct dh_wcp_marks r, w;
    struct use *uses;
    u32 n, cap;
    u32 only; /* the one thread that accessed it, + 1; 0: none yet */
    bool shared;
};

static void init(struct dh_detector *d)
{
    struct wcp *w = d->own;
    w->settle_at = SETTLE_FROM;
}

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

/* Ordering as strong as that of fork and join. */
static void receive(struct dh_detector *d, struct thread *t, const struct dh_vc *published)
{
    dh_vc_join(d, &t->h, published);
    order_after(d, t, published);
}

static void publish(struct dh_detector *d, struct thread *t, struct dh_vc *published)
{
    dh_vc_join(d, published, &t->h);
    tick(d, t);
}

static void fork_thread(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)e;
    struct thread *t = thread, *u = other;
    if (!u)
        return;
    receive(d, u, &t->h);
    u->ended = false;
    tick(d, t);
}

static void join_thread(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)e;
    struct thread *t = thread, *u = other;
    if (!u)
        return;
    receive(d, t, &u->h);
    u->ended = true;
    tick(d, u); /* its number may be forked again */
}

/* From now on this lock orders like fork and join; so does all that went before. */
static void harden(struct dh_detector *d, struct lock *l)
{
    l->hard = true;
    if (l->last)
        dh_vc_join(d, &l->published, &l->last->h);
}

static void acquire_hard(struct dh_detector *d, const struct dh_event *e, struct thread *t, struct lock *l)
{
    receive(d, t, &l->published);
    if (e->mode == DH_EXCLUSIVE)
        receive(d, t, &l->readers);
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
    if (l->last && l->thread != t->tid) {
        if (dh_vc_get(&t->h, l->thread) < l->rel)
            dh_vc_join(d, &t->h, &l->last->h);
        if (dh_vc_get(&t->p, l->thread) < l->rel) /* else all of it was published by that release */
            order_after(d, t, &l->p);
    }
    dh_wcp_queue_soon(&l->queue, t->tid);
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

/* Up to which clock of a thread all others are ordered after its releases. */
static u32 known_to_all(struct dh_detector *d, u32 tid)
{
    u32 least = UINT32_MAX;
    for (u32 i = 0; i < d->n_threads; i++) {
        const struct dh_vc *p = i == tid ? NULL : knows(d, i);
        u32 clock = p ? dh_vc_get(p, tid) : UINT32_MAX;
        least = clock < least ? clock : least;
    }
    return least;
}

/* How many more sections must be closed before the next search is worthwhile. */
static u64 settle_after(const struct dh_detector *d, u64 left)
{
    u64 threads = d->n_threads, most = SETTLE_FROM;
    most = most < left / 4 ? left / 4 : most;
    most = most < threads * SETTLE_PER_THREAD ? threads * SETTLE_PER_THREAD : most;
    return most < threads * threads / SETTLE_ASKED ? threads * threads / SETTLE_ASKED : most;
}

/* Frees the clocks of sections that all threads are ordered after. */
static void settle(struct dh_detector *d, struct wcp *w)
{
    u64 due = w->left + settle_after(d, w->left);
    if (w->closed < due) { /* there are more threads than last time */
        w->settle_at = due;
        return;
    }
    w->closed = 0;
    for (u32 i = 0; i < d->n_threads; i++) {
        struct thread *t = dh_detect_thread(d, i);
        if (!t || !t->closed.n || !DH_ROOM(d, w->known, w->n_known, i))
            continue;
        w->known[i] = known_to_all(d, i);
        w->closed += dh_wcp_closed_settle(d, &t->closed, w->known[i]);
    }
    w->left = w->closed;
    w->settle_at = w->left + settle_after(d, w->left);
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
    struct wcp *w = d->own;
    struct thread *t = thread;
    struct lock *l = lock;
    struct dh_wcp_section *s = take_held(t, e->target);
    if (!s) {
        publish(d, t, e->mode == DH_SHARED ? &l->readers : &l->published);
        return;
    }
    const struct dh_wcp_queued *before;
    while ((before = dh_wcp_queue_order(d, &l->queue, t->tid, &t->p))) {
        if (dh_vc_get(&t->p, before->thread) < before->rel)
            order_after(d, t, &before->section->h);
    }
    s->rel = t->clock;
    dh_vc_copy(d, &s->h, &t->h);
    if (dh_vc_copy(d, &l->p, &t->p))
        dh_vc_set(d, &l->p, t->tid, t->own);
    s->refs++;
    if (l->last)
        l->last->last = false;
    dh_wcp_section_unref(d, l->last);
    l->last = s;
    l->thread = t->tid;
    l->rel = s->rel;
    s->last = true;
    dh_wcp_queue_push(d, &l->queue, s);
    dh_wcp_queue_tidy(d, &l->queue, knows, w->known, w->n_known);
    dh_wcp_closed_add(d, &t->closed, s);
    if (++w->closed >= w->settle_at)
        settle(d, w);
    tick(d, t);
}

static void let_go(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)lock;
    dh_wcp_section_unref(d, take_held(thread, e->target));
}

/* Loads and waits acquire, stores and signals publish; the rest does both. */
static void volatile_access(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct lock *l = lock;
    if (e->mode & DH_WRITE)
        publish(d, thread, &l->published);
    else
        receive(d, thread, &l->published);
}

static void atomic(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct lock *l = lock;
    if (!l)
        return; /* a fence: every atomic is taken to be ordered as it is */
    if (e->op != DH_OP_ATOMIC_STORE)
        receive(d, thread, &l->published);
    if (e->op == DH_OP_ATOMIC_STORE)
        dh_vc_clear(d, &l->published); /* who loads it sees no earlier one */
    if (e->op != DH_OP_ATOMIC_LOAD)
        publish(d, thread, &l->published);
}

static void enter_or_notify(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    publish(d, thread, &((struct lock *)lock)->published);
}

static void leave_or_wait(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    receive(d, thread, &((struct lock *)lock)->published);
}

/* A variable may eventually be accessed under any lock. Only sections that some thread is not yet ordered
 * after are kept: otherwise memory would grow with locks times variables. */
static void forget_known(struct dh_detector *d, struct cell *x)
{
    u32 n = 0;
    for (u32 i = 0; i < x->n; i++) /* all at once: they are in no cache */
        __builtin_prefetch(x->uses[i].section, 1);
    for (u32 i = 0; i < x->n; i++) {
        if (x->uses[i].section->known)
            dh_wcp_section_unref(d, x->uses[i].section);
        else
            x->uses[n++] = x->uses[i];
    }
    x->n = n;
}

/* Takes over the reference to the section. */
static void add_use(struct dh_detector *d, struct cell *x, struct use use)
{
    if (x->n == x->cap)
        forget_known(d, x);
    if (x->n == x->cap && !dh_mem_grow(&d->mem, (void **)&x->uses, x->n, &x->cap, sizeof(*x->uses))) {
        d->failed = true;
        dh_wcp_section_unref(d, use.section);
        return;
    }
    x->uses[x->n++] = use;
}

/* What was done to the variable under one lock; NULL: nothing. The last two sections of different threads
 * that read, then those that wrote. */
struct uses {
    struct use *last[2][2];
};

static struct uses uses_under(const struct cell *x, u32 lock)
{
    struct uses found = {0};
    for (u32 i = 0; i < x->n; i++) {
        if (x->uses[i].lock == lock)
            found.last[x->uses[i].write][x->uses[i].older] = &x->uses[i];
    }
    return found;
}

/* The section of a lock that the thread holds becomes the last of the two. */
static void remember(struct dh_detector *d, struct cell *x, struct use **two, const struct held *now,
                     bool write)
{
    struct use use = {.section = now->section, .lock = now->lock, .write = write};
    use.section->refs++;
    if (two[0]) {
        struct dh_wcp_section *before = two[0]->section;
        two[0]->section = use.section;
        use = (struct use){.section = before, .lock = now->lock, .write = write, .older = true};
        if (before->thread == now->section->thread) {
            dh_wcp_section_unref(d, before);
            return;
        }
    }
    if (use.older && two[1]) {
        dh_wcp_section_unref(d, two[1]->section);
        *two[1] = use;
    } else {
        add_use(d, x, use);
    }
}

/* Rule (a): the last conflicting section of another thread has published all that earlier ones did. */
static void order_after_other(struct dh_detector *d, struct thread *t, struct use *const *two)
{
    const struct use *u = two[0] && two[0]->section->thread == t->tid ? two[1] : two[0];
    if (u)
        order_after_section(d, t, u->section);
}

static DH_COLD void report(struct dh_detector *d, const struct dh_event *e, const struct dh_wcp_mark *m,
                           bool write)
{
    struct dh_race race = {
        .cell = d->cell,
        .now = {.thread = e->thread, .site = e->site, .event = d->event, .write = e->op == DH_OP_WRITE},
        .earlier = {.thread = m->thread, .site = m->site, .event = m->event, .write = write},
    };
    dh_detect_emit(d, &race);
}

static void check(struct dh_detector *d, const struct dh_event *e, const struct thread *t,
                  struct dh_wcp_marks *m, bool write)
{
    if (dh_is_known(&m->all, &t->p))
        return;
    u32 i = dh_wcp_marks_outside(m, 0, &t->p);
    if (i == m->n)
        m->all = (struct dh_known){.tid = t->tid, .clock = t->clock};
    for (u32 reported = 0; i < m->n && reported < DH_RACES_OF_ACCESS; reported++) {
        struct dh_wcp_mark earlier = dh_wcp_marks_at(m, i);
        report(d, e, &earlier, write);
        i = dh_wcp_marks_outside(m, i + 1, &t->p);
    }
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
        struct uses past = uses_under(x, t->held[i].lock);
        order_after_other(d, t, past.last[true]);
        if (write)
            order_after_other(d, t, past.last[false]);
        remember(d, x, past.last[write], &t->held[i], write);
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
        dh_wcp_section_unref(d, x->uses[i].section);
    dh_detect_free(d, x->uses, x->cap * sizeof(*x->uses));
}

static void copy(struct dh_detector *d, void *to, const void *from)
{
    struct cell *x = to;
    const struct cell *old = from;
    dh_wcp_marks_copy(d, &x->r, &old->r);
    dh_wcp_marks_copy(d, &x->w, &old->w);
    x->only = old->only;
    x->shared = old->shared;
    x->uses = dh_detect_dup(d, old->uses, old->cap * sizeof(*old->uses));
    if (!x->uses)
        return;
    x->n = old->n;
    x->cap = old->cap;
    for (u32 i = 0; i < x->n; i++)
        x->uses[i].section->refs++;
}

static void soon(const struct dh_event *e, const void *cell)
{
    const struct cell *x = cell;
    (void)e;
    __builtin_prefetch(x->w.items);
    __builtin_prefetch(x->r.items);
    __builtin_prefetch(x->uses);
}

const struct dh_detector_ops dh_detector_wcp = {
    .name = "wcp",
    .paper = "Kini, Mathur, Viswanathan: Dynamic Race Prediction in Linear Time (PLDI 2017)",
    .guarantee = DH_PREDICTIVE_SOUND,
    .summary =
        "weak causal precedence in one pass; the first race is real (or there is a deadlock), later ones "
        "unconfirmed",
    .own_size = sizeof(struct wcp),
    .thread_size = sizeof(struct thread),
    .lock_size = sizeof(struct lock),
    .cell_size = sizeof(struct cell),
    .init = init,
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
