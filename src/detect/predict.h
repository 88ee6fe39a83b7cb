/*
 * predict.h - the trace as the predictive detectors see it: what must precede what in every reordering.
 *
 * A correct reordering of a trace is an interleaving of prefixes of its threads in which locks exclude each
 * other, forks and joins hold, and every read sees the write it saw in the trace; it is then an execution of
 * every program that can produce the trace. A set of events that some correct reordering could execute is a
 * cut: a number of events per thread. Two accesses race if some cut ends right before both.
 *
 * Thread order, fork, join and read-from cannot be given up: they are the hard order. `need` numbers a
 * version, a vector with the hard predecessors of an event, per thread; events with the same predecessors in
 * other threads share one. A synchronisation object other than a mutex (volatile, atomic, barrier, condition,
 * and a lock that is ever taken in shared mode) is treated as a variable: a waiting or loading event reads
 * it, a signalling or storing one writes it, others do both. So each of them still sees what it saw: that can
 * hide races but not invent one. Signals accumulate: a wait for a condition, a barrier or an annotation sees
 * all signals before it, and signals are unordered among themselves. The readers of a lock read it, so they
 * too are unordered among themselves; an exclusive acquisition needs the readers before it to have released
 * the lock.
 *
 * Objects: locks come first, then variables, then what variables became when their memory was freed, moved or
 * copied (predict_lives.h). Accesses to an object and to one of its parents are to the same memory.
 */
#ifndef DH_DETECT_PREDICT_H
#define DH_DETECT_PREDICT_H

#include "detect/predict_versions.h"

#define DH_NONE UINT32_MAX

/* A critical section of a mutex. */
struct dh_section {
    u32 lock;
    u32 thread;
    u32 local; /* number of the acquisition in its thread */
    u32 acq;
    u32 rel; /* DH_NONE: still open when the trace ends */
};

/* What a thread holds after a number of its events. */
struct dh_held_at {
    u32 count;
    u32 holding;
};

/* The locks a thread holds, innermost first: an immutable list. Number 0 is the empty one. */
struct dh_holding {
    u32 section;
    u32 outer;
};

/* What an event does to its object. Events that start, end or move the lives of variables have an effect on
 * none; what they are ordered with follows from `birth` and `death`. */
enum dh_effect {
    DH_EFFECT_NONE,
    DH_EFFECT_READ,    /* sees the last write */
    DH_EFFECT_WRITE,   /* replaces what was there */
    DH_EFFECT_BOTH,    /* sees the last write and replaces it */
    DH_EFFECT_SIGNAL,  /* is added to what was there */
    DH_EFFECT_COLLECT, /* sees all that was added */
};

/* What an event shares with its neighbours of the same thread. */
struct dh_moment {
    u32 need;    /* version before the event; for events other than plain accesses their own read-from is in
                    it */
    u32 holding; /* before the event */
};

/* Where moments begin, for 8 events that follow each other in `order`. */
struct dh_steps {
    u8 bits;   /* which of them have another moment than the one before, or are their thread's first */
    u8 before; /* moments that begin before these 8, but not before the DH_STEPS events that they are among */
};

enum { DH_STEPS = 256 };
_Static_assert(DH_STEPS - 8 <= UINT8_MAX, "what `before` can be");

/* How an object other than a mutex is used. One used both ways is treated as a value: a wait sees only the
 * last event, which in turn comes after all before it. */
enum { DH_SIGNALLED = 1, DH_VALUED = 2 };

struct dh_predict {
    struct dh_detector *d;
    const struct dh_trace *trace;
    u32 n, threads, objects;
    u32 *object;  /* of each event with an effect */
    u32 *birth;   /* of each object: the event that made its memory anew, DH_NONE: none */
    u32 *death;   /* of each object: the event that ended its life, DH_NONE: none */
    u32 *born;    /* of each object: the next one with the same birth, whose `object` is the first; DH_NONE */
    u32 *parent;  /* of each object: the one it is a copy of, which is accessed no more; DH_NONE */
    u32 *child;   /* of each object: its first copy, DH_NONE: none; */
    u32 *sibling; /* and the next copy of the same one */
    bool copied;  /* there are copies */
    u32 *local;   /* number of the event in its thread */
    struct dh_moment *moments; /* of thread after thread */
    struct dh_steps *steps;    /* which event has which, */
    u32 *steps_before;         /* and for each DH_STEPS events how many moments begin before them */
    u32 *order;                /* the events of thread t: order[first[t] .. first[t + 1]) */
    u32 *first;
    u32 *end_holding; /* of each thread */
    bool *hard_lock;  /* ever taken in shared mode */
    u8 *signalled;    /* of each lock: DH_SIGNALLED, DH_VALUED */
    struct dh_versions versions;
    struct dh_section *sections; /* by lock, each lock's in the order of the trace */
    u32 n_sections, cap_sections;
    u32 *first_section; /* of each lock, and one more */
    u32 *by_thread;     /* sections by lock, then thread, then as they are */
    struct dh_section_run *runs;
    u32 *first_run; /* of each lock, and one more */
    struct dh_holding *holdings;
    u32 n_holdings, cap_holdings;
    struct dh_held_at *held_at; /* of each thread: for dh_predict_held */
    struct dh_links *links;     /* predict_links.h */
    const struct dh_syncp_found *
        *syncp; /* if the trace is shared: what syncp found in it, once it has; atomic */
};

/* With more threads a search would take too long for each pair. */
enum { DH_PREDICT_THREADS = DH_VERSION_THREADS };

