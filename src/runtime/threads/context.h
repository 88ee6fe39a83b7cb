/*
 * context.h - calling contexts: a tree of return addresses, interned, so that 32 bits name a stack.
 *
 * A node is (parent, pc) and never goes away. A recursion with several call sites has as many stacks as it
 * has activations, and each would be a node, with access ids of its own. So only a function's first few
 * recursive calls have nodes of their own. From then on recursion is folded: a call from a function that
 * already stands in the stack replaces that function's outermost call and everything behind it. Such a stack
 * has the function once, as it was last entered, and recursion costs no more than a loop. The node is marked,
 * and reports say that frames may be missing.
 */
#ifndef DH_RUNTIME_THREADS_CONTEXT_H
#define DH_RUNTIME_THREADS_CONTEXT_H

#include "base/base.h"

#define DH_CTX_BITS 27 /* of a number: they are kept in records of that width (ids.h) */

struct dh_ctx_node {
    u64 pc : 63;
    u64 folded : 1; /* some deeper recursion was folded into this node */
    u32 parent;     /* 0: outermost */
    u32 next;       /* hash chain */
    u32 function;   /* that pc is in: where it begins, or pc itself; modulo 2^32 */
};

/* For a function of ours that calls the program's own: reports leave it out of stacks. */
#define DH_CALLS_PROGRAM __attribute__((noinline, section("dh_calls_program")))

/* The node of a call that returns to pc. 0 when no memory is left. Lock-free; any thread. */
u32 dh_ctx_intern(u32 parent, const void *pc);
/* The node of an access, or whatever else ends a stack: never folded, so that one level of a recursion is
 * always told. */
u32 dh_ctx_leaf(u32 parent, const void *pc);
const struct dh_ctx_node *dh_ctx_node(u32 ctx);

#endif
