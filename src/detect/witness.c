/*
 * witness.c - see witness.h.
 */
#include "detect/witness.h"

#include <errno.h>
#include <string.h>

static u32 *array(struct dh_detector *d, size_t n)
{
    return dh_detect_alloc(d, (n ? n : 1) * sizeof(u32));
}

/* Who wrote the memory of the object last: a write to an object is one to its copies too. */
static u32 last_writer(const struct dh_witness *w, u32 object)
{
    u32 last = DH_NONE, when = 0;
    for (u32 o = object; o != DH_NONE; o = w->p->parent[o]) {
        if (w->writer[o] != DH_NONE && (last == DH_NONE || w->written[o] > when)) {
            last = w->writer[o];
            when = w->written[o];
        }
    }
    return last;
}

static void write_at(struct dh_witness *w, u32 i, u32 step)
{
    w->writer[w->p->object[i]] = i;
    w->written[w->p->object[i]] = step;
}

/* One pass over the trace as it was, for what its events saw. */
static void look(struct dh_witness *w, u32 *fork, u32 *count)
{
    const struct dh_predict *p = w->p;
    for (u32 i = 0; i < p->n; i++) {
        const struct dh_event *e = &p->trace->events[i];
        enum dh_effect effect = dh_predict_effect(p, e);
        w->guard[i] = fork[e->thread];
        fork[e->thread] = DH_NONE;
        count[e->thread]++;
        if (e->op == DH_OP_FORK) {
            w->from[i] = fork[e->target];
            fork[e->target] = i;
        } else if (e->op == DH_OP_JOIN) {
            w->from[i] = count[e->target];
            if (w->guard[i] == DH_NONE)
                w->guard[i] = fork[e->target];
        } else if (effect == DH_EFFECT_READ || effect == DH_EFFECT_BOTH) {
            w->from[i] = last_writer(w, p->object[i]);
        }
        if (effect == DH_EFFECT_WRITE || effect == DH_EFFECT_BOTH)
            write_at(w, i, i);
    }
}

static bool prepare(struct dh_witness *w)
{
    const struct dh_predict *p = w->p;
    struct dh_detector *d = p->d;
    w->from = array(d, p->n);
    w->guard = array(d, p->n);
    w->done = array(d, p->threads);
    w->owner = array(d, p->trace->locks);
    w->readers = array(d, p->trace->locks);
    w->writer = array(d, p->objects);
    w->written = array(d, p->objects);
    w->sequence = dh_detect_alloc(d, ((size_t)p->n + 2) * sizeof(u64));
    u32 *fork = array(d, p->threads);
    if (d->failed)
        return false;
    memset(fork, 0xff, p->threads * sizeof(u32));
    memset(w->writer, 0xff, p->objects * sizeof(u32));
    look(w, fork, w->done);
    dh_detect_free(d, fork, (p->threads ? p->threads : 1) * sizeof(u32));
    return true;
}

static bool happened(const struct dh_witness *w, u32 i)
{
    return w->p->local[i] < w->done[w->p->trace->events[i].thread];
}

/* Could event i be the next of its thread? */
static bool comes_next(const struct dh_witness *w, u32 i)
{
    if (w->p->local[i] != w->done[w->p->trace->events[i].thread])
        return false;
    for (u32 f = w->guard[i]; f != DH_NONE; f = w->from[f]) {
        if (!happened(w, f))
            return false;
    }
    if (!dh_event_is_access(&w->p->trace->events[i]))
        return true;
    u32 birth = w->p->birth[w->p->object[i]], death = w->p->death[w->p->object[i]];
    return (birth == DH_NONE || happened(w, birth)) && (death == DH_NONE || !happened(w, death));
}

/* Takes or gives back a lock. */
static bool lock(struct dh_witness *w, const struct dh_event *e)
{
    u32 *owner = &w->owner[e->target], *readers = &w->readers[e->target], me = e->thread + 1;
    bool shared = e->mode & DH_SHARED;
    if (e->op == DH_OP_ACQUIRE) {
        if (*owner || (*readers && !shared))
            return false;
        *readers += shared;
        *owner = shared ? 0 : me;
        return true;
    }
    if (shared ? *readers == 0 : *owner != me)
        return false;
    *readers -= shared;
    *owner = 0;
    return true;
}

static bool execute(struct dh_witness *w, u32 i, u32 step)
{
    const struct dh_predict *p = w->p;
    const struct dh_event *e = &p->trace->events[i];
    enum dh_effect effect = dh_predict_effect(p, e);
    if (!comes_next(w, i))
        return false;
    if (e->op == DH_OP_JOIN && w->done[e->target] < w->from[i])
        return false;
    if ((effect == DH_EFFECT_READ || effect == DH_EFFECT_BOTH) && last_writer(w, p->object[i]) != w->from[i])
        return false;
    if (effect == DH_EFFECT_WRITE || effect == DH_EFFECT_BOTH)
        write_at(w, i, step);
    if ((e->op == DH_OP_ACQUIRE || e->op == DH_OP_RELEASE) && !lock(w, e))
        return false;
    w->done[e->thread]++;
    return true;
}

