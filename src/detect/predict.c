/*
 * predict.c - see predict.h.
 *
 * One pass numbers what it meets, the next orders it. A new version is created only when an event acquires
 * something: a thread that already knows the writer of the value it reads knows all that the writer needed,
 * since versions are transitively closed.
 */
#include "detect/predict.h"

#include <errno.h>
#include <string.h>

#include "detect/predict_links.h"
#include "detect/predict_lives.h"

/* State of the second pass. */
struct reading {
    u32 *version; /* of each thread */
    u32 *done;    /* events of each thread */
    u32 *holding; /* of each thread */
    u32 *last;    /* of each thread: its last moment, + 1 */
    u32 *moment;  /* of each event */
    struct dh_moment *moments;
    u32 n_moments, cap_moments;
    u32 *writer;    /* last event that wrote each object */
    u32 *readers;   /* of each lock: what its readers had done when they released it, a version; DH_NONE */
    u32 *published; /* of each lock: what was done when it was signalled, a version; DH_NONE */
    u32 *counts;    /* of a version that is being made */
    struct dh_lives lives;
};

static void *array(struct dh_detector *d, size_t n, size_t size)
{
    return dh_detect_alloc(d, (n ? n : 1) * size);
}

static u32 *none_array(struct dh_detector *d, size_t n)
{
    u32 *a = array(d, n, sizeof(*a));
    if (a && n)
        memset(a, 0xff, n * sizeof(*a));
    return a;
}

static enum dh_effect signal_or_collect(const struct dh_predict *p, const struct dh_event *e, bool signal)
{
    if (p->signalled[e->target] & DH_VALUED)
        return signal ? DH_EFFECT_BOTH : DH_EFFECT_READ;
    return signal ? DH_EFFECT_SIGNAL : DH_EFFECT_COLLECT;
}

enum dh_effect dh_predict_effect(const struct dh_predict *p, const struct dh_event *e)
{
    switch (e->op) {
    case DH_OP_READ:
    case DH_OP_ATOMIC_LOAD:
        return DH_EFFECT_READ;
    case DH_OP_WRITE:
    case DH_OP_ATOMIC_STORE:
        return DH_EFFECT_WRITE;
    case DH_OP_ATOMIC_RMW:
        return DH_EFFECT_BOTH;
    case DH_OP_VOLATILE:
        return signal_or_collect(p, e, e->mode & DH_WRITE);
    case DH_OP_BARRIER_ENTER:
    case DH_OP_NOTIFY:
        return signal_or_collect(p, e, true);
    case DH_OP_BARRIER_LEAVE:
    case DH_OP_WAIT:
        return signal_or_collect(p, e, false);
    case DH_OP_ACQUIRE:
    case DH_OP_RELEASE:
        return !p->hard_lock[e->target] || e->mode & DH_LET_GO ? DH_EFFECT_NONE
               : e->mode == DH_SHARED                          ? DH_EFFECT_READ
                                                               : DH_EFFECT_BOTH;
    default:
        return DH_EFFECT_NONE;
    }
}

/* Version v joined with version w, and `count` events of thread u. DH_NONE: no memory. */
static u32 joined(struct dh_predict *p, const struct reading *r, u32 v, u32 w, u32 u, u32 count)
{
    memset(r->counts, 0, p->threads * sizeof(u32));
    dh_versions_join(&p->versions, v, r->counts);
    dh_versions_join(&p->versions, w, r->counts);
    if (r->counts[u] < count)
        r->counts[u] = count;
    return dh_versions_add(&p->versions, v, r->counts);
}

static u32 need_of(const struct reading *r, u32 e)
{
    return r->moments[r->moment[e]].need;
}

/* Thread t acquires what thread u, at version v, had done after `count` events. */
static bool learn(struct dh_predict *p, struct reading *r, u32 t, u32 v, u32 u, u32 count)
{
    if (u == t || dh_versions_has(&p->versions, r->version[t], u, count - 1))
        return true;
    u32 mine = joined(p, r, r->version[t], v, u, count);
    if (mine == DH_NONE)
        return false;
    r->version[t] = mine;
    return true;
}

/* All of thread u, and all that u would need to go on: it may have been forked and have done nothing since.
 */
static bool join_thread(struct dh_predict *p, struct reading *r, u32 t, u32 u)
{
    u32 mine = joined(p, r, r->version[t], r->version[u], u, r->done[u]);
    if (mine == DH_NONE)
        return false;
    r->version[t] = mine;
    return true;
}

