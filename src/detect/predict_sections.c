/*
 * predict_sections.c - which critical section of a lock is the last to begin in a cut. See predict.h.
 *
 * Sections are in the order of their locks, each lock's in the order of the trace, and an index has each
 * lock's thread by thread: what a cut has of them is a beginning of each run, found by bisection. Going along
 * the lock's sections one by one would be linear in those that the cut leaves out. It is what is done with
 * the first that follow, though, since a lock mostly has few, and fewer still that begin before the cut's
 * last event. Both look at what is side by side in memory: these questions are most of what a search does.
 */
#include <errno.h>

#include "detect/predict.h"

/* So many sections of a lock are looked at one by one. */
enum { NEAR = 64 };

/* The sections of one lock by one thread: p->by_thread[first .. first of the next run). */
struct dh_section_run {
    u32 thread;
    u32 first;
};

/* Where each lock's runs begin, and each run. */
static bool make_runs(struct dh_predict *p)
{
    struct dh_detector *d = p->d;
    u32 locks = p->trace->locks, n = 0, cap = 0, lock = 0;
    for (u32 i = 0; i < p->n_sections; i++) {
        const struct dh_section *s = &p->sections[p->by_thread[i]];
        bool same_lock = i && p->sections[p->by_thread[i - 1]].lock == s->lock;
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

/* They were numbered in the order of the trace, as they were met. */
static bool sort_by_lock(struct dh_predict *p)
{
    struct dh_detector *d = p->d;
    u32 locks = p->trace->locks;
    size_t places = ((size_t)p->n_sections + 1) * sizeof(u32);
    struct dh_section *sorted = dh_detect_alloc(d, ((size_t)p->n_sections + 1) * sizeof(*sorted));
    u32 *place = dh_detect_alloc(d, places);
    /* One more at the beginning: filling the sections in makes each count the beginning of the next lock. */
    u32 *count = dh_detect_alloc(d, ((size_t)locks + 2) * sizeof(*count));
    if (d->failed)
        return false;
    for (u32 i = 0; i < p->n_sections; i++)
        count[p->sections[i].lock + 2]++;
    for (u32 lock = 0; lock < locks; lock++)
        count[lock + 2] += count[lock + 1];
    for (u32 i = 0; i < p->n_sections; i++) {
        place[i] = count[p->sections[i].lock + 1]++;
        sorted[place[i]] = p->sections[i];
    }
    for (u32 h = 1; h < p->n_holdings; h++)
        p->holdings[h].section = place[p->holdings[h].section];
    dh_detect_free(d, place, places);
    dh_detect_free(d, p->sections, p->cap_sections * sizeof(*sorted));
    p->sections = sorted;
    p->first_section = count;
    return true;
}

/* Each lock's sections thread by thread. */
static bool sort_by_thread(struct dh_predict *p)
{
    struct dh_detector *d = p->d;
    size_t size = ((size_t)p->n_sections + 1) * sizeof(u32), counts = ((size_t)p->threads + 1) * sizeof(u32);
    u32 *threads = dh_detect_alloc(d, size), *count = dh_detect_alloc(d, counts);
    u32 *next = dh_detect_dup(d, p->first_section, ((size_t)p->trace->locks + 1) * sizeof(u32));
    p->by_thread = dh_detect_alloc(d, size);
    if (d->failed)
        return false;
    for (u32 i = 0; i < p->n_sections; i++)
        count[p->sections[i].thread + 1]++;
    for (u32 t = 0; t < p->threads; t++)
        count[t + 1] += count[t];
    for (u32 i = 0; i < p->n_sections; i++)
        threads[count[p->sections[i].thread]++] = i;
    for (u32 i = 0; i < p->n_sections; i++) {
        u32 s = threads[i];
        p->by_thread[next[p->sections[s].lock]++] = s;
    }
    dh_detect_free(d, threads, size);
    dh_detect_free(d, count, counts);
    dh_detect_free(d, next, ((size_t)p->trace->locks + 1) * sizeof(u32));
    return true;
}

int dh_predict_index_sections(struct dh_predict *p)
{
    p->first_run = dh_detect_alloc(p->d, ((size_t)p->trace->locks + 1) * sizeof(u32));
    return p->first_run && sort_by_lock(p) && sort_by_thread(p) && make_runs(p) ? 0 : -ENOMEM;
}

/* The last section of the run that begins in the cut and is above `after`; `after` if none is. */
static u32 last_of_run(const struct dh_predict *p, const struct dh_section_run *run, const u32 *cut,
                       u32 after)
{
    u32 low = run[0].first, high = run[1].first;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (p->sections[p->by_thread[mid]].local < cut[run->thread])
            low = mid + 1;
        else
            high = mid;
    }
    u32 s = low > run[0].first ? p->by_thread[low - 1] : 0;
    return s > after ? s : after;
}

u32 dh_predict_last_after(const struct dh_predict *p, u32 section, const u32 *cut)
{
    u32 last = section, lock = p->sections[section].lock;
    for (u32 i = p->first_run[lock]; i < p->first_run[lock + 1]; i++) {
        if (p->by_thread[p->runs[i + 1].first - 1] > last)
            last = last_of_run(p, &p->runs[i], cut, last);
    }
    return last == section ? DH_NONE : last;
}

bool dh_predict_followed(const struct dh_predict *p, u32 section, const u32 *cut, u32 last)
{
    u32 end = p->first_section[p->sections[section].lock + 1];
    u32 near = end - section > NEAR ? section + NEAR : end;
    for (u32 i = section + 1; i < near; i++) {
        const struct dh_section *s = &p->sections[i];
        if (s->acq > last)
            return false;
        if (s->local < cut[s->thread])
            return true;
    }
    return near < end && dh_predict_last_after(p, section, cut) != DH_NONE;
}

bool dh_predict_alone(const struct dh_predict *p, u32 section, const u32 *cut)
{
    u32 lock = p->sections[section].lock;
    u32 begin = p->first_section[lock], end = p->first_section[lock + 1];
    u32 near = end - begin > NEAR ? begin + NEAR : end;
    for (u32 i = begin; i < near; i++) {
        if (i != section && p->sections[i].local < cut[p->sections[i].thread])
            return false;
    }
    for (u32 i = p->first_run[lock]; near < end && i < p->first_run[lock + 1]; i++) {
        u32 first = p->by_thread[p->runs[i].first];
        if (first != section && p->sections[first].local < cut[p->runs[i].thread])
            return false;
    }
    return true;
}