static bool conflict(const struct dh_predict *p, u32 a, u32 b)
{
    const struct dh_event *x = &p->trace->events[a], *y = &p->trace->events[b];
    return dh_event_is_access(x) && dh_event_is_access(y) && dh_predict_conflict(x, y) &&
           (dh_predict_meet(p, a, b) || dh_predict_meet(p, b, a));
}

bool dh_witness_check(struct dh_witness *w, const u64 *sequence, u64 n)
{
    const struct dh_predict *p = w->p;
    if (!w->from && !prepare(w))
        return false;
    if (n < 2)
        return false;
    for (u64 i = 0; i < n; i++) {
        if (sequence[i] >= p->n)
            return false;
    }
    memset(w->done, 0, p->threads * sizeof(u32));
    memset(w->owner, 0, p->trace->locks * sizeof(u32));
    memset(w->readers, 0, p->trace->locks * sizeof(u32));
    memset(w->writer, 0xff, p->objects * sizeof(u32));
    for (u64 i = 0; i < n - 2; i++) {
        if (!execute(w, (u32)sequence[i], (u32)i))
            return false;
    }
    u32 a = (u32)sequence[n - 2], b = (u32)sequence[n - 1];
    return conflict(p, a, b) && comes_next(w, a) && comes_next(w, b);
}

u64 dh_witness_make(struct dh_witness *w, const u32 *cut, const u8 *level, u32 top, u32 earlier, u32 now)
{
    const struct dh_predict *p = w->p;
    u32 last = dh_predict_last(p, cut);
    u64 n = 0;
    if (!w->from && !prepare(w))
        return 0;
    for (u32 l = 0; l <= top && last != DH_NONE; l++) {
        for (u32 i = 0; i <= last; i++) {
            if (p->local[i] < cut[p->trace->events[i].thread] && (!level || level[i] == l))
                w->sequence[n++] = i;
        }
    }
    w->sequence[n++] = earlier;
    w->sequence[n++] = now;
    w->spent += n * (top + 1);
    w->length = dh_witness_check(w, w->sequence, n) ? n : 0;
    return w->length;
}

static bool grow_pairs(struct dh_witness *w)
{
    u32 cap = w->cap_pairs ? w->cap_pairs * 2 : 64;
    u64 *pairs = dh_detect_alloc(w->p->d, cap * sizeof(*pairs));
    if (!pairs)
        return false;
    for (u32 i = 0; i < w->cap_pairs; i++) {
        u32 at = (u32)dh_hash64(w->pairs[i]) & (cap - 1);
        while (w->pairs[i] && pairs[at])
            at = (at + 1) & (cap - 1);
        if (w->pairs[i])
            pairs[at] = w->pairs[i];
    }
    dh_detect_free(w->p->d, w->pairs, w->cap_pairs * sizeof(*pairs));
    w->pairs = pairs;
    w->cap_pairs = cap;
    return true;
}

/* Is this the first race of these two sites? */
static bool new_pair(struct dh_witness *w, u32 a, u32 b)
{
    if (w->n_pairs * 2 >= w->cap_pairs && !grow_pairs(w))
        return false;
    u64 key = (a < b ? (u64)a << 32 | b : (u64)b << 32 | a) + 1;
    u32 at = (u32)dh_hash64(key) & (w->cap_pairs - 1);
    for (; w->pairs[at]; at = (at + 1) & (w->cap_pairs - 1)) {
        if (w->pairs[at] == key)
            return false;
    }
    w->pairs[at] = key;
    w->n_pairs++;
    return true;
}

static struct dh_race_access access_of(const struct dh_predict *p, u32 i)
{
    const struct dh_event *e = &p->trace->events[i];
    return (struct dh_race_access){
        .thread = e->thread,
        .site = e->site,
        .event = i,
        .write = e->op == DH_OP_WRITE,
    };
}

bool dh_witness_due(struct dh_witness *w, u32 earlier, u32 now)
{
    const struct dh_event *events = w->p->trace->events;
    u64 factor = new_pair(w, events[now].site, events[earlier].site) ? DH_WITNESS_NEW : DH_WITNESS_EACH;
    return w->spent < factor * w->p->n + DH_WITNESS_SMALL;
}

int dh_witness_emit(struct dh_witness *w, bool with, u32 earlier, u32 now)
{
    const struct dh_predict *p = w->p;
    struct dh_race race = {
        .cell = p->trace->events[now].target,
        .now = access_of(p, now),
        .earlier = access_of(p, earlier),
        .witness = with ? w->sequence : NULL,
        .witness_len = with ? w->length : 0,
    };
    dh_detect_emit(p->d, &race);
    return p->d->failed ? -ENOMEM : 0;
}

int dh_witness_report(struct dh_witness *w, const u32 *cut, u32 earlier, u32 now)
{
    bool due = dh_witness_due(w, earlier, now);
    if (due && !dh_witness_make(w, cut, NULL, 0, earlier, now))
        return w->p->d->failed ? -ENOMEM : 0;
    return dh_witness_emit(w, due, earlier, now);
}