static bool learn_writer(struct dh_predict *p, struct reading *r, u32 t, u32 object)
{
    u32 w = r->writer[object];
    if (w == DH_NONE)
        return true;
    return learn(p, r, t, need_of(r, w), p->trace->events[w].thread, p->local[w] + 1);
}

/* Adds what thread t has done, including its event i, to what was published at the object. */
static bool publish(struct dh_predict *p, const struct reading *r, u32 t, u32 i, u32 *published)
{
    u32 before = *published == DH_NONE ? r->version[t] : *published;
    u32 both = joined(p, r, before, r->version[t], t, p->local[i] + 1);
    if (both == DH_NONE)
        return false;
    *published = both;
    return true;
}

/* Thread t acquires all that was published at the object. */
static bool receive(struct dh_predict *p, struct reading *r, u32 t, u32 published)
{
    u32 mine = published == DH_NONE ? r->version[t] : joined(p, r, r->version[t], published, t, 0);
    if (mine == DH_NONE)
        return false;
    r->version[t] = mine;
    return true;
}

/* Readers do not wait for each other, but an exclusive acquisition waits for them all. */
static bool learn_readers(struct dh_predict *p, struct reading *r, u32 i)
{
    const struct dh_event *e = &p->trace->events[i];
    u32 *readers = &r->readers[e->target];
    if (e->op == DH_OP_RELEASE && e->mode == DH_SHARED)
        return publish(p, r, e->thread, i, readers);
    if (e->op != DH_OP_ACQUIRE || e->mode != DH_EXCLUSIVE)
        return true;
    bool ok = receive(p, r, e->thread, *readers);
    *readers = DH_NONE;
    return ok;
}

/* `outer` with one more section on top. DH_NONE: no memory. */
static u32 push(struct dh_predict *p, u32 outer, u32 section)
{
    if (p->n_holdings == p->cap_holdings && !dh_mem_grow(&p->d->mem, (void **)&p->holdings, p->n_holdings,
                                                         &p->cap_holdings, sizeof(*p->holdings)))
        return DH_NONE;
    p->holdings[p->n_holdings] = (struct dh_holding){.section = section, .outer = outer};
    return p->n_holdings++;
}

/* The list without the section of `lock`, wherever it stands. */
static u32 without(struct dh_predict *p, u32 holding, u32 lock)
{
    if (!holding)
        return 0;
    struct dh_holding top = p->holdings[holding];
    if (p->sections[top.section].lock == lock)
        return top.outer;
    u32 outer = without(p, top.outer, lock);
    return outer == DH_NONE ? DH_NONE : push(p, outer, top.section);
}

static bool acquire(struct dh_predict *p, struct reading *r, u32 e, u32 t, u32 lock)
{
    if (p->n_sections == p->cap_sections && !dh_mem_grow(&p->d->mem, (void **)&p->sections, p->n_sections,
                                                         &p->cap_sections, sizeof(*p->sections)))
        return false;
    u32 s = p->n_sections++;
    p->sections[s] =
        (struct dh_section){.lock = lock, .thread = t, .local = p->local[e], .acq = e, .rel = DH_NONE};
    return (r->holding[t] = push(p, r->holding[t], s)) != DH_NONE;
}

static bool release(struct dh_predict *p, struct reading *r, u32 e, u32 t, u32 lock)
{
    const struct dh_section *s = dh_predict_find_lock(p, r->holding[t], lock);
    if (!s)
        return true; /* only in a trace that is not well-formed */
    p->sections[s - p->sections].rel = e;
    return (r->holding[t] = without(p, r->holding[t], lock)) != DH_NONE;
}

/* The object an access is to. Its memory must have been there: no access comes before its birth. */
static bool find_object(struct dh_predict *p, struct reading *r, u32 i, u32 *need)
{
    const struct dh_event *e = &p->trace->events[i];
    bool made;
    p->object[i] = dh_lives_access(&r->lives, p, e->target, &made);
    if (made && p->parent[p->object[i]] != DH_NONE)
        r->writer[p->object[i]] = r->writer[p->parent[p->object[i]]];
    u32 b = p->birth[p->object[i]];
    bool ok =
        b == DH_NONE || learn(p, r, e->thread, need_of(r, b), p->trace->events[b].thread, p->local[b] + 1);
    *need = r->version[e->thread];
    return ok;
}

