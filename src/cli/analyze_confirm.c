/*
 * analyze_confirm.c - witnesses for the races of detectors that read the trace once.
 *
 * wcp and shb keep no trace, so they cannot produce a reordering. If they reported something, the beginning
 * of the trace is read a second time, up to the last race to be listed and some more (a critical section may
 * have to end), and held up to --hold events; then a reordering is searched for each race (detect/confirm.h)
 * and checked. A race without one says why: nothing is passed off as proved. If a detector that holds the
 * trace took part, its copy is used.
 *
 * The file may have changed in between. A race that is not where it was gets no witness.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/analyze.h"
#include "detect/confirm.h"
#include "util/arena.h"

/* How much is read after the last race: as much again as before it, up to this limit. */
enum { AFTERWARDS = 1 << 20 };

static bool reads_once(const struct dh_analyze *a, u32 i)
{
    return a->ops[i]->guarantee == DH_PREDICTIVE_SOUND && !a->ops[i]->whole_trace;
}

static bool lists_all(const struct dh_analyze *a)
{
    return a->limit == 0 || !dh_print_is_for_people(a->format);
}

size_t dh_analyze_listed(const struct dh_analyze *a, u32 i)
{
    size_t n = a->found[i].n_causes - (dh_print_has_known(a->format) ? 0 : a->found[i].n_known);
    return lists_all(a) || n < a->limit ? n : a->limit;
}

size_t dh_analyze_told(const struct dh_analyze *a, u32 i)
{
    return lists_all(a) ? a->found[i].n : dh_analyze_listed(a, i);
}

u64 dh_analyze_reach(u64 event)
{
    u64 n = event + 1;
    return n + (n < AFTERWARDS ? n : AFTERWARDS);
}

/* How many events to hold: up to the last race within the bound, and what witnesses may need; 0: there is no
 * such race. */
static u64 wanted(const struct dh_analyze *a)
{
    u64 last = 0;
    for (u32 i = 0; i < a->n; i++) {
        for (size_t k = 0; reads_once(a, i) && k < dh_analyze_told(a, i); k++) {
            u64 now = a->found[i].races[k].race.now.event;
            last = now >= last && now < a->hold ? now + 1 : last;
        }
    }
    return last == 0 ? 0 : dh_analyze_reach(last - 1);
}

bool dh_analyze_open_again(struct dh_trace_in *again, const struct dh_analyze *a)
{
    static char path[64];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", a->in.fd);
    if (fstat(a->in.fd, &st) != 0 || !S_ISREG(st.st_mode) || access(path, R_OK) != 0 ||
        dh_trace_in_open(again, a->in.command, path) != 0)
        return false;
    again->shown = a->in.shown;
    if (again->dht)
        dh_dht_set_view(again->dht, &a->view);
    return true;
}

/* The first events of the trace, held by a host of their own. NULL: not available, and why. */
static struct dh_host *hold(const struct dh_analyze *a, u64 events, enum dh_analyze_proof *ret_why)
{
    static struct dh_trace_in again;
    static struct dh_event batch[4096];
    struct dh_host *h = dh_host_new(NULL, NULL);
    long n = 0;
    *ret_why = h ? DH_PROOF_ONCE : DH_PROOF_NO_MEMORY;
    if (!h || !dh_analyze_open_again(&again, a)) {
        dh_host_free(h);
        return NULL;
    }
    dh_host_keep(h);
    while (events && (n = dh_trace_in_read(&again, batch, DH_ARRAY_LEN(batch))) > 0) {
        u64 part = (u64)n < events ? (u64)n : events;
        events -= part;
        if (dh_host_feed(h, batch, part) != 0) {
            *ret_why = DH_PROOF_NO_MEMORY;
            n = -1;
            break;
        }
    }
    dh_trace_in_quiet(&again);
    dh_trace_in_close(&again);
    if (n >= 0)
        return h;
    dh_host_free(h);
    return NULL;
}

static bool is_access(const struct dh_host *h, const struct dh_event *e, const struct dh_race_access *x)
{
    u32 thread = e->thread, site = e->site;
    dh_host_origin(h, &thread, &site);
    return e->op == (x->write ? DH_OP_WRITE : DH_OP_READ) && thread == x->thread && site == x->site;
}

/* The number of the earlier access; if the detector remembers only its place, the last one there. */
static u64 find_earlier(const struct dh_host *h, const struct dh_predict *p, u64 now,
                        const struct dh_race_access *x)
{
    const struct dh_event *events = p->trace->events;
    bool known = x->event != DH_NO_EVENT;
    for (u64 i = known && x->event < now ? x->event + 1 : now; i-- > 0;) {
        if (is_access(h, &events[i], x) && dh_predict_meet(p, (u32)i, (u32)now))
            return i;
        if (known)
            break;
    }
    return DH_NO_EVENT;
}