/* Reads the whole trace, or takes over what another has read (trace->shared): all but `d` and `held_at` is
 * only read from then on. What is shared counts as memory of each detector. 0, -ENOMEM, -EFBIG if events
 * cannot be numbered with 32 bits, -E2BIG beyond DH_PREDICT_THREADS. Freed with the detector. */
int dh_predict_init(struct dh_predict *p, struct dh_detector *d, const struct dh_trace *trace);

enum dh_effect dh_predict_effect(const struct dh_predict *p, const struct dh_event *e);

DH_INLINE bool dh_effect_sees(enum dh_effect effect)
{
    return effect == DH_EFFECT_READ || effect == DH_EFFECT_BOTH || effect == DH_EFFECT_COLLECT;
}

/* Does it change what others see? */
DH_INLINE bool dh_effect_changes(enum dh_effect effect)
{
    return effect == DH_EFFECT_WRITE || effect == DH_EFFECT_BOTH || effect == DH_EFFECT_SIGNAL;
}

extern const u8 dh_predict_ones[256]; /* bits that are set in a byte */

/* The number of the moment of event order[at]. */
DH_INLINE u32 dh_predict_moment(const struct dh_predict *p, u32 at)
{
    const struct dh_steps *s = &p->steps[at / 8];
    return p->steps_before[at / DH_STEPS] + s->before + dh_predict_ones[(u8)(s->bits << (7 - at % 8))] - 1;
}

DH_INLINE const struct dh_moment *dh_predict_moment_of(const struct dh_predict *p, u32 e)
{
    return &p->moments[dh_predict_moment(p, p->first[p->trace->events[e].thread] + p->local[e])];
}

DH_INLINE u32 dh_predict_need(const struct dh_predict *p, u32 e)
{
    return dh_predict_moment_of(p, e)->need;
}

DH_INLINE u32 dh_predict_holding(const struct dh_predict *p, u32 e)
{
    return dh_predict_moment_of(p, e)->holding;
}

/* How many events of thread t must have happened before event e, as far as others order it. */
DH_INLINE u32 dh_predict_needs(const struct dh_predict *p, u32 e, u32 t)
{
    return dh_versions_get(&p->versions, dh_predict_need(p, e), t);
}

/* May these two accesses to one object race, if nothing orders them? Two atomic ones may not. */
DH_INLINE bool dh_predict_conflict(const struct dh_event *a, const struct dh_event *b)
{
    return a->thread != b->thread && (a->op == DH_OP_WRITE || b->op == DH_OP_WRITE) &&
           !(a->mode & b->mode & DH_ATOMIC);
}

DH_INLINE bool dh_predict_is_range(const struct dh_event *e)
{
    return e->op == DH_OP_RANGE_NEW || e->op == DH_OP_RANGE_FREE || e->op == DH_OP_RANGE_MOVE ||
           e->op == DH_OP_RANGE_COPY;
}

/* Are these two accesses, the first one earlier in the trace, to the same memory? */
DH_INLINE bool dh_predict_meet(const struct dh_predict *p, u32 earlier, u32 now)
{
    u32 o = p->object[now];
    while (o != DH_NONE && o != p->object[earlier])
        o = p->parent[o];
    return o != DH_NONE;
}

DH_INLINE bool dh_predict_in_cut(const struct dh_predict *p, const u32 *cut, u32 e)
{
    return p->local[e] < cut[p->trace->events[e].thread];
}

/* cut := cut and all that event e needs; e itself too if `with`. */
void dh_predict_absorb(const struct dh_predict *p, u32 *cut, u32 e, bool with);
/* The locks thread t holds at the cut. */
u32 dh_predict_holding_at(const struct dh_predict *p, u32 t, u32 count);
/* The same for all threads at a cut that is going to be closed: for dh_predict_held. */
void dh_predict_hold(const struct dh_predict *p, const u32 *cut);
/* The same while it is being closed, repeatedly, thread after thread: looked up only where it has grown. */
DH_INLINE u32 dh_predict_held(const struct dh_predict *p, u32 t, u32 count)
{
    struct dh_held_at *held = &p->held_at[t];
    if (held->count != count)
        *held = (struct dh_held_at){.count = count, .holding = dh_predict_holding_at(p, t, count)};
    return held->holding;
}

/* The last section that follows this one on its lock and begins in the cut; DH_NONE: none. */
u32 dh_predict_last_after(const struct dh_predict *p, u32 section, const u32 *cut);
/* Is there one? `last`: no event of the cut comes after this one in the trace, so that later sections need
 * not be looked at. */
bool dh_predict_followed(const struct dh_predict *p, u32 section, const u32 *cut, u32 last);
/* Is this section, which begins but does not end in the cut, the only one of its lock that begins there? */
bool dh_predict_alone(const struct dh_predict *p, u32 section, const u32 *cut);
/* The next section of the same lock in the trace; DH_NONE: none. */
DH_INLINE u32 dh_predict_next_section(const struct dh_predict *p, u32 section)
{
    return section + 1 < p->first_section[p->sections[section].lock + 1] ? section + 1 : DH_NONE;
}

/* Part of dh_predict_init, when all sections are known: puts them in order. 0 or -ENOMEM. */
int dh_predict_index_sections(struct dh_predict *p);
/* The last event of the cut; DH_NONE: the cut is empty. */
u32 dh_predict_last(const struct dh_predict *p, const u32 *cut);
/* Do the two lists have the same locks, in the same order? */
bool dh_predict_same_locks(const struct dh_predict *p, u32 a, u32 b);
/* Do the two lists share a lock? */
bool dh_predict_share_lock(const struct dh_predict *p, u32 a, u32 b);
/* The section of this lock in the list, or NULL. */
const struct dh_section *dh_predict_find_lock(const struct dh_predict *p, u32 holding, u32 lock);

#endif
