/*
 * slot.h - blocks that a loop allocates, one per iteration, and keeps in an array.
 *
 *     for (i = 0; i < n; i++) {
 *         work[i] = malloc(sizeof *work[i]);
 *         create(&t[i], worker, work[i]);
 *     }
 *
 * work[i] is a SLOT: what is read from it, by any loop with the same indices, is the block of that
 * iteration. It may be filled by a different loop from the one that creates threads.
 */
#ifndef DH_IR_WHOLE_SLOT_H
#define DH_IR_WHOLE_SLOT_H

#include "ir/whole/counted.h"

/* Whether a local is memory that is allocated anew each time, and nobody else has. */
bool dh_w_is_fresh(const struct dh_w *w, const struct dh_w_fn *fn, dh_w_value v);
/* An address, with one local for all that read one pointer which no longer changes (fixed.c). */
struct dh_w_address dh_w_settled_of(const struct dh_w *w, struct dh_w_pool *expressions,
                                    const struct dh_w_fn *fn, dh_w_value v);
struct dh_w_address dh_w_settle(const struct dh_w *w, struct dh_w_pool *expressions, const struct dh_w_fn *fn,
                                const struct dh_w_address *a);
/* The local of a function that is the same pointer as the base of another one's address: read from the same
 * variable, or from where one leads to that no longer changes. DH_W_NONE: there is none. */
dh_w_value dh_w_settled_in(const struct dh_w *w, struct dh_w_pool *expressions, const struct dh_w_fn *fn,
                           const struct dh_w_address *a);
/* Whether a local of an instance that runs once is computed once, or is a pointer that no longer changes. */
bool dh_w_is_one_value(const struct dh_w_fn *fn, dh_w_value v);
/* Whether it is not computed anew from the begin of a loop until another one is left by its count (NULL: at
 * any time). */
bool dh_w_is_kept(const struct dh_w_fn *fn, dh_w_value v, const struct dh_w_counted *from,
                  const struct dh_w_counted *until);
/* Whether the operation comes before another one in each round of the loop that gets there. */
bool dh_w_comes_first(const struct dh_w_fn *fn, const struct dh_w_counted *c, u32 op, u32 before);
/* Whether a place is an element by the index of a loop, another one in each round, of an array that is one
 * from the begin of a loop until another one is left by its count. */
bool dh_w_is_element_of(struct dh_w_flow *f, const struct dh_w_fn *fn, const struct dh_w_address *at,
                        const struct dh_w_counted *c, const struct dh_w_counted *from,
                        const struct dh_w_counted *until);
/* Whether an operation is done in each round of a loop that counts like another one, and has ended whenever
 * that one begins; and is not begun again until a third one is left by its count (NULL: at any time). */
bool dh_w_is_done_before(struct dh_w_flow *f, u32 inst, u32 op, const struct dh_w_counted *later,
                         const struct dh_w_counted *until, struct dh_w_counted *ret);
/* The same array, with the same member of its elements; the indices are not compared. */
bool dh_w_is_same_array(const struct dh_w_address *a, const struct dh_w_address *b);
/* The block that a slot of the array, with an index of the loop that `made` it, holds behind an operation of
 * that loop, until another one is left by its count (NULL: for good): what was allocated in the round of that
 * index. DH_W_NONE: it is not known. */
dh_w_value dh_w_slot_block(struct dh_w_flow *f, u32 inst, const struct dh_w_counted *made, u32 behind,
                           const struct dh_w_counted *until, const struct dh_w_address *slot);
/* The same for a local that is read from a slot, by the index of a loop that is `by`. In the loop that made
 * it (by == made), it is read behind the store. */
dh_w_value dh_w_slot_read(struct dh_w_flow *f, u32 inst, const struct dh_w_counted *made, u32 behind,
                          const struct dh_w_counted *until, const struct dh_w_counted *by, dh_w_value v);
/* The same for a slot that an earlier loop has filled than the one that creates. */
dh_w_value dh_w_slot_filled_before(struct dh_w_flow *f, u32 inst, const struct dh_w_counted *created,
                                   const struct dh_w_counted *until, const struct dh_w_counted *by,
                                   dh_w_value v);

#endif
