/*
 * cp_window.c - the causally-precedes order inside one window, by iterated passes of vector clocks. See cp.c
 * for the paper.
 *
 * The rules order the release of one section before the acquisition of a later one of the same lock. If a
 * section is ordered before another in this way, so are all earlier ones of the lock: so one number per
 * section, `after`, is enough. A pass over the window computes from these numbers what happened and what is
 * ordered before each release; rule (b) then raises some of them, until none changes. Clocks are numbers of
 * events in a thread.
 */
#include <errno.h>
#include <string.h>

#include "detect/cp.h"

static u32 *row(const struct dh_cp_window *w, u32 *rows, u32 i)
{
    return rows + (size_t)i * w->p->threads;
}

static void join(const struct dh_cp_window *w, u32 *restrict dst, const u32 *restrict src)
{
    u32 n = w->p->threads; /* a local copy: to the compiler, a store to the row might alias it */
    for (u32 i = 0; i < n; i++)
        dst[i] = dst[i] > src[i] ? dst[i] : src[i];
}

static void copy(const struct dh_cp_window *w, u32 *restrict dst, const u32 *restrict src)
{
    memcpy(dst, src, w->p->threads * sizeof(*dst));
}

int dh_cp_init(struct dh_cp_window *w, const struct dh_predict *p)
{
    struct dh_detector *d = p->d;
    size_t rows = (size_t)p->threads * p->threads + 1;
    *w = (struct dh_cp_window){.p = p};
    w->slot = dh_detect_alloc(d, ((size_t)p->n_sections + 1) * sizeof(u32));
    w->oldest = dh_detect_alloc(d, ((size_t)p->trace->locks + 1) * sizeof(u32));
    w->newest = dh_detect_alloc(d, ((size_t)p->trace->locks + 1) * sizeof(u32));
    w->released = dh_detect_alloc(d, ((size_t)p->trace->locks + 1) * sizeof(u32));
    w->published = dh_detect_alloc(d, ((size_t)p->objects + 1) * sizeof(u32));
    w->published_readers = dh_detect_alloc(d, ((size_t)p->trace->locks + 1) * sizeof(u32));
    w->thread_h = dh_detect_alloc(d, rows * sizeof(u32));
    w->thread_c = dh_detect_alloc(d, rows * sizeof(u32));
    return d->failed ? -ENOMEM : 0;
}

/* The section as part of the window. 0: no memory. */
static u32 slot_of(struct dh_cp_window *w, u32 section)
{
    struct dh_mem *m = &w->p->d->mem;
    u32 size = w->p->threads * (u32)sizeof(u32), lock = w->p->sections[section].lock;
    if (w->slot[section])
        return w->slot[section];
    if (w->n == w->cap && (!dh_mem_grow(m, (void **)&w->h, w->n, &w->cap_h, size) ||
                           !dh_mem_grow(m, (void **)&w->c, w->n, &w->cap_c, size) ||
                           !dh_mem_grow(m, (void **)&w->sections, w->n, &w->cap, sizeof(*w->sections))))
        return 0;
    u32 before = w->newest[lock];
    w->sections[w->n++] = (struct dh_cp_section){.section = section, .before = before};
    *(before ? &w->sections[before - 1].next : &w->oldest[lock]) = w->n;
    return w->slot[section] = w->newest[lock] = w->n;
}

static const struct dh_section *section_of(const struct dh_cp_window *w, u32 slot)
{
    return &w->p->sections[w->sections[slot - 1].section];
}

static bool grow_accessed(struct dh_cp_window *w)
{
    u32 cap = w->cap_accessed ? w->cap_accessed * 2 : 256;
    struct dh_cp_accessed *all = dh_detect_alloc(w->p->d, (size_t)cap * sizeof(*all));
    if (!all)
        return false;
    for (u32 i = 0; i < w->cap_accessed; i++) {
        u32 at = (u32)dh_hash64(w->accessed[i].key) & (cap - 1);
        while (w->accessed[i].key && all[at].key)
            at = (at + 1) & (cap - 1);
        if (w->accessed[i].key)
            all[at] = w->accessed[i];
    }
    dh_detect_free(w->p->d, w->accessed, (size_t)w->cap_accessed * sizeof(*all));
    w->accessed = all;
    w->cap_accessed = cap;
    return true;
}

static u64 key_of(u32 lock, u32 object)
{
    return ((u64)lock << 32 | object) + 1;
}

/* The place of a lock and an object, free if nothing was noted of them. */
static struct dh_cp_accessed *find_accessed(const struct dh_cp_window *w, u32 lock, u32 object)
{
    u64 key = key_of(lock, object);
    u32 at = (u32)dh_hash64(key) & (w->cap_accessed - 1);
    while (w->accessed[at].key && w->accessed[at].key != key)
        at = (at + 1) & (w->cap_accessed - 1);
    return &w->accessed[at];
}

