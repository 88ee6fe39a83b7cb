/*
 * hb.c - see hb.h. FastTrack (CACM 2010) figure 4 for locks, fork and join; PLDI 2009 for volatiles and
 * barriers; C11 7.17.3 for atomics.
 */
#include "detect/hb.h"

void dh_hb_thread_init(struct dh_detector *d, void *thread, u32 tid)
{
    struct dh_hb_thread *t = thread;
    t->tid = tid;
    dh_hb_tick(d, t); /* the first operations of all threads are unordered */
}

/* Acquire what the object's last release published. */
static void learn(struct dh_detector *d, struct dh_hb_thread *t, struct dh_hb_lock *l)
{
    if (l->clock && dh_vc_get(&t->c, l->tid) >= l->clock)
        return; /* known: the invariant of hb.h */
    dh_vc_join(d, &t->c, &l->l);
}

/* l := c, the knowledge of t now. */
static void publish(struct dh_detector *d, struct dh_hb_thread *t, struct dh_hb_lock *l)
{
    dh_vc_copy(d, &l->l, &t->c);
    l->tid = t->tid;
    l->clock = t->clock;
    dh_hb_tick(d, t);
}

/* l := l joined with c. */
static void publish_also(struct dh_detector *d, struct dh_hb_thread *t, struct dh_hb_lock *l)
{
    dh_vc_join(d, &l->l, &t->c);
    l->clock = 0;
    dh_hb_tick(d, t);
}

void dh_hb_acquire(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct dh_hb_lock *l = lock;
    learn(d, thread, l);
    if (e->mode == DH_EXCLUSIVE && l->readers)
        dh_vc_join(d, &((struct dh_hb_thread *)thread)->c, &l->r);
}

/* Readers do not order each other: what they release is kept apart, for the next writer. */
void dh_hb_release(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    struct dh_hb_thread *t = thread;
    struct dh_hb_lock *l = lock;
    if (e->mode == DH_SHARED) {
        dh_vc_join(d, &l->r, &t->c);
        l->readers = true;
        dh_hb_tick(d, t);
        return;
    }
    if (l->readers) { /* the writer acquired them with the lock */
        dh_vc_clear(d, &l->r);
        l->readers = false;
    }
    publish(d, t, l);
}

void dh_hb_fork(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)e;
    struct dh_hb_thread *t = thread, *u = other;
    if (!u)
        return;
    dh_vc_join(d, &u->c, &t->c);
    if (u->released) /* the number was another thread's before */
        dh_vc_clear(d, u->released);
    if (u->seen)
        dh_vc_clear(d, u->seen);
    dh_hb_tick(d, t);
}

void dh_hb_join(struct dh_detector *d, const struct dh_event *e, void *thread, void *other)
{
    (void)e;
    struct dh_hb_thread *t = thread, *u = other;
    if (!u)
        return;
    dh_vc_join(d, &t->c, &u->c);
    dh_hb_tick(d, u); /* its number may be forked again */
}

void dh_hb_volatile(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    if (e->mode & DH_WRITE)
        publish_also(d, thread, lock);
    else
        learn(d, thread, lock);
}

static bool acquires(u8 order)
{
    return order == DH_CONSUME || order == DH_ACQUIRE || order == DH_ACQ_REL || order == DH_SEQ_CST;
}

static bool releases(u8 order)
{
    return order == DH_RELEASE || order == DH_ACQ_REL || order == DH_SEQ_CST;
}

/* The thread's clock of this kind, made on first use. */
static struct dh_vc *fence_clock(struct dh_detector *d, struct dh_vc **vc)
{
    if (!*vc)
        *vc = dh_detect_alloc(d, sizeof(**vc));
    return *vc;
}

static void fence(struct dh_detector *d, const struct dh_event *e, struct dh_hb_thread *t)
{
    if (acquires(e->mode) && t->seen)
        dh_vc_join(d, &t->c, t->seen);
    if (releases(e->mode) && fence_clock(d, &t->released)) {
        dh_vc_copy(d, t->released, &t->c);
        dh_hb_tick(d, t);
    }
}

static void atomic_load(struct dh_detector *d, u8 order, struct dh_hb_thread *t, struct dh_hb_lock *l)
{
    if (acquires(order))
        learn(d, t, l);
    else if (fence_clock(d, &t->seen))
        dh_vc_join(d, t->seen, &l->l);
}

/* A plain store heads a new release sequence; a read-modify-write continues the one it finds. */
static void atomic_store(struct dh_detector *d, const struct dh_event *e, struct dh_hb_thread *t,
                         struct dh_hb_lock *l)
{
    bool continues = e->op == DH_OP_ATOMIC_RMW;
    if (releases(e->mode)) {
        if (continues)
            publish_also(d, t, l);
        else
            publish(d, t, l);
        return;
    }
    if (!continues)
        dh_vc_clear(d, &l->l);
    if (t->released)
        dh_vc_join(d, &l->l, t->released);
    if (!continues || t->released)
        l->clock = 0;
}

void dh_hb_atomic(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    if (e->op == DH_OP_FENCE) {
        fence(d, e, thread);
        return;
    }
    if (e->op != DH_OP_ATOMIC_STORE)
        atomic_load(d, e->mode, thread, lock);
    if (e->op != DH_OP_ATOMIC_LOAD)
        atomic_store(d, e, thread, lock);
}

/* A fast thread may enter the next round while slow ones are still leaving the last: two clocks, and counts
 * that distinguish the rounds. */
void dh_hb_barrier_enter(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    struct dh_hb_thread *t = thread;
    struct dh_hb_lock *b = lock;
    dh_vc_join(d, &b->r, &t->c);
    b->entered++;
    dh_hb_tick(d, t);
}

void dh_hb_barrier_leave(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    struct dh_hb_thread *t = thread;
    struct dh_hb_lock *b = lock;
    if (b->left == 0) { /* the first to leave: everyone of this round has entered */
        dh_vc_copy(d, &b->l, &b->r);
        dh_vc_clear(d, &b->r);
        b->left = b->entered;
        b->entered = 0;
    }
    dh_vc_join(d, &t->c, &b->l);
    if (b->left)
        b->left--;
}

void dh_hb_wait(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    learn(d, thread, lock);
}

void dh_hb_notify(struct dh_detector *d, const struct dh_event *e, void *thread, void *lock)
{
    (void)e;
    publish_also(d, thread, lock);
}
