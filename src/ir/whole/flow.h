/*
 * flow.h - what holds where: locks held, threads alive, barriers passed.
 *
 * Bottom-up (flow.c), each instance gets, for each of its operations, what has happened since its entry: a
 * CHANGE. The change at its end is its summary, which callers apply. Top-down (state.c), the STATES in which
 * an instance is entered go through these changes to the calls and on to the callees.
 *
 * There are two answers to "which threads have been joined": one for the set `relay`, which trusts loops that
 * join what loops created, and one for `sound`, which trusts only what is certain.
 */
#ifndef DH_IR_WHOLE_FLOW_H
#define DH_IR_WHOLE_FLOW_H

#include "ir/whole/facts.h"
#include "ir/whole/lock.h"

enum { DH_W_RELAY, DH_W_SOUND, DH_W_STYLES };

struct dh_w_change {
    bool reached;
    bool releases_all;     /* so many locks are released that they were not counted */
    bool through;          /* there is a path without a barrier */
    u32 plus;              /* set: locks certainly taken and kept */
    u32 minus;             /* set: locks that may be released and were not taken before */
    u64 born[DH_W_STYLES]; /* roots that may have started and not ended */
    u64 dead[DH_W_STYLES]; /* roots that have certainly ended */
    u64 barriers;          /* that may be the last one passed: bits of barrier operations */
};

struct dh_w_state {
    u32 locks;
    u64 alive[DH_W_STYLES];
    u64 barriers; /* bit 0: none yet */
    bool late;    /* the program ends */
};

enum { DH_W_MAX_STATES = 12 };
struct dh_w_states {
    struct dh_w_state at[DH_W_MAX_STATES];
    size_t n;
    bool merged; /* there were more */
    bool queued;
};

struct dh_w_flow {
    struct dh_w *w;
    struct dh_w_locks locks;
    struct dh_w_pool changes; /* 0: nothing happened */
    /* By instance: */
    bool *matters; /* something happens in it or below it */
    bool *is_called;
    u32 *summary; /* a change */
    u32 *raised;  /* the change when an exception leaves it, if any does */
    u32 **change; /* if it matters: the change before each op */
    struct dh_w_states *states;
    /* By root: */
    u64 children[DH_W_MAX_ROOTS]; /* that it creates, directly or indirectly */
    u64 parents[DH_W_MAX_ROOTS];  /* that create it */
    u64 ended[DH_W_MAX_ROOTS]
             [DH_W_STYLES]; /* it, and those of its children that it has joined when it ends */
    bool many[DH_W_MAX_ROOTS][DH_W_STYLES]; /* runs concurrently with itself */
    u64 parallel[DH_W_MAX_ROOTS][DH_W_STYLES];
    u64 exits;               /* roots that may end by pthread_exit, anywhere */
    u64 at_end[DH_W_STYLES]; /* threads that may be alive when the program ends */
    struct dh_w_table barrier_of;
    struct dh_w_facts **facts; /* by function: what its branches test, or NULL ... */
    bool *facts_known;         /* ... once requested */
};

void dh_w_flow_init(struct dh_w_flow *f, struct dh_w *w);
void dh_w_flow_done(struct dh_w_flow *f);
/* Runs everything, until the threads that run concurrently with themselves are known. */
void dh_w_flow_run(struct dh_w_flow *f);

/* ---- fixed.c ---- */
/* Marks the loads of pointers that no longer change once there are threads. To be called first. */
void dh_w_fixed_find(struct dh_w_flow *f);
/* ---- change.c ---- */
u32 dh_w_change_intern(struct dh_w_flow *f, const struct dh_w_change *c);
DH_INLINE const struct dh_w_change *dh_w_change_get(const struct dh_w_flow *f, u32 change)
{
    return f->changes.item[change];
}
void dh_w_change_release(struct dh_w_flow *f, struct dh_w_change *c, u32 held);
/* No lock is certainly held. */
void dh_w_change_release_all(struct dh_w_change *c);
void dh_w_change_start(struct dh_w_change *c, int style, u64 roots);
void dh_w_change_end(struct dh_w_change *c, int style, u64 roots);
/* Merges two paths that lead here. true: *to changed. */
bool dh_w_change_merge(struct dh_w_flow *f, struct dh_w_change *to, const struct dh_w_change *from);
/* What a callee does, translated to its caller, after c. `by`: its instance. */
struct dh_w_change dh_w_change_call(struct dh_w_flow *f, struct dh_w_change c, u32 caller,
                                    const struct dh_w_call *call, u32 by, const struct dh_w_change *callee);
struct dh_w_state dh_w_flow_apply(struct dh_w_flow *f, const struct dh_w_state *s,
                                  const struct dh_w_change *c);
/* ---- walk.c ---- */
/* Computes the summary of an instance, and how exceptions leave it; with `note`, also the change before each
 * op. */
struct dh_w_change dh_w_walk(struct dh_w_flow *f, u32 inst, bool note, struct dh_w_change *ret_raised);
/* ---- flow.c ---- */
void dh_w_flow_summaries(struct dh_w_flow *f);
const struct dh_w_change *dh_w_flow_change(const struct dh_w_flow *f, u32 inst, u32 op);
/* ---- threads.c ---- */
/* Which roots a join ends, after the change c; and if all iterations of its loop are over. */
struct dh_w_joined {
    u64 now[DH_W_STYLES];
    u64 after_loop; /* for relay */
    u64 roots;      /* that the handle may stand for */
};
struct dh_w_joined dh_w_joins(const struct dh_w_flow *f, u32 inst, const struct dh_w_op *op,
                              const struct dh_w_change *c);
void dh_w_threads_children(struct dh_w_flow *f);
void dh_w_threads_parallel(struct dh_w_flow *f);
/* May root b run while root a is at a place with this state? */
bool dh_w_threads_meet(const struct dh_w_flow *f, u32 a, const struct dh_w_state *s, u32 b, int style);
/* ---- state.c ---- */
void dh_w_state_spread(struct dh_w_flow *f);
/* ---- scc.c ---- */
/* Calls on_scc for each strongly connected component of the instances that matter, callees first. */
void dh_w_each_scc(const struct dh_w *w, const bool *matters,
                   void (*on_scc)(void *, const u32 *insts, size_t n), void *arg);

#endif
