/*
 * vc.h - the vector clocks of the laboratory's detectors (FastTrack section 2.2), growing on demand, in the
 * detector's own memory. The fast engine has clocks of its own (clock/vclock.h), made for many writers.
 *
 * A clock is 32 bits: a thread may pass 4 * 10^9 releases. A component that was never set is 0, before any
 * event. Up to DH_VC_PLAIN threads a vector is an array; with a higher number in it, it becomes a tree that
 * shares what it has in common with others (vc_tree.h).
 */
#ifndef DH_DETECT_VC_H
#define DH_DETECT_VC_H

#include "detect/by_thread.h"
#include "detect/vc_tree.h"

enum { DH_VC_PLAIN = 128 };

/* All zero is the bottom element. */
struct dh_vc {
    union {
        u32 *c;                  /* plain */
        struct dh_vc_node *root; /* of the tree */
    };
    u32 n;      /* components of the array: 0, or a power of two up to DH_VC_PLAIN; 0 for a tree */
    u32 levels; /* of the tree; 0: plain */
};

DH_INLINE u32 dh_vc_get(const struct dh_vc *v, u32 tid)
{
    if (DH_LIKELY(tid < v->n))
        return v->c[tid];
    return DH_LIKELY(!v->levels) ? 0 : dh_vc_tree_get(v->root, v->levels, tid);
}

bool dh_vc_set_far(struct dh_detector *d, struct dh_vc *v, u32 tid,
                   u32 clock); /* the slow half of dh_vc_set */

/* False: no memory. */
DH_INLINE bool dh_vc_set(struct dh_detector *d, struct dh_vc *v, u32 tid, u32 clock)
{
    if (DH_UNLIKELY(tid >= v->n))
        return dh_vc_set_far(d, v, tid, clock);
    v->c[tid] = clock;
    return true;
}

/* dst := dst joined with src. */
bool dh_vc_join(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src);
bool dh_vc_copy(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src);
void dh_vc_clear(struct dh_detector *d, struct dh_vc *v); /* to bottom; an array keeps its room */
void dh_vc_drop(struct dh_detector *d, struct dh_vc *v);

/* The last access of each thread: its clock, and where it was made. */
struct dh_mark {
    u32 clock;
    u32 site;
};

/* An epoch of a thread. A clock that includes it includes all that the thread knew then: so marks that were
 * within the thread's clock are within any such clock, and need not be compared one by one. */
struct dh_known {
    u32 tid;
    u32 clock; /* 0: none */
};

/* Of struct dh_mark. All zero: no access. */
struct dh_marks {
    struct dh_by_thread by;
    struct dh_known all; /* all marks are within the clock of this thread; mostly there is one */
};

DH_INLINE bool dh_is_known(const struct dh_known *k, const struct dh_vc *c)
{
    return k->clock && k->clock <= dh_vc_get(c, k->tid);
}

/* One more mark, by the thread with this clock; `first`: there is no other. */
DH_INLINE void dh_known_add(struct dh_known *k, bool first, const struct dh_vc *c, u32 tid, u32 clock)
{
    *k = (struct dh_known){.tid = tid, .clock = first || dh_is_known(k, c) ? clock : 0};
}

void dh_marks_copy(struct dh_detector *d, struct dh_marks *to,
                   const struct dh_marks *from); /* `to` is empty */
void dh_marks_drop(struct dh_detector *d, struct dh_marks *v);
/* Reports e as racing with every mark of another thread outside the clock. */
void dh_marks_report(struct dh_detector *d, const struct dh_event *e, const struct dh_marks *v,
                     const struct dh_vc *c, bool write);

DH_INLINE bool dh_marks_set(struct dh_detector *d, struct dh_marks *v, u32 tid, u32 clock, u32 site)
{
    struct dh_mark *m = dh_by_thread_at(d, &v->by, tid, sizeof(*m));
    if (DH_UNLIKELY(!m))
        return false;
    *m = (struct dh_mark){.clock = clock, .site = site};
    return true;
}

/* Of a thread with this clock, `c`. */
DH_INLINE void dh_marks_add(struct dh_detector *d, struct dh_marks *v, const struct dh_vc *c, u32 tid,
                            u32 clock, u32 site)
{
    dh_known_add(&v->all, !v->by.items, c, tid, clock);
    dh_marks_set(d, v, tid, clock, site);
}

/* Prefetch the mark of this thread. */
DH_INLINE void dh_marks_soon(const struct dh_marks *v, u32 tid)
{
    dh_by_thread_soon(&v->by, tid, sizeof(struct dh_mark));
}

DH_INLINE u32 dh_marks_get(const struct dh_marks *v, u32 tid)
{
    const struct dh_mark *m = dh_by_thread_get(&v->by, tid, sizeof(*m));
    return m ? m->clock : 0;
}

/* A variable as the detectors with two vectors see it. The last three functions are handlers of a detector
 * (detector.h), for cells that are this or begin with it. */
struct dh_rw {
    struct dh_marks r;
    struct dh_marks w;
};

/* Reports e as racing with every access outside the clock: writes, if it is a read. */
void dh_rw_check_read(struct dh_detector *d, const struct dh_event *e, struct dh_rw *x,
                      const struct dh_vc *c);
void dh_rw_check_write(struct dh_detector *d, const struct dh_event *e, struct dh_rw *x,
                       const struct dh_vc *c);
void dh_rw_soon(const struct dh_event *e, const void *cell);
void dh_rw_copy(struct dh_detector *d, void *to, const void *from);
void dh_rw_drop(struct dh_detector *d, void *cell);

#define DH_RW_CELL \
    .cell_size = sizeof(struct dh_rw), .soon = dh_rw_soon, .cell_drop = dh_rw_drop, .cell_copy = dh_rw_copy

#endif