static struct dh_cp_accessed *accessed_under(struct dh_cp_window *w, u32 lock, u32 object)
{
    if (w->n_accessed * 2 >= w->cap_accessed && !grow_accessed(w))
        return NULL;
    struct dh_cp_accessed *a = find_accessed(w, lock, object);
    if (!a->key) {
        a->key = key_of(lock, object);
        w->n_accessed++;
    }
    return a;
}

static void remember(const struct dh_cp_window *w, u32 *two, u32 slot)
{
    if (two[0] == slot)
        return;
    if (two[0] && section_of(w, two[0])->thread != section_of(w, slot)->thread)
        two[1] = two[0];
    two[0] = slot;
}

/* Rule (a): the section comes after the last one of another thread with a conflicting access. */
static void order_after_other(struct dh_cp_window *w, const u32 *two, u32 slot)
{
    u32 i = two[0] && section_of(w, two[0])->thread == section_of(w, slot)->thread ? two[1] : two[0];
    if (i > w->sections[slot - 1].after)
        w->sections[slot - 1].after = i;
}

/* Likewise for the history of the object of access e, including that of the object it is a copy of. */
static void order_after_past(struct dh_cp_window *w, u32 lock, u32 e, u32 slot)
{
    for (u32 o = w->p->object[e]; o != DH_NONE; o = w->p->parent[o]) {
        const struct dh_cp_accessed *a = find_accessed(w, lock, o);
        order_after_other(w, a->written, slot);
        if (w->p->trace->events[e].op == DH_OP_WRITE)
            order_after_other(w, a->read, slot);
    }
}

static bool collect_access(struct dh_cp_window *w, u32 e)
{
    const struct dh_predict *p = w->p;
    bool write = p->trace->events[e].op == DH_OP_WRITE;
    for (u32 h = dh_predict_holding(p, e); h; h = p->holdings[h].outer) {
        u32 section = p->holdings[h].section, slot = slot_of(w, section);
        struct dh_cp_accessed *a = slot ? accessed_under(w, p->sections[section].lock, p->object[e]) : NULL;
        if (!a)
            return false;
        order_after_past(w, p->sections[section].lock, e, slot);
        remember(w, write ? a->written : a->read, slot);
    }
    return true;
}

static bool is_mutex(const struct dh_predict *p, const struct dh_event *e)
{
    return (e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE) && !p->hard_lock[e->target];
}

/* The section that event e, an operation on a mutex, begins or ends; DH_NONE only in a trace that is not
 * well-formed. */
static u32 section_at(const struct dh_predict *p, u32 e)
{
    const struct dh_event *event = &p->trace->events[e];
    bool begins = event->op == DH_OP_ACQUIRE;
    u32 h = begins ? dh_predict_holding_at(p, event->thread, p->local[e] + 1) : dh_predict_holding(p, e);
    const struct dh_section *s = dh_predict_find_lock(p, h, event->target);
    return s ? (u32)(s - p->sections) : DH_NONE;
}

/* The sections of the window, in order, and rule (a). */
static bool collect(struct dh_cp_window *w)
{
    const struct dh_predict *p = w->p;
    for (u32 i = 0; i < w->n; i++) {
        w->slot[w->sections[i].section] = 0;
        w->oldest[section_of(w, i + 1)->lock] = w->newest[section_of(w, i + 1)->lock] = 0;
    }
    w->n = w->n_accessed = 0;
    if (w->cap_accessed)
        memset(w->accessed, 0, (size_t)w->cap_accessed * sizeof(*w->accessed));
    for (u32 e = w->from; e < w->to; e++) {
        const struct dh_event *event = &p->trace->events[e];
        u32 section = is_mutex(p, event) ? section_at(p, e) : DH_NONE;
        if (dh_event_is_access(event) ? !collect_access(w, e) : section != DH_NONE && !slot_of(w, section))
            return false;
    }
    return true;
}

void dh_cp_begin(struct dh_cp_window *w)
{
    const struct dh_predict *p = w->p;
    size_t rows = (size_t)p->threads * p->threads * sizeof(u32);
    for (u32 i = 0; i < w->n; i++)
        w->released[section_of(w, i + 1)->lock] = 0;
    for (u32 e = w->from; w->n_published && e < w->to; e++) {
        if (dh_event_space(p->trace->events[e].op) != DH_SPACE_LOCK)
            continue;
        w->published[p->object[e]] = 0;
        w->published_readers[p->trace->events[e].target] = 0;
    }
    w->n_published = 0;
    memset(w->thread_h, 0, rows);
    memset(w->thread_c, 0, rows);
}

