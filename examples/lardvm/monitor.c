/*
 * monitor.c - the monitors of objects: enter, leave, wait, notify.
 *
 * A monitor is made when its object is first locked, and recycled after its object has died. It is handed
 * from thread to thread: who leaves makes the first thread that wants to enter the owner, and only then ready
 * to run. That thread executes its instruction again and finds itself the owner.
 */
#include <stdlib.h>

#include "oracle.h"
#include "vm.h"

static struct {
    latch latch;
    struct monitor *all, *spare;
} monitors;

static struct monitor *monitor_new(struct object *o)
{
    struct monitor *m = monitors.spare;
    if (m) {
        monitors.spare = m->next;
    } else {
        m = calloc(1, sizeof(*m));
        if (!m)
            die("no memory for a monitor");
    }
    m->object = o;
    m->next = monitors.all;
    monitors.all = m;
    return m;
}

static struct monitor *monitor_of(struct object *o)
{
    struct monitor *m = atomic_load_explicit(&o->monitor, memory_order_acquire);
    if (m)
        return m;
    latch_close(&monitors.latch);
    m = atomic_load(&o->monitor);
    if (!m) {
        m = monitor_new(o);
        atomic_store_explicit(&o->monitor, m, memory_order_release);
    }
    latch_open(&monitors.latch);
    return m;
}

/* The world has stopped: monitors follow their objects, or are free if those were not reached. */
void monitors_sweep(void)
{
    struct monitor **link = &monitors.all;
    while (*link) {
        struct monitor *m = *link;
        if (m->object->mark) {
            m->object = m->object->mark;
            link = &m->next;
            continue;
        }
        *link = m->next;
        /* Rule 3, for a thing that synchronises: what this monitor has ordered is nothing to the object that
         * gets it next. Its latch is ours and stays as it is. */
        dh_lard_clear(m, offsetof(struct monitor, latch));
        *m = (struct monitor){.next = monitors.spare};
        monitors.spare = m;
    }
}

/* ---- What the language says about order ---- */

static void report_enter(struct thread *t, struct monitor *m, struct object *o)
{
    /* Rule 2: this lock is the program's, unlike the latches here; told when it is held, and only when it is
     * entered from outside. */
    dh_lard_lock(m, DH_LARD_EXCLUSIVE);
    if (vm.oracle)
        oracle_acquire(vm.oracle, t->id, (struct oracle_key){o->id, ORACLE_MONITOR});
}

static void report_leave(struct thread *t, struct monitor *m, struct object *o)
{
    /* Rule 2: told while it is still held. */
    dh_lard_unlock(m);
    if (vm.oracle)
        oracle_release(vm.oracle, t->id, (struct oracle_key){o->id, ORACLE_MONITOR});
}

/* ---- Entering and leaving ---- */

/* The thread's instruction will be executed again, when somebody made it the owner. */
static enum progress block(struct worker *w, struct thread *t, struct queue *q, struct monitor *m)
{
    t->resumed = true;
    queue_add(q, t);
    w->open_after = &m->latch;
    return BLOCK;
}

enum progress monitor_enter(struct worker *w, struct thread *t, struct object *o)
{
    struct monitor *m = monitor_of(o);
    if (t->resumed) {
        t->resumed = false;
        report_enter(t, m, o);
        return GO_ON;
    }
    latch_close(&m->latch);
    if (m->owner && m->owner != t) {
        t->saved_depth = 1;
        return block(w, t, &m->entering, m);
    }
    bool first = !m->owner;
    m->owner = t;
    m->depth++;
    latch_open(&m->latch);
    if (first)
        report_enter(t, m, o);
    return GO_ON;
}

/* The owner gives it up, to the next one if there is one. */
static void hand_over(struct worker *w, struct monitor *m)
{
    struct thread *next = queue_take(&m->entering);
    m->owner = next;
    m->depth = next ? next->saved_depth : 0;
    if (next)
        sched_ready(w, next);
}

enum progress monitor_leave(struct worker *w, struct thread *t, struct object *o)
{
    struct monitor *m = monitor_of(o);
    latch_close(&m->latch);
    bool owner = m->owner == t;
    if (owner && --m->depth == 0) {
        report_leave(t, m, o);
        hand_over(w, m);
    }
    latch_open(&m->latch);
    return owner ? GO_ON : REFUSE;
}

enum progress monitor_wait(struct worker *w, struct thread *t, struct object *o)
{
    struct monitor *m = monitor_of(o);
    if (t->resumed) {
        t->resumed = false;
        report_enter(t, m, o);
        return GO_ON;
    }
    latch_close(&m->latch);
    if (m->owner != t) {
        latch_open(&m->latch);
        return REFUSE;
    }
    t->saved_depth = m->depth;
    report_leave(t, m, o);
    hand_over(w, m);
    return block(w, t, &m->waiting, m);
}

/* A notification orders nothing by itself: the monitor does, which the other has to enter again. */
enum progress monitor_notify(struct thread *t, struct object *o, bool all)
{
    struct monitor *m = monitor_of(o);
    latch_close(&m->latch);
    bool owner = m->owner == t;
    struct thread *woken;
    while (owner && (woken = queue_take(&m->waiting)) != NULL) {
        queue_add(&m->entering, woken);
        if (!all)
            break;
    }
    latch_open(&m->latch);
    return owner ? GO_ON : REFUSE;
}
