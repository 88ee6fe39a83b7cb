/*
 * predict_sections.c - which critical section of a lock is the last to begin in a cut. See predict.h.
 *
 * The sections of a lock are kept thread by thread, each thread's in order: what a cut has of them is a
 * beginning of each run, found by bisection. Going along the lock's sections one by one would be linear in
 * those that the cut leaves out. It is what is done with the first that follow, though, since a lock mostly
 * has few, and fewer still that begin before the cut's last event. Both look at what is side by side in
 * memory: these questions are most of what a search does.
 */
#include <errno.h>

#include "detect/predict.h"

/* The sections of one lock by one thread: p->by_lock[first .. first of the next run). */
struct dh_section_run {
    u32 thread;
    u32 first;
};

/* to[] := from[] (NULL: the sections as they are) ordered by lock or thread, otherwise as they were. */
static void sort(const struct dh_predict *p, u32 *restrict to, const u32 *restrict from, u32 *count, u32 keys,
                 bool by_lock)
{
    for (u32 i = 0; i < p->n_sections; i++)
        count[(by_lock ? p->sections[i].lock : p->sections[i].thread) + 1]++;
    for (u32 k = 0; k < keys; k++)
        count[k + 1] += count[k];
    for (u32 i = 0; i < p->n_sections; i++) {
        u32 s = from ? from[i] : i;
        to[count[by_lock ? p->sections[s].lock : p->sections[s].thread]++] = s;
    }
}

/* Where each lock's runs begin, and each run. */
static bool make_runs(struct dh_predict *p)
{
    struct dh_detector *d = p->d;
    u32 locks = p->trace->locks, n = 0, cap = 0, lock = 0;
    for (u32 i = 0; i < p->n_sections; i++) {
        const struct dh_section *s = &p->sections[p->by_lock[i]];
        bool same_lock = i && p->sections[p->by_lock[i - 1]].lock == s->lock;
        if (same_lock && p->runs[n - 1].thread == s->thread)
            continue;
        /* One more at the end of all: where the last run ends. */
        while (n + 1 >= cap) {
            if (!dh_mem_grow(&d->mem, (void **)&p->runs, n, &cap, sizeof(*p->runs)))
                return false;
        }
        for (; !same_lock && lock <= s->lock; lock++)
            p->first_run[lock] = n;
        p->runs[n++] = (struct dh_section_run){.thread = s->thread, .first = i};
    }
    for (; lock <= locks; lock++)
        p->first_run[lock] = n;
    if (n)
        p->runs[n] = (struct dh_section_run){.first = p->n_sections};
    return true;
}

static bool make_turns(struct dh_predict *p)
{
    struct dh_detector *d = p->d;
    u32 locks = p->trace->locks;
    p->turns = dh_detect_alloc(d, ((size_t)p->n_sections + 1) * sizeof(*p->turns));
    /* One more at the beginning: filling the turns in makes each count the beginning of the next lock. */
    u32 *count = dh_detect_alloc(d, ((size_t)locks + 2) * sizeof(*count));
    if (d->failed)
        return false;
    for (u32 i = 0; i < p->n_sections; i++)
        count[p->sections[i].lock + 2]++;
    for (u32 lock = 0; lock < locks; lock++)
        count[lock + 2] += count[lock + 1];
    for (u32 i = 0; i < p->n_sections; i++) {
        struct dh_section *s = &p->sections[i];
        s->turn = count[s->lock + 1]++;
        p->turns[s->turn] = (struct dh_turn){.acq = s->acq, .thread = s->thread, .local = p->local[s->acq]};
    }
    p->first_turn = count;
    return true;
}

int dh_predict_index_sections(struct dh_predict *p)
{
    struct dh_detector *d = p->d;
    u32 keys = p->trace->locks > p->threads ? p->trace->locks : p->threads;
    size_t size = ((size_t)p->n_sections + 1) * sizeof(u32), counts = ((size_t)keys + 2) * sizeof(u32);
    u32 *by_thread = dh_detect_alloc(d, size), *count_1 = dh_detect_alloc(d, counts);
    u32 *count_2 = dh_detect_alloc(d, counts);
    p->by_lock = dh_detect_alloc(d, size);
    p->begins = dh_detect_alloc(d, size);
    p->first_run = dh_detect_alloc(d, ((size_t)p->trace->locks + 1) * sizeof(u32));
    if (d->failed || !make_turns(p))
        return -ENOMEM;
    sort(p, by_thread, NULL, count_1, keys, false);
    sort(p, p->by_lock, by_thread, count_2, keys, true);
    dh_detect_free(d, by_thread, size);
    dh_detect_free(d, count_1, counts);
    dh_detect_free(d, count_2, counts);
    for (u32 i = 0; i < p->n_sections; i++)
        p->begins[i] = p->local[p->sections[p->by_lock[i]].acq];
    return make_runs(p) ? 0 : -ENOMEM;
}

/* The last section of the run that begins in the cut and is above `after`; `after` if none is. */
static u32 last_of_run(const struct dh_predict *p, const struct dh_section_run *run, const u32 *cut,
                       u32 after)
{
    u32 low = run[0].first, high = run[1].first;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (p->begins[mid] < cut[run->thread])
            low = mid + 1;
        else
            high = mid;
    }
    u32 s = low > run[0].first ? p->by_lock[low - 1] : 0;
    return s > after ? s : after;
}

u32 dh_predict_last_after(const struct dh_predict *p, u32 section, const u32 *cut)
{
    u32 last = section, lock = p->sections[section].lock;
    for (u32 i = p->first_run[lock]; i < p->first_run[lock + 1]; i++) {
        if (p->by_lock[p->runs[i + 1].first - 1] > last)
            last = last_of_run(p, &p->runs[i], cut, last);
    }
    return last == section ? DH_NONE : last;
}

bool dh_predict_followed(const struct dh_predict *p, u32 section, const u32 *cut, u32 last)
{
    enum { NEAR = 64 };
    const struct dh_section *s = &p->sections[section];
    u32 end = p->first_turn[s->lock + 1], near = end - s->turn > NEAR ? s->turn + NEAR : end;
    for (u32 i = s->turn + 1; i < near; i++) {
        const struct dh_turn *turn = &p->turns[i];
        if (turn->acq > last)
            return false;
        if (turn->local < cut[turn->thread])
            return true;
    }
    return near < end && dh_predict_last_after(p, section, cut) != DH_NONE;
}

bool dh_predict_alone(const struct dh_predict *p, u32 section, const u32 *cut)
{
    u32 lock = p->sections[section].lock;
    for (u32 i = p->first_run[lock]; i < p->first_run[lock + 1]; i++) {
        u32 first = p->runs[i].first;
        if (p->by_lock[first] != section && p->begins[first] < cut[p->runs[i].thread])
            return false;
    }
    return true;
}
