/*
 * witness.c - see witness.h.
 */
#include "detect/witness.h"

#include <errno.h>
#include <string.h>

#include "detect/predict_links.h"

static u32 *array(struct dh_detector *d, size_t n)
{
    return dh_detect_alloc(d, (n ? n : 1) * sizeof(u32));
}

/* The object as the beginning of the sequence leaves it, unless something was done to it since. */
static void look_at(struct dh_witness *w, u32 object)
{
    const struct dh_link_list *writes = &w->p->links->writes;
    if (w->stamp[object] == w->round)
        return;
    u32 from = writes->first[object], at = dh_links_from(writes, object, w->start);
    bool signalled = object < w->p->trace->locks && w->p->signalled[object] == DH_SIGNALLED;
    w->stamp[object] = w->round;
    w->writer[object] = signalled ? at - from : at > from ? writes->events[at - 1] : DH_NONE;
    w->written[object] = signalled ? at - from : at > from ? writes->events[at - 1] : 0;
}

/* The last write to the memory of the object: a write to an object is also one to its copies. */
static u32 last_writer(struct dh_witness *w, u32 object)
{
    u32 last = DH_NONE, when = 0;
    for (u32 o = object; o != DH_NONE; o = w->p->parent[o]) {
        look_at(w, o);
        if (w->writer[o] != DH_NONE && (last == DH_NONE || w->written[o] > when)) {
            last = w->writer[o];
            when = w->written[o];
        }
    }
    return last;
}

static void write_at(struct dh_witness *w, u32 i, u32 step)
{
    u32 o = w->p->object[i];
    w->stamp[o] = w->round;
    w->writer[o] = i;
    w->written[o] = step;
    for (u32 k = w->copy_written ? w->p->parent[o] : DH_NONE; k != DH_NONE; k = w->p->parent[k])
        w->copy_written[k] = w->round;
}

static bool guard(struct dh_witness *w, u32 event, u32 fork)
{
    if (w->n_guards == w->cap_guards &&
        !dh_mem_grow(&w->p->d->mem, (void **)&w->guards, w->n_guards, &w->cap_guards, sizeof(*w->guards)))
        return false;
    w->guards[w->n_guards++] = (struct dh_guard){.event = event, .fork = fork};
    return true;
}

/* The forks since its last event that the first event of a thread waits for, and a join of a thread that did
 * nothing after them. */
static bool find_guards(struct dh_witness *w, u32 *fork, u32 *before)
{
    const struct dh_predict *p = w->p;
    bool ok = true;
    for (u32 i = 0; i < p->n && ok; i++) {
        const struct dh_event *e = &p->trace->events[i];
        u32 waits = e->op == DH_OP_JOIN ? e->target : DH_NONE;
        for (u32 f = fork[e->thread]; f && ok; f = before[f - 1])
            ok = guard(w, i, f - 1);
        fork[e->thread] = 0;
        for (u32 f = waits == DH_NONE ? 0 : fork[waits]; f && ok; f = before[f - 1])
            ok = guard(w, i, f - 1);
        if (e->op == DH_OP_FORK) {
            before[i] = fork[e->target];
            fork[e->target] = i + 1;
        }
    }
    return ok;
}

static bool any_lives(const struct dh_predict *p)
{
    for (u32 o = 0; o < p->objects; o++) {
        if (p->birth[o] != DH_NONE || p->death[o] != DH_NONE)
            return true;
    }
    return false;
}

static bool prepare(struct dh_witness *w)
{
    const struct dh_predict *p = w->p;
    struct dh_detector *d = p->d;
    size_t threads = ((size_t)p->threads + 1) * sizeof(u32);
    w->done = array(d, p->threads);
    w->owner = array(d, p->trace->locks);
    w->readers = array(d, p->trace->locks);
    w->writer = array(d, p->objects);
    w->written = array(d, p->objects);
    w->stamp = array(d, p->objects);
    w->place = array(d, p->objects);
    w->copy_written = p->copied ? array(d, p->objects) : NULL;
    w->sequence = array(d, (size_t)p->n + 2);
    w->lives = any_lives(p);
    u32 *fork = dh_detect_alloc(d, threads);
    bool ok = !d->failed && dh_links_make(p) && find_guards(w, fork, w->sequence);
    dh_detect_free(d, fork, threads);
    return ok;
}

static bool happened(const struct dh_witness *w, u32 i)
{
    return w->p->local[i] < w->done[w->p->trace->events[i].thread];
}

