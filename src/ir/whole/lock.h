/*
 * lock.h - held locks: what is known about each, and sets of them.
 *
 * A HELD LOCK is known in up to three ways. Its LOCATIONS are where the points-to sets say it may be: one
 * location is the name of a lock. Its PATH is how the function reaches it: from a value, by offsets and
 * loads. A path from an argument is what a summary passes to the caller, which substitutes its own argument
 * (relative locksets as in RELAY). Its ADDRESS is the same without loads and with indices, and certain
 * (address.h): a lock at a constant distance from what is accessed protects it in every object (guard.c).
 *
 * Everything here is interned: equal items have equal numbers.
 */
#ifndef DH_IR_WHOLE_LOCK_H
#define DH_IR_WHOLE_LOCK_H

#include "ir/whole/address.h"
#include "ir/whole/pool.h"

enum { DH_W_PATH_MAX = 3 };
struct dh_w_path {
    dh_w_value base; /* a local of the function; DH_W_NONE: not known */
    u32 steps;       /* 1: base + off[0]; 2: *(base + off[0]) + off[1]; ... */
    bool indexed;    /* an index into an array of known size was dropped */
    int64_t off[DH_W_PATH_MAX];
};
struct dh_w_path dh_w_path_of(const struct dh_w_fn *fn, dh_w_value v);

/* The value from which v is at some distance, without loads: through copies, offsets and indices into arrays
 * of known size. DH_W_NONE: a constant. */
dh_w_value dh_w_base_of(const struct dh_w_fn *fn, dh_w_value v);

/* A location as a number: object and offset. */
DH_INLINE u64 dh_w_spot(u32 object, u32 offset)
{
    return (u64)object << 32 | offset;
}

struct dh_w_held {
    u32 spots; /* pool of u64, ascending; DH_W_NONE: too many */
    u8 kind;   /* enum dh_pairs_lock_kind */
    bool shared;
    struct dh_w_path path;
    struct dh_w_address address; /* where it certainly is, as long as no value in it is recomputed */
};

struct dh_w_locks {
    struct dh_w *w;
    struct dh_w_pool spots;       /* arrays of u64 */
    struct dh_w_pool held;        /* struct dh_w_held */
    struct dh_w_pool sets;        /* arrays of u32, ascending: numbers of held; 0: empty */
    struct dh_w_pool expressions; /* see address.h */
    struct dh_w_pool asked;       /* cache of where paths lead: the query ... */
    u32 *answers;                 /* ... and the answer: in spots, or DH_W_NONE */
    size_t n_answers, cap_answers;
};

void dh_w_locks_init(struct dh_w_locks *l, struct dh_w *w);
void dh_w_locks_done(struct dh_w_locks *l);

/* The lock that an op of an instance takes or releases. */
u32 dh_w_held_by(struct dh_w_locks *l, u32 inst, const struct dh_w_op *op);
const struct dh_w_held *dh_w_held(const struct dh_w_locks *l, u32 held);
/* The one location of a lock, if there is only one. */
bool dh_w_held_spot(const struct dh_w_locks *l, u32 held, u64 *ret_spot);
/* Translates a callee's lock to its caller. DH_W_NONE: nothing is known about it there. */
u32 dh_w_held_to_caller(struct dh_w_locks *l, u32 held, u32 caller, const struct dh_w_call *call, u32 callee);
/* Translates a caller's lock to its callee. */
u32 dh_w_held_to_callee(struct dh_w_locks *l, u32 held, u32 caller, const struct dh_w_call *call, u32 callee);
bool dh_w_held_may_be(const struct dh_w_locks *l, u32 a, u32 b);

const u32 *dh_w_set(const struct dh_w_locks *l, u32 set, size_t *ret_n);
u32 dh_w_set_with(struct dh_w_locks *l, u32 set, u32 held);
/* The set without one lock. Removes exactly that lock if it is there (*ret_exact is set), else all that may
 * be it. */
u32 dh_w_set_without(struct dh_w_locks *l, u32 set, u32 held, bool *ret_exact);
/* Held on both paths; different names of one lock are reduced to what they have in common. */
u32 dh_w_set_meet(struct dh_w_locks *l, u32 a, u32 b);
u32 dh_w_set_join(struct dh_w_locks *l, u32 a, u32 b);
/* Drops the paths and addresses that start from a value that is about to change. */
u32 dh_w_set_forget(struct dh_w_locks *l, u32 set, dh_w_value base);
/* Drops the addresses with indices that the block recomputes. */
u32 dh_w_set_enter(struct dh_w_locks *l, u32 set, LLVMBasicBlockRef block);

#endif