static bool take_effect(struct dh_predict *p, struct reading *r, u32 i, u32 *need)
{
    const struct dh_event *e = &p->trace->events[i];
    enum dh_effect effect = dh_predict_effect(p, e);
    if (effect == DH_EFFECT_NONE)
        return true;
    if (!dh_event_is_access(e))
        p->object[i] = e->target;
    else if (!find_object(p, r, i, need))
        return false;
    u32 object = p->object[i];
    if (effect == DH_EFFECT_SIGNAL)
        return publish(p, r, e->thread, i, &r->published[object]);
    if (effect == DH_EFFECT_COLLECT ? !receive(p, r, e->thread, r->published[object])
                                    : dh_effect_sees(effect) && !learn_writer(p, r, e->thread, object))
        return false;
    if ((e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE) && !learn_readers(p, r, i))
        return false;
    /* A racing read need not see what it saw; anything else must. */
    if (!dh_event_is_access(e))
        *need = r->version[e->thread];
    if (dh_effect_changes(effect))
        r->writer[object] = i;
    return true;
}

/* Keeps what event i needs and which locks its thread holds before it, mostly as the event before. */
static bool set_moment(struct dh_predict *p, struct reading *r, u32 i, struct dh_moment now)
{
    u32 *last = &r->last[p->trace->events[i].thread];
    const struct dh_moment *before = &r->moments[*last ? *last - 1 : 0];
    if (!*last || before->need != now.need || before->holding != now.holding) {
        if (r->n_moments == r->cap_moments && !dh_mem_grow(&p->d->mem, (void **)&r->moments, r->n_moments,
                                                           &r->cap_moments, sizeof(*r->moments)))
            return false;
        r->moments[r->n_moments++] = now;
        *last = r->n_moments;
    }
    r->moment[i] = *last - 1;
    return true;
}

#define ONES_2(n) (n), (n) + 1, (n) + 1, (n) + 2
#define ONES_4(n) ONES_2(n), ONES_2((n) + 1), ONES_2((n) + 1), ONES_2((n) + 2)
#define ONES_6(n) ONES_4(n), ONES_4((n) + 1), ONES_4((n) + 1), ONES_4((n) + 2)

/* Not every processor that this runs on has an instruction for it. */
const u8 dh_predict_ones[256] = {ONES_6(0), ONES_6(1), ONES_6(1), ONES_6(2)};

/* Threads go through few moments: where each begins takes less than its number for each event. */
static bool make_steps(struct dh_predict *p, const struct reading *r)
{
    u32 n = 0;
    p->moments = array(p->d, r->n_moments, sizeof(*p->moments));
    p->steps = array(p->d, (size_t)p->n / 8 + 1, sizeof(*p->steps));
    p->steps_before = array(p->d, (size_t)p->n / DH_STEPS + 1, sizeof(u32));
    if (p->d->failed)
        return false;
    for (u32 t = 0; t < p->threads; t++) {
        u32 last = DH_NONE;
        for (u32 at = p->first[t]; at < p->first[t + 1]; at++) {
            u32 moment = r->moment[p->order[at]];
            if (at % DH_STEPS == 0)
                p->steps_before[at / DH_STEPS] = n;
            if (at % 8 == 0)
                p->steps[at / 8].before = (u8)(n - p->steps_before[at / DH_STEPS]);
            if (moment == last)
                continue;
            p->steps[at / 8].bits |= (u8)(1u << at % 8);
            p->moments[n++] = r->moments[moment];
            last = moment;
        }
    }
    return true;
}

static bool read_event(struct dh_predict *p, struct reading *r, u32 i)
{
    const struct dh_event *e = &p->trace->events[i];
    u32 t = e->thread;
    p->local[i] = r->done[t]++;
    p->order[p->first[t] + p->local[i]] = i;
    struct dh_moment now = {.need = r->version[t], .holding = r->holding[t]};
    bool ok = true;
    if (dh_predict_is_range(e)) {
        dh_lives_range(&r->lives, p, i);
        p->object[i] = DH_NONE;
    } else if (e->op == DH_OP_ACQUIRE && !p->hard_lock[e->target]) {
        ok = acquire(p, r, i, t, e->target);
    } else if (e->op == DH_OP_RELEASE && !p->hard_lock[e->target]) {
        ok = release(p, r, i, t, e->target);
    } else if (e->op == DH_OP_FORK) {
        ok = learn(p, r, e->target, now.need, t, p->local[i] + 1);
    } else if (e->op == DH_OP_JOIN) {
        ok = join_thread(p, r, t, e->target);
        now.need = r->version[t];
    } else {
        ok = take_effect(p, r, i, &now.need);
    }
    return ok && set_moment(p, r, i, now);
}