static void pass_mutex(struct dh_cp_window *w, u32 e, u32 *h, u32 *c)
{
    const struct dh_event *event = &w->p->trace->events[e];
    u32 section = section_at(w->p, e), slot = section == DH_NONE ? 0 : w->slot[section];
    if (!slot)
        return;
    u32 *last = &w->released[event->target];
    if (event->op == DH_OP_RELEASE) {
        copy(w, row(w, w->h, slot - 1), h);
        copy(w, row(w, w->c, slot - 1), c);
        if (!(event->mode & DH_LET_GO))
            *last = slot;
        return;
    }
    if (*last) {
        join(w, h, row(w, w->h, *last - 1));
        join(w, c, row(w, w->c, *last - 1));
    }
    if (w->sections[slot - 1].after)
        join(w, c, row(w, w->h, w->sections[slot - 1].after - 1));
}

static void receive(struct dh_cp_window *w, u32 published, u32 *h, u32 *c)
{
    if (!published)
        return;
    join(w, h, row(w, w->published_rows, published - 1));
    join(w, c, row(w, w->published_rows, published - 1));
}

static void publish(struct dh_cp_window *w, u32 *published, const u32 *h)
{
    u32 size = w->p->threads * (u32)sizeof(u32);
    if (!*published) {
        if (w->n_published == w->cap_published && !dh_mem_grow(&w->p->d->mem, (void **)&w->published_rows,
                                                               w->n_published, &w->cap_published, size)) {
            w->p->d->failed = true;
            return;
        }
        *published = ++w->n_published;
        memset(row(w, w->published_rows, *published - 1), 0, size);
    }
    join(w, row(w, w->published_rows, *published - 1), h);
}

/* Anything that orders like fork and join. */
static void pass_object(struct dh_cp_window *w, u32 e, enum dh_effect effect, u32 *h, u32 *c)
{
    const struct dh_event *event = &w->p->trace->events[e];
    u32 *published = &w->published[w->p->object[e]];
    bool lock = event->op == DH_OP_ACQUIRE || event->op == DH_OP_RELEASE;
    if (dh_effect_sees(effect))
        receive(w, *published, h, c);
    if (lock && event->mode == DH_EXCLUSIVE)
        receive(w, w->published_readers[event->target], h, c);
    if (lock && event->mode == DH_SHARED && event->op == DH_OP_RELEASE)
        publish(w, &w->published_readers[event->target], h);
    if (dh_effect_changes(effect))
        publish(w, published, h);
}

void dh_cp_pass(struct dh_cp_window *w, u32 e)
{
    const struct dh_predict *p = w->p;
    const struct dh_event *event = &p->trace->events[e];
    u32 t = event->thread, u = event->target;
    u32 *h = row(w, w->thread_h, t), *c = row(w, w->thread_c, t);
    enum dh_effect effect = dh_predict_effect(p, event);
    h[t] = p->local[e] + 1;
    if (event->op == DH_OP_FORK) {
        join(w, row(w, w->thread_h, u), h);
        join(w, row(w, w->thread_c, u), h);
    } else if (event->op == DH_OP_JOIN) {
        join(w, c, row(w, w->thread_h, u));
        join(w, h, row(w, w->thread_h, u));
    } else if (is_mutex(p, event)) {
        pass_mutex(w, e, h, c);
    } else if (effect != DH_EFFECT_NONE && dh_event_space(event->op) == DH_SPACE_LOCK) {
        pass_object(w, e, effect, h, c);
    }
}

/* Rule (b) for section j: the last section of its lock that begins before something in it. What holds for one
 * also holds for all before it, and what holds for the section before j also holds for j, so that a pass
 * visits the sections of a lock once. */
static bool order_section(struct dh_cp_window *w, u32 j, const u32 *c)
{
    struct dh_cp_section *s = &w->sections[j - 1];
    u32 known = s->before ? w->sections[s->before - 1].after : 0;
    bool changed = false;
    if (s->after < known)
        s->after = known;
    for (;;) {
        u32 i = s->after ? w->sections[s->after - 1].next : w->oldest[section_of(w, j)->lock];
        const struct dh_section *earlier = section_of(w, i);
        if (i == j || w->p->local[earlier->acq] >= c[earlier->thread])
            return changed;
        s->after = i;
        changed = true;
    }
}

/* Did rule (b) order anything? */
static bool order_sections(struct dh_cp_window *w)
{
    bool changed = false;
    for (u32 j = 1; j <= w->n; j++) {
        const struct dh_section *s = section_of(w, j);
        u32 *c = row(w, w->c, j - 1);
        if (s->rel == DH_NONE || s->rel >= w->to)
            copy(w, c, row(w, w->thread_c, s->thread)); /* open when the window ends */
        changed |= order_section(w, j, c);
    }
    return changed;
}

bool dh_cp_close(struct dh_cp_window *w, u32 from, u32 to)
{
    w->from = from;
    w->to = to;
    if (!collect(w))
        return false;
    do {
        dh_cp_begin(w);
        for (u32 e = from; e < to; e++)
            dh_cp_pass(w, e);
    } while (order_sections(w) && !w->p->d->failed);
    return !w->p->d->failed;
}
