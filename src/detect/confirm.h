/*
 * confirm.h - a witness for a race that was reported without one.
 *
 * wcp and shb are streaming detectors and cannot produce witnesses. A caller that has the trace again (a file
 * can be read twice) asks here, with the numbers of the two accesses. The answer is osr's: no means that none
 * of the reorderings it allows (detect/predict.h) shows the race, and if its search reached a bound, the
 * question stays open. It finds a witness for every race of shb, since that keeps the order of all sections.
 *
 * The trace may be just a prefix. A section that would end after it then counts as never ending, which can
 * lose a witness: a no is then only about this prefix.
 */
#ifndef DH_DETECT_CONFIRM_H
#define DH_DETECT_CONFIRM_H

#include "detect/osr.h"

struct dh_confirm {
    struct dh_detector d; /* for its memory only */
    struct dh_predict p;
    struct dh_osr_order order;
    struct dh_witness witness;
    u32 *cut;
};

/* The trace must not change, and nested acquisitions must have been removed, as the host does. 0, -ENOMEM or
 * -EFBIG. */
int dh_confirm_init(struct dh_confirm *c, const struct dh_trace *trace);
void dh_confirm_done(struct dh_confirm *c); /* also after a failed init */
/* Is there a reordering that ends with these two accesses? If so c->witness has one, checked: start, sequence
 * and length; valid until the next call. */
enum dh_osr_answer dh_confirm_pair(struct dh_confirm *c, u32 earlier, u32 now);

#endif
