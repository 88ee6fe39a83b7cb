/*
 * syncp_search.c - all sync-preserving races of a trace. See syncp.c.
 *
 * Closing a cut takes looking at what every thread holds there: memory all over the trace, which is of no use
 * for the cut of the next variable. But nearly every unordered access races with the first access it is
 * compared with. So a first pass over the variables closes nothing, and each access just notes that first
 * pair; the pairs are then checked in trace order, where each cut is close to the one before. An access whose
 * pair does not race is open, and variables with open accesses are processed again, now exhaustively.
 */
#include <errno.h>
#include <string.h>

#include "detect/syncp.h"

/* ---- Closing a cut ---- */

/* The section that thread t is in at the cut, whose last event in the trace is `last`, and must leave, since
 * another one of its lock follows in the cut; NULL: none. */
static const struct dh_section *to_leave(const struct dh_predict *p, const u32 *cut, u32 last, u32 t)
{
    for (u32 h = dh_predict_held(p, t, cut[t]); h; h = p->holdings[h].outer) {
        if (dh_predict_followed(p, p->holdings[h].section, cut, last))
            return &p->sections[p->holdings[h].section];
    }
    return NULL;
}

bool dh_syncp_close(const struct dh_predict *p, u32 *cut, u32 e)
{
    u32 te = p->trace->events[e].thread, last = dh_predict_last(p, cut), t = 0;
    dh_predict_hold(p, cut);
    /* Until no thread has anything to leave, one after the other. */
    for (u32 quiet = 0; quiet < p->threads;) {
        const struct dh_section *s = to_leave(p, cut, last, t);
        quiet = s ? 0 : quiet + 1;
        if (s) {
            if (s->rel == DH_NONE)
                return false; /* only in a trace that is not well-formed */
            dh_predict_absorb(p, cut, s->rel, true);
            last = s->rel > last ? s->rel : last;
            if (cut[te] > p->local[e])
                return false;
        }
        t = t + 1 == p->threads ? 0 : t + 1;
    }
    return cut[te] <= p->local[e];
}

bool dh_syncp_pair(struct dh_syncp *s, u32 earlier, u32 now)
{
    memset(s->cut, 0, s->p->threads * sizeof(*s->cut));
    dh_predict_absorb(s->p, s->cut, earlier, false);
    dh_predict_absorb(s->p, s->cut, now, false);
    return dh_syncp_close(s->p, s->cut, earlier);
}

/* ---- Races found ---- */

bool dh_syncp_note(struct dh_syncp *s, u32 earlier, u32 at)
{
    if (s->n_races == s->cap_races &&
        !dh_mem_grow(&s->p->d->mem, (void **)&s->races, s->n_races, &s->cap_races, sizeof(*s->races)))
        return false;
    s->races[s->n_races++] = (struct dh_syncp_race){.now = s->accesses[at], .earlier = s->accesses[earlier]};
    return true;
}

/* Merges runs of `width` races into runs of twice that. */
static void merge_runs(struct dh_syncp_race *restrict to, const struct dh_syncp_race *restrict from, u32 n,
                       u64 width)
{
    for (u64 begin = 0; begin < n; begin += 2 * width) {
        u64 middle = begin + width < n ? begin + width : n, end = middle + width < n ? middle + width : n;
        for (u64 i = begin, k = middle, at = begin; at < end; at++) {
            bool first = k == end || (i < middle && from[i].now < from[k].now);
            to[at] = first ? from[i++] : from[k++];
        }
    }
}

/* They are then in an array that has room for no more than them. */
bool dh_syncp_sort(struct dh_syncp *s)
{
    struct dh_detector *d = s->p->d;
    size_t size = (size_t)s->n_races * sizeof(*s->races);
    struct dh_syncp_race *fitting = size ? dh_detect_alloc(d, size) : NULL;
    struct dh_syncp_race *from = s->races, *to = fitting;
    if (!size || !fitting)
        return !size;
    for (u64 width = 1; width < s->n_races; width *= 2) {
        struct dh_syncp_race *merged = to;
        merge_runs(merged, from, s->n_races, width);
        to = from;
        from = merged;
    }
    if (from != fitting)
        memcpy(fitting, from, size);
    dh_detect_free(d, s->races, (size_t)s->cap_races * sizeof(*s->races));
    s->races = fitting;
    s->cap_races = s->n_races;
    return true;
}

/* ---- The search ---- */

static void set_open(struct dh_syncp *s, u32 e, bool open)
{
    s->open[e / 64] = (s->open[e / 64] & ~(1ull << e % 64)) | (u64)open << e % 64;
}

