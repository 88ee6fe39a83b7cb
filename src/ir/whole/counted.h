/*
 * counted.h - loops that count, and code that runs once: what count.c and the files of teams share.
 */
#ifndef DH_IR_WHOLE_COUNTED_H
#define DH_IR_WHOLE_COUNTED_H

#include "ir/whole/flow.h"

/* A loop whose index starts at a constant, changes by a constant in each iteration, and is compared with a
 * bound to leave the loop. Bound and index may be made wider for that. */
struct dh_w_counted {
    u32 loop, header;
    LLVMValueRef index, start, bound; /* the phi, a constant, and what it is compared with */
    struct dh_w_address place;        /* the bound is read from there each time; not known: it is a value */
    int64_t step;                     /* what each iteration adds to the index */
    bool at_end;                      /* compared after the step */
    LLVMIntPredicate by;              /* while index ... bound */
    u32 block, succ;                  /* the exit */
};

/* Only in an instance that runs once: a bound in memory is not written once the loop has started.
 */
bool dh_w_counted_find(struct dh_w_flow *f, u32 inst, u32 loop, struct dh_w_counted *ret);
/* The values of the index: from the smallest, by steps, to the largest. */
struct dh_w_range {
    int64_t least, greatest, step;
};
/* false: they are not known, or there is none. */
bool dh_w_counted_range(const struct dh_w_counted *c, struct dh_w_range *ret);
/* Whether the block, which is in the loop, runs only with these values: it comes after the comparison that
 * ends the loop, if that comes first in an iteration. */
DH_INLINE bool dh_w_counted_in_body(const struct dh_w_counted *c, u32 block)
{
    return c->at_end || block != c->header;
}
/* Both indices take the same values, perhaps in a different order, if neither loop is left in another way. */
bool dh_w_counted_alike(const struct dh_w_counted *a, const struct dh_w_counted *b);
/* Whether no two iterations have the same index, as a number of so many bits, and none has a negative one. */
bool dh_w_counted_distinct(const struct dh_w_counted *c, u32 bits);

/* The block of an operation. */
u32 dh_w_block_of(const struct dh_w_fn *fn, u32 op);
/* The number of a block of the function. */
u32 dh_w_block_number(const struct dh_w_fn *fn, LLVMBasicBlockRef bb);
/* Whether there is a path from the start of block a to that of block b, neither through block `closed` nor
 * through the exit of a loop that is left by its count. DH_W_NONE, NULL: there is no such restriction. */
bool dh_w_reaches(const struct dh_w_fn *fn, u32 a, u32 b, u32 closed, const struct dh_w_counted *out);
/* Whether there is a path from the end of block a to block b that avoids block `closed`: the header of a
 * loop, if it must be in the same iteration. */
bool dh_w_comes_to(const struct dh_w_fn *fn, u32 a, u32 b, u32 closed);
/* Whether a block may run more than once in one run of the function: it is in a loop of any form. */
bool dh_w_repeats(const struct dh_w_fn *fn, u32 block);
/* Whether every iteration executes the block, including the last one. */
bool dh_w_each_round(const struct dh_w_fn *fn, const struct dh_w_counted *c, u32 block);
/* Whether the loop, once left, is started again, other than through `out`. */
bool dh_w_begins_again(const struct dh_w_fn *fn, const struct dh_w_counted *c,
                       const struct dh_w_counted *out);

/* Where an operation may write; returns how many places. */
struct dh_w_write {
    dh_w_value at;
    u32 length;
};
enum { DH_W_MAX_WRITES = 2 };
size_t dh_w_writes(const struct dh_w_op *op, struct dh_w_write ret[DH_W_MAX_WRITES]);

/* Whether an instance also runs without being called: it is a thread entry, or runs before or after main. */
bool dh_w_starts_itself(const struct dh_w *w, u32 inst);
/* The only call of an instance: the calling one, and its op. false: there are several, or none. */
bool dh_w_only_call(const struct dh_w *w, u32 inst, u32 *ret_caller, u32 *ret_op);
/* Whether the instance runs once in the life of the program. */
bool dh_w_runs_once(const struct dh_w_flow *f, u32 inst);
/* Whether threads start in an instance, and it runs once in each: what it has created belongs to its thread.
 */
bool dh_w_begins_thread(const struct dh_w_flow *f, u32 inst);
/* Whether an address is in memory that the function has created: a local variable, or a block. */
bool dh_w_is_made_here(const struct dh_w_fn *fn, const struct dh_w_address *a);
/* The one operation that starts a root, if it is this instance's own and stands for nothing else. */
u32 dh_w_only_fork(const struct dh_w *w, u32 inst, u32 root);
/* Whether anything but one op of this instance (DH_W_NONE: anything) may write there once the block was
 * entered, and until a loop is left by its count (NULL: at any time). In an instance that runs more than
 * once, at any time: then the op may be done by other threads, too, unless it writes to what the instance has
 * made. */
bool dh_w_written_from(const struct dh_w_flow *f, u32 inst, u32 block, const struct dh_w_counted *until,
                       dh_pts_node at, u32 length, u32 but);

#endif
