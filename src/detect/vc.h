/*
 * vc.h - the vector clocks of the laboratory's detectors (FastTrack section 2.2): plain, growing on demand,
 * in the detector's own memory. The fast engine has clocks of its own (clock/vclock.h), made for many
 * writers.
 *
 * A clock is 32 bits: a thread may pass 4 * 10^9 releases. A component that was never set is 0, before any
 * event.
 */
#ifndef DH_DETECT_VC_H
#define DH_DETECT_VC_H

#include "detect/detector.h"

/* All zero is the bottom element. */
struct dh_vc {
    u32 *c;
    u32 n; /* components there is room for; 0 or a power of two */
};

DH_INLINE u32 dh_vc_get(const struct dh_vc *v, u32 tid)
{
    return DH_LIKELY(tid < v->n) ? v->c[tid] : 0;
}

/* Room for tid. False: no memory. */
bool dh_vc_reserve(struct dh_detector *d, struct dh_vc *v, u32 tid);
/* dst := dst joined with src. */
bool dh_vc_join(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src);
bool dh_vc_copy(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src);
void dh_vc_clear(struct dh_vc *v); /* to bottom; keeps the room */
void dh_vc_drop(struct dh_detector *d, struct dh_vc *v);

/* The last access of each thread: its clock, and where it was made. */
struct dh_mark {
    u32 clock;
    u32 site;
};

/* All zero: no access. */
struct dh_marks {
    struct dh_mark *m;
    u32 n;
};

bool dh_marks_reserve(struct dh_detector *d, struct dh_marks *v, u32 tid);
void dh_marks_copy(struct dh_detector *d, struct dh_marks *to,
                   const struct dh_marks *from); /* `to` is empty */
void dh_marks_drop(struct dh_detector *d, struct dh_marks *v);
/* Does any mark lie outside the clock? */
bool dh_marks_exceed(const struct dh_marks *v, const struct dh_vc *c);
/* Reports e as racing with every mark of another thread outside the clock. */
void dh_marks_report(struct dh_detector *d, const struct dh_event *e, const struct dh_marks *v,
                     const struct dh_vc *c, bool write);

DH_INLINE bool dh_marks_set(struct dh_detector *d, struct dh_marks *v, u32 tid, u32 clock, u32 site)
{
    if (DH_UNLIKELY(tid >= v->n) && !dh_marks_reserve(d, v, tid))
        return false;
    v->m[tid] = (struct dh_mark){.clock = clock, .site = site};
    return true;
}

/* The mark of this thread will be touched. */
DH_INLINE void dh_marks_soon(const struct dh_marks *v, u32 tid)
{
    if (tid < v->n)
        __builtin_prefetch(&v->m[tid], 1);
}

DH_INLINE u32 dh_marks_get(const struct dh_marks *v, u32 tid)
{
    return tid < v->n ? v->m[tid].clock : 0;
}

/* A variable as the detectors with two vectors see it. The last three functions are handlers of a detector
 * (detector.h), for cells that are this or begin with it. */
struct dh_rw {
    struct dh_marks r;
    struct dh_marks w;
};

/* Reports e as racing with every access outside the clock: writes, if it is a read. */
void dh_rw_check_read(struct dh_detector *d, const struct dh_event *e, const struct dh_rw *x,
                      const struct dh_vc *c);
void dh_rw_check_write(struct dh_detector *d, const struct dh_event *e, const struct dh_rw *x,
                       const struct dh_vc *c);
void dh_rw_soon(const struct dh_event *e, const void *cell);
void dh_rw_copy(struct dh_detector *d, void *to, const void *from);
void dh_rw_drop(struct dh_detector *d, void *cell);

#define DH_RW_CELL \
    .cell_size = sizeof(struct dh_rw), .soon = dh_rw_soon, .cell_drop = dh_rw_drop, .cell_copy = dh_rw_copy

#endif