/* What is to be noted of an access of the family: an earlier one, or DH_NONE. */
typedef u32 earlier_fn(struct dh_syncp *s, u32 at);

static u32 guess(struct dh_syncp *s, u32 at)
{
    u32 e = s->accesses[at];
    u32 earlier = dh_detect_wants(s->p->d, s->p->trace->events[e].target) ? dh_syncp_guess(s, at) : DH_NONE;
    if (earlier != DH_SYNCP_ASK)
        return earlier;
    set_open(s, e, true);
    return DH_NONE;
}

static u32 ask(struct dh_syncp *s, u32 at)
{
    u32 e = s->accesses[at], earlier = dh_syncp_is_open(s, e) ? dh_syncp_find(s, at) : DH_NONE;
    if (earlier != DH_NONE)
        set_open(s, e, false);
    return earlier;
}

static int look(struct dh_syncp *s, earlier_fn *find)
{
    for (u32 at = 0; at < s->n; at++) {
        dh_syncp_soon(s, at);
        u32 earlier = find(s, at);
        if ((earlier != DH_NONE && !dh_syncp_note(s, earlier, at)) || !dh_syncp_add(s, at) || s->p->d->failed)
            return -ENOMEM;
    }
    return 0;
}

/* The closed cut of all that event e needs. It goes on from that of an event before it in the same thread,
 * which it contains: most of it is closed already. NULL: no memory. */
static const u32 *closed_for(struct dh_syncp *s, u32 e)
{
    const struct dh_predict *p = s->p;
    u32 t = p->trace->events[e].thread;
    if (!s->closed[t])
        s->closed[t] = dh_detect_alloc(p->d, p->threads * sizeof(u32));
    if (s->closed[t]) {
        dh_predict_absorb(p, s->closed[t], e, false);
        dh_syncp_close(p, s->closed[t], e);
    }
    return s->closed[t];
}

/* Keeps the guesses that are races; the others leave their later access open. */
static int confirm(struct dh_syncp *s)
{
    const struct dh_predict *p = s->p;
    u32 n = 0;
    for (u32 i = 0; i < s->n_races; i++) {
        struct dh_syncp_race race = s->races[i];
        const u32 *closed = closed_for(s, race.now);
        if (!closed)
            return -ENOMEM;
        memcpy(s->cut, closed, p->threads * sizeof(*s->cut));
        dh_predict_absorb(p, s->cut, race.earlier, false);
        if (dh_syncp_close(p, s->cut, race.earlier))
            s->races[n++] = race;
        else
            set_open(s, race.now, true);
    }
    s->n_races = n;
    return 0;
}

bool dh_syncp_any_open(const struct dh_syncp *s)
{
    for (u32 at = 0; at < s->n; at++) {
        if (dh_syncp_is_open(s, s->accesses[at]))
            return true;
    }
    return false;
}

static int search(struct dh_syncp *s)
{
    const struct dh_predict *p = s->p;
    int rc = 0;
    for (u32 o = p->trace->locks; !rc && o < p->objects; o++)
        rc = !dh_syncp_family(s, o) ? -ENOMEM : dh_syncp_shared(s) ? look(s, guess) : 0;
    if (!rc)
        rc = dh_syncp_sort(s) ? confirm(s) : -ENOMEM;
    for (u32 o = p->trace->locks; !rc && o < p->objects; o++)
        rc = !dh_syncp_family(s, o) ? -ENOMEM : dh_syncp_any_open(s) ? look(s, ask) : 0;
    return rc || dh_syncp_sort(s) ? rc : -ENOMEM;
}

int dh_syncp_search(struct dh_syncp *s)
{
    struct dh_detector *d = s->p->d;
    s->found = s->p->syncp ? __atomic_load_n(s->p->syncp, __ATOMIC_ACQUIRE) : NULL;
    if (s->found) {
        s->open = s->found->open;
        return 0;
    }
    struct dh_syncp_found *found = dh_detect_alloc(d, sizeof(*found));
    s->open = dh_detect_alloc(d, ((size_t)s->p->n / 64 + 1) * sizeof(*s->open));
    int rc = d->failed ? -ENOMEM : search(s);
    if (rc)
        return rc;
    *found = (struct dh_syncp_found){.races = s->races, .n_races = s->n_races, .open = s->open};
    s->found = found;
    s->races = NULL;
    s->n_races = s->cap_races = 0;
    if (s->p->syncp)
        __atomic_store_n(s->p->syncp, found, __ATOMIC_RELEASE);
    return 0;
}