/* The first guard of event i, if it has one. */
static u32 first_guard(const struct dh_witness *w, u32 i)
{
    u32 low = 0, high = w->n_guards;
    if (high == 0 || w->guards[high - 1].event < i)
        return high; /* mostly: threads begin early */
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (w->guards[mid].event < i)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Could event i be the next of its thread? */
static bool comes_next(const struct dh_witness *w, u32 i)
{
    if (w->p->local[i] != w->done[w->p->trace->events[i].thread])
        return false;
    for (u32 g = first_guard(w, i); g < w->n_guards && w->guards[g].event == i; g++) {
        if (!happened(w, w->guards[g].fork))
            return false;
    }
    if (!w->lives || !dh_event_is_access(&w->p->trace->events[i]))
        return true;
    u32 birth = w->p->birth[w->p->object[i]], death = w->p->death[w->p->object[i]];
    return (birth == DH_NONE || happened(w, birth)) && (death == DH_NONE || !happened(w, death));
}

/* Acquires or releases a lock. */
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

/* Have all signals of the object before event i in the trace happened, and no other? */
static bool finds_signals(struct dh_witness *w, u32 i)
{
    const struct dh_link_list *signals = &w->p->links->writes;
    u32 o = w->p->object[i], n = dh_links_from(signals, o, i) - signals->first[o];
    look_at(w, o);
    while (w->written[o] < n && happened(w, signals->events[signals->first[o] + w->written[o]]))
        w->written[o]++;
    return w->written[o] >= n && w->writer[o] == n;
}

/* Who wrote the object last before event i in the trace. Replays go over the same events again and again, so
 * it is mostly the one that was found last time. */
static u32 writer_before(struct dh_witness *w, u32 object, u32 i)
{
    const struct dh_link_list *writes = &w->p->links->writes;
    u32 from = writes->first[object], at = from + w->place[object];
    if ((at > from && writes->events[at - 1] >= i) ||
        (at < writes->first[object + 1] && writes->events[at] < i)) {
        at = dh_links_from(writes, object, i);
        w->place[object] = at - from;
    }
    return at > from ? writes->events[at - 1] : DH_NONE;
}

/* Is what the event sees what it saw in the trace? */
static bool sees_the_same(struct dh_witness *w, u32 i, enum dh_effect effect)
{
    const struct dh_predict *p = w->p;
    if (effect == DH_EFFECT_COLLECT)
        return finds_signals(w, i);
    if (!dh_effect_sees(effect))
        return true;
    u32 o = p->object[i];
    if (w->copy_written)
        return w->copy_written[o] != w->round && last_writer(w, o) == dh_links_writer(p, o, i);
    u32 writer = writer_before(w, o, i);
    /* Nobody has written it since the beginning, so nobody may have in the trace. */
    if (w->stamp[o] != w->round)
        return writer == DH_NONE || writer < w->start;
    return w->writer[o] == writer;
}

/* Has the thread that event i joins done all that it did before it in the trace? */
static bool has_ended(const struct dh_witness *w, u32 i)
{
    const struct dh_predict *p = w->p;
    u32 t = p->trace->events[i].target, done = w->done[t], at = p->first[t] + done;
    return at == p->first[t + 1] || p->order[at] > i;
}

/* Mostly it is one of these. */
static enum dh_effect effect_of(const struct dh_predict *p, const struct dh_event *e)
{
    return e->op == DH_OP_READ    ? DH_EFFECT_READ
           : e->op == DH_OP_WRITE ? DH_EFFECT_WRITE
                                  : dh_predict_effect(p, e);
}

static bool execute(struct dh_witness *w, u32 i, u32 step)
{
    const struct dh_predict *p = w->p;
    const struct dh_event *e = &p->trace->events[i];
    enum dh_effect effect = effect_of(p, e);
    if (!comes_next(w, i) || (e->op == DH_OP_JOIN && !has_ended(w, i)) || !sees_the_same(w, i, effect))
        return false;
    if (effect == DH_EFFECT_SIGNAL) {
        look_at(w, p->object[i]);
        w->writer[p->object[i]]++;
    } else if (dh_effect_changes(effect)) {
        write_at(w, i, step);
    }
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

/* Who has the locks after the beginning. */
static void take_locks(struct dh_witness *w)
{
    const struct dh_predict *p = w->p;
    const struct dh_event *events = p->trace->events;
    memset(w->owner, 0, p->trace->locks * sizeof(u32));
    memset(w->readers, 0, p->trace->locks * sizeof(u32));
    for (u32 t = 0; t < p->threads; t++) {
        for (u32 h = dh_predict_holding_at(p, t, w->done[t]); h; h = p->holdings[h].outer)
            w->owner[p->sections[p->holdings[h].section].lock] = t + 1;
    }
    for (u32 lock = 0; lock < p->trace->locks && w->start; lock++) {
        const struct dh_link_list *reads = &p->links->reads, *writes = &p->links->writes;
        if (!p->hard_lock[lock])
            continue;
        u32 end = dh_links_from(reads, lock, w->start);
        for (u32 k = reads->first[lock]; k < end; k++) {
            w->readers[lock] += events[reads->events[k]].op == DH_OP_ACQUIRE;
            w->readers[lock] -= events[reads->events[k]].op == DH_OP_RELEASE;
        }
        u32 last = dh_links_from(writes, lock, w->start);
        const struct dh_event *e = last > writes->first[lock] ? &events[writes->events[last - 1]] : NULL;
        if (e && e->op == DH_OP_ACQUIRE)
            w->owner[lock] = e->thread + 1;
    }
}

/* The state after the events before `start`, as they are in the trace. */
static void begin(struct dh_witness *w, u32 start)
{
    const struct dh_predict *p = w->p;
    w->start = start;
    w->round++;
    for (u32 t = 0; t < p->threads; t++) {
        u32 low = p->first[t], high = p->first[t + 1];
        while (low < high) {
            u32 mid = low + (high - low) / 2;
            if (p->order[mid] < start)
                low = mid + 1;
            else
                high = mid;
        }
        w->done[t] = low - p->first[t];
    }
    take_locks(w);
}

bool dh_witness_check(struct dh_witness *w, u32 start, const u32 *sequence, u64 n)
{
    const struct dh_predict *p = w->p;
    if ((!w->sequence && !prepare(w)) || n < 2 || start > p->n)
        return false;
    for (u64 i = 0; i < n; i++) {
        if (sequence[i] >= p->n)
            return false;
    }
    begin(w, start);
    for (u64 i = 0; i < n - 2; i++) {
        if (!execute(w, sequence[i], start + (u32)i))
            return false;
    }
    u32 a = sequence[n - 2], b = sequence[n - 1];
    return conflict(p, a, b) && comes_next(w, a) && comes_next(w, b);
}

u32 dh_witness_beginning(const struct dh_predict *p, const u32 *cut)
{
    u32 start = p->n;
    for (u32 t = 0; t < p->threads; t++) {
        u32 at = p->first[t] + cut[t];
        if (at < p->first[t + 1] && p->order[at] < start)
            start = p->order[at];
    }
    return start;
}

u32 *dh_witness_room(struct dh_witness *w)
{
    return w->sequence || prepare(w) ? w->sequence : NULL;
}

u64 dh_witness_found(struct dh_witness *w, u32 start, u64 n, u32 earlier, u32 now)
{
    w->sequence[n++] = earlier;
    w->sequence[n++] = now;
    w->spent += n;
    w->length = dh_witness_check(w, start, w->sequence, n) ? start + n : 0;
    return w->length;
}

u64 dh_witness_make(struct dh_witness *w, const u32 *cut, const u8 *level, u32 from, u32 top, u32 earlier,
                    u32 now)
{
    const struct dh_predict *p = w->p;
    u32 last = dh_predict_last(p, cut), start = dh_witness_beginning(p, cut);
    u64 n = 0;
    if (!dh_witness_room(w))
        return 0;
    start = from < start ? from : start;
    for (u32 l = 0; l <= top && last != DH_NONE; l++) {
        for (u32 i = start; i <= last; i++) {
            if (p->local[i] < cut[p->trace->events[i].thread] && (i >= from && level ? level[i] : 0) == l)
                w->sequence[n++] = i;
        }
    }
    w->spent += n * top;
    return dh_witness_found(w, start, n, earlier, now);
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
        .witness_start = with ? w->start : 0,
        .witness_len = with ? w->length : 0,
    };
    dh_detect_emit(p->d, &race);
    return p->d->failed ? -ENOMEM : 0;
}

int dh_witness_report(struct dh_witness *w, const u32 *cut, u32 earlier, u32 now)
{
    if (!dh_witness_make(w, cut, NULL, DH_NONE, 0, earlier, now))
        return w->p->d->failed ? -ENOMEM : 0;
    return dh_witness_emit(w, true, earlier, now);
}