/* One of the pairs that the race stands for. */
static enum dh_osr_answer prove_pair(const struct dh_host *h, struct dh_confirm *c, struct dh_analyze_race *r,
                                     struct dh_race_access earlier, bool keep)
{
    u64 at = find_earlier(h, &c->p, r->race.now.event, &earlier);
    if (at == DH_NO_EVENT)
        return DH_OSR_OPEN;
    enum dh_osr_answer answer = dh_confirm_pair(c, (u32)at, (u32)r->race.now.event);
    if (answer != DH_OSR_RACE)
        return answer;
    r->race.earlier = earlier;
    r->race.earlier.event = at;
    r->race.witness_len = c->witness.length;
    if (keep)
        r->race.witness = dh_analyze_witness(c->witness.start, c->witness.sequence, c->witness.length);
    return DH_OSR_RACE;
}

/* Any of them. whole: all of the trace is held. */
static enum dh_analyze_proof prove_pairs(const struct dh_analyze *a, const struct dh_host *h,
                                         struct dh_confirm *c, const struct dh_analyze_found *f,
                                         struct dh_analyze_race *r, bool whole)
{
    enum dh_osr_answer answer = prove_pair(h, c, r, r->race.earlier, a->witness);
    bool open = answer == DH_OSR_OPEN;
    for (size_t k = 0; k < r->n_others && answer != DH_OSR_RACE; k++) {
        answer = prove_pair(h, c, r, f->others[r->others + k], a->witness);
        open |= answer == DH_OSR_OPEN;
    }
    return answer == DH_OSR_RACE ? DH_PROOF_CHECKED
           : open                ? DH_PROOF_OPEN
           : whole               ? DH_PROOF_NONE
                                 : DH_PROOF_PART;
}

static void prove(const struct dh_analyze *a, const struct dh_host *h, struct dh_confirm *c,
                  const struct dh_analyze_found *f, struct dh_analyze_race *r)
{
    const struct dh_trace *trace = c->p.trace;
    if (r->race.now.event >= trace->n) {
        r->proof = DH_PROOF_BEYOND;
    } else if (!is_access(h, &trace->events[r->race.now.event], &r->race.now) ||
               trace->events[r->race.now.event].target != r->race.cell) {
        r->proof = DH_PROOF_ONCE;
    } else if (c->witness.spent >= DH_WITNESS_NEW * (trace->n + DH_WITNESS_SMALL)) {
        r->proof = DH_PROOF_SPENT;
    } else {
        r->proof = prove_pairs(a, h, c, f, r, trace->n == a->in.events);
    }
}

static void mark_all(struct dh_analyze *a, enum dh_analyze_proof proof)
{
    for (u32 i = 0; i < a->n; i++) {
        for (size_t k = 0; reads_once(a, i) && k < a->found[i].n; k++)
            a->found[i].races[k].proof = proof;
    }
}

/* Did a detector that reads the trace once report anything? */
static bool any_race(const struct dh_analyze *a)
{
    for (u32 i = 0; i < a->n; i++) {
        if (reads_once(a, i) && a->found[i].n)
            return true;
    }
    return false;
}

void dh_analyze_confirm(struct dh_analyze *a)
{
    u64 events = wanted(a);
    struct dh_trace trace = dh_host_trace(a->host);
    if (!any_race(a))
        return; /* proving costs as much again as reading the trace */
    struct dh_host *own = NULL;
    enum dh_analyze_proof why = DH_PROOF_BEYOND;
    if (trace.n == 0 && events) {
        own = hold(a, events < a->hold ? events : a->hold, &why);
        if (own)
            trace = dh_host_trace(own);
    }
    mark_all(a, why);
    if (trace.n == 0) {
        dh_host_free(own);
        return;
    }
    struct dh_confirm c;
    int rc = dh_confirm_init(&c, &trace);
    if (rc == 0) {
        for (u32 i = 0; i < a->n; i++) {
            for (size_t k = 0; reads_once(a, i) && k < dh_analyze_told(a, i); k++)
                prove(a, own ? own : a->host, &c, &a->found[i], &a->found[i].races[k]);
        }
    } else {
        mark_all(a, rc == -E2BIG ? DH_PROOF_THREADS : DH_PROOF_NO_MEMORY);
    }
    dh_confirm_done(&c);
    dh_host_free(own);
}
