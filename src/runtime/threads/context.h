/*
 * context.h - calling contexts: a tree of return addresses, interned, so that 32 bits name a stack.
 *
 * A node is (parent, pc) and is never freed. A recursion with several call sites has as many stacks as it has
 * activations, and each would be a node, with access ids of its own. So only a function's first few recursive
 * calls have nodes of their own. From then on recursion is folded: a call from a function that is already on
 * the stack replaces that function's outermost call and everything above it. Such a stack has the function
 * once, as it was last entered, and recursion costs no more than a loop. The node is marked, and reports say
 * that frames may be missing.
 */
#ifndef DH_RUNTIME_THREADS_CONTEXT_H
#define DH_RUNTIME_THREADS_CONTEXT_H

#include "runtime/abi/abi.h"

#define DH_CTX_BITS 27 /* of a number: they are kept in records of that width (ids.h) */

typedef struct {
    u32 v;
} dh_ctx_t;
_Static_assert(sizeof(dh_ctx_t) == 4 && DH_CTX_BITS <= 32, "the width that frames and records have for it");

/* No context: the outermost level of a stack, or unknown. */
#define DH_CTX_NONE ((dh_ctx_t){0})

/* As a number, for hashing, packing and printing. */
DH_INLINE dh_ctx_t dh_ctx_from(u32 raw)
{
    return (dh_ctx_t){raw};
}

DH_INLINE u32 dh_ctx_raw(dh_ctx_t c)
{
    return c.v;
}

DH_INLINE bool dh_ctx_is_none(dh_ctx_t c)
{
    return c.v == 0;
}

DH_INLINE bool dh_ctx_eq(dh_ctx_t a, dh_ctx_t b)
{
    return a.v == b.v;
}

/* As stored by inlined code, a plain number in each frame; none: not computed yet. */
DH_INLINE dh_ctx_t dh_ctx_of_frame(const struct dh_frame *f)
{
    return dh_ctx_from(f->ctx);
}

DH_INLINE void dh_ctx_set_frame(struct dh_frame *f, dh_ctx_t c)
{
    f->ctx = dh_ctx_raw(c);
}

struct dh_ctx_node {
    u64 pc : 63;
    u64 folded : 1;  /* some deeper recursion was folded into this node */
    dh_ctx_t parent; /* none: outermost */
    u32 next;        /* hash chain */
    u32 function;    /* start of the function containing pc, or pc itself; modulo 2^32 */
};

/* For a function of ours that calls program code: reports leave it out of stacks. */
#define DH_CALLS_PROGRAM __attribute__((noinline, section("dh_calls_program")))

/* The node of a call that returns to pc. None when no memory is left. Lock-free; any thread. */
dh_ctx_t dh_ctx_intern(dh_ctx_t parent, const void *pc);
/* The node of an access, or anything else at the end of a stack: never folded, so that one level of a
 * recursion is always shown. */
dh_ctx_t dh_ctx_leaf(dh_ctx_t parent, const void *pc);
const struct dh_ctx_node *dh_ctx_node(dh_ctx_t ctx);

#endif
