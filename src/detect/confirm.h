/*
 * confirm.h - a witness for a race that was reported without one.
 *
 * wcp and shb stream and so cannot make witnesses. Whoever has the trace again (a file can be read twice)
 * asks here, with the numbers of the two accesses. The answer is osr's: a no means that no reordering shows
 * the race as far as it may reorder (detect/predict.h), and where its search met a bound the question stays
 * open. It finds the witness of every race of shb, since that keeps the order of all sections.
 *
 * The trace may be a beginning only. A section that would have to end after it then counts as one that never
 * does, which can lose a witness: a no is then one about this beginning.
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

/* The trace must stay as it is, with nested acquisitions taken out as the host does it. 0, -ENOMEM or -EFBIG.
 */
int dh_confirm_init(struct dh_confirm *c, const struct dh_trace *trace);
void dh_confirm_done(struct dh_confirm *c); /* also after a failed init */
/* Is there a reordering that ends with these two accesses? If so c->witness has one, checked: start, sequence
 * and length; good until the next call. */
enum dh_osr_answer dh_confirm_pair(struct dh_confirm *c, u32 earlier, u32 now);

#endif