/* What an event shows about the use of its object. */
static u8 use_of(const struct dh_event *e)
{
    switch (e->op) {
    case DH_OP_VOLATILE:
    case DH_OP_BARRIER_ENTER:
    case DH_OP_BARRIER_LEAVE:
    case DH_OP_NOTIFY:
    case DH_OP_WAIT:
        return DH_SIGNALLED;
    case DH_OP_ATOMIC_LOAD:
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
        return DH_VALUED;
    case DH_OP_ACQUIRE:
    case DH_OP_RELEASE:
        return e->mode & DH_SHARED ? DH_VALUED : 0;
    default:
        return 0;
    }
}

/* The first pass: how many events a thread has, which locks are not plain mutexes, how many objects there
 * are. */
static bool count(struct dh_predict *p, struct dh_lives *lives)
{
    const struct dh_trace *trace = p->trace;
    p->first = array(p->d, (size_t)p->threads + 1, sizeof(u32));
    p->hard_lock = array(p->d, trace->locks, sizeof(bool));
    p->signalled = array(p->d, trace->locks, sizeof(u8));
    if (p->d->failed)
        return false;
    for (u32 i = 0; i < p->n; i++) {
        const struct dh_event *e = &trace->events[i];
        p->first[e->thread + 1]++;
        if ((e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE) && (e->mode & DH_SHARED))
            p->hard_lock[e->target] = true;
        if (dh_event_space(e->op) == DH_SPACE_LOCK)
            p->signalled[e->target] |= use_of(e);
    }
    for (u32 t = 0; t < p->threads; t++)
        p->first[t + 1] += p->first[t];
    p->objects = trace->locks + trace->cells + dh_lives_count(trace, lives->pending);
    return true;
}

static bool begin_reading(struct dh_predict *p, struct reading *r)
{
    struct dh_detector *d = p->d;
    const struct dh_trace *trace = p->trace;
    r->version = array(d, p->threads, sizeof(u32));
    r->done = array(d, p->threads, sizeof(u32));
    r->holding = array(d, p->threads, sizeof(u32));
    r->last = array(d, p->threads, sizeof(u32));
    r->moment = array(d, p->n, sizeof(u32));
    r->writer = none_array(d, p->objects);
    r->readers = none_array(d, trace->locks);
    r->published = none_array(d, trace->locks);
    p->object = array(d, p->n, sizeof(u32));
    p->birth = none_array(d, p->objects);
    p->death = none_array(d, p->objects);
    p->born = none_array(d, p->objects);
    p->parent = none_array(d, p->objects);
    p->child = none_array(d, p->objects);
    p->sibling = none_array(d, p->objects);
    p->local = array(d, p->n, sizeof(u32));
    p->links = dh_detect_alloc(d, sizeof(*p->links));
    p->held_at = array(d, p->threads, sizeof(*p->held_at));
    p->order = array(d, p->n, sizeof(u32));
    r->counts = array(d, p->threads, sizeof(u32));
    p->versions = (struct dh_versions){.d = d, .threads = p->threads};
    if (d->failed || dh_versions_add(&p->versions, DH_NONE, r->counts) == DH_NONE ||
        !dh_lives_init(&r->lives, p))
        return false;
    p->end_holding = r->holding;
    p->n_holdings = 1;
    return dh_mem_grow(&d->mem, (void **)&p->holdings, 0, &p->cap_holdings, sizeof(*p->holdings)) &&
           dh_mem_grow(&d->mem, (void **)&r->moments, 0, &r->cap_moments, sizeof(*r->moments));
}

static int take_over(struct dh_predict *p, struct dh_detector *d, const struct dh_trace *trace)
{
    size_t bytes = trace->shared->d->mem.bytes;
    if (d->mem.limit && (bytes > d->mem.limit || d->mem.bytes > d->mem.limit - bytes)) {
        d->mem.refused = true;
        return -ENOMEM;
    }
    d->mem.bytes += bytes;
    *p = *trace->shared;
    p->d = d;
    p->trace = trace;
    p->held_at = array(d, p->threads, sizeof(*p->held_at));
    return p->held_at ? 0 : -ENOMEM;
}

int dh_predict_init(struct dh_predict *p, struct dh_detector *d, const struct dh_trace *trace)
{
    if (trace->shared)
        return take_over(p, d, trace);
    *p = (struct dh_predict){.d = d, .trace = trace, .n = (u32)trace->n, .threads = trace->threads};
    struct reading r = {0};
    if (trace->n >= DH_NONE)
        return -EFBIG;
    if (trace->threads > DH_PREDICT_THREADS)
        return -E2BIG;
    r.lives.pending = array(d, trace->cells, sizeof(u32));
    if (!r.lives.pending || !count(p, &r.lives) || !begin_reading(p, &r))
        return -ENOMEM;
    for (u32 i = 0; i < p->n; i++) {
        if (!read_event(p, &r, i))
            return -ENOMEM;
    }
    if (!make_steps(p, &r))
        return -ENOMEM;
    dh_detect_free(d, r.version, (p->threads ? p->threads : 1) * sizeof(u32));
    dh_detect_free(d, r.counts, (p->threads ? p->threads : 1) * sizeof(u32));
    dh_detect_free(d, r.done, (p->threads ? p->threads : 1) * sizeof(u32));
    dh_detect_free(d, r.writer, (p->objects ? p->objects : 1) * sizeof(u32));
    dh_detect_free(d, r.readers, (trace->locks ? trace->locks : 1) * sizeof(u32));
    dh_detect_free(d, r.published, (trace->locks ? trace->locks : 1) * sizeof(u32));
    dh_detect_free(d, r.last, (p->threads ? p->threads : 1) * sizeof(u32));
    dh_detect_free(d, r.moment, (p->n ? p->n : 1) * sizeof(u32));
    dh_detect_free(d, r.moments, r.cap_moments * sizeof(*r.moments));
    dh_detect_free(d, r.lives.pending, (trace->cells ? trace->cells : 1) * sizeof(u32));
    dh_lives_done(&r.lives, p);
    return dh_predict_index_sections(p);
}

void dh_predict_absorb(const struct dh_predict *p, u32 *cut, u32 e, bool with)
{
    u32 t = p->trace->events[e].thread, count = p->local[e] + with;
    dh_versions_join(&p->versions, dh_predict_need(p, e), cut);
    if (cut[t] < count)
        cut[t] = count;
}

u32 dh_predict_holding_at(const struct dh_predict *p, u32 t, u32 count)
{
    u32 at = p->first[t] + count;
    return at < p->first[t + 1] ? p->moments[dh_predict_moment(p, at)].holding : p->end_holding[t];
}

/* Everything here is scattered in memory; the steps for one thread depend on each other, but threads are
 * independent: so each step is done for all threads before the next. */
void dh_predict_hold(const struct dh_predict *p, const u32 *cut)
{
    struct dh_held_at *held = p->held_at;
    for (u32 t = 0; t < p->threads; t++) {
        u32 at = p->first[t] + cut[t];
        held[t].count = cut[t];
        held[t].holding = at < p->first[t + 1] ? dh_predict_moment(p, at) : DH_NONE;
    }
    for (u32 t = 0; t < p->threads; t++)
        held[t].holding =
            held[t].holding == DH_NONE ? p->end_holding[t] : p->moments[held[t].holding].holding;
    for (u32 t = 0; t < p->threads; t++) {
        if (held[t].holding)
            __builtin_prefetch(&p->sections[p->holdings[held[t].holding].section]);
    }
}

u32 dh_predict_last(const struct dh_predict *p, const u32 *cut)
{
    u32 last = DH_NONE;
    for (u32 t = 0; t < p->threads; t++) {
        u32 e = cut[t] ? p->order[p->first[t] + cut[t] - 1] : DH_NONE;
        if (e != DH_NONE && (last == DH_NONE || e > last))
            last = e;
    }
    return last;
}

const struct dh_section *dh_predict_find_lock(const struct dh_predict *p, u32 holding, u32 lock)
{
    for (; holding; holding = p->holdings[holding].outer) {
        const struct dh_section *s = &p->sections[p->holdings[holding].section];
        if (s->lock == lock)
            return s;
    }
    return NULL;
}

bool dh_predict_same_locks(const struct dh_predict *p, u32 a, u32 b)
{
    const struct dh_holding *list = p->holdings;
    while (a != b && a && b && p->sections[list[a].section].lock == p->sections[list[b].section].lock) {
        a = list[a].outer;
        b = list[b].outer;
    }
    return a == b;
}

bool dh_predict_share_lock(const struct dh_predict *p, u32 a, u32 b)
{
    for (; a; a = p->holdings[a].outer) {
        if (dh_predict_find_lock(p, b, p->sections[p->holdings[a].section].lock))
            return true;
    }
    return false;
}
