/*
 * context.h - calling contexts: a tree of return addresses, interned, so that 32 bits name a stack.
 *
 * A node is (parent, pc) and never goes away. Programs that recurse on many call sites have as many
 * contexts as activations; past DH_CTX_FOLD_AT nodes a pc that already stands among the nearest ancestors
 * leads back to that ancestor, which folds recursion and bounds the tree; such stacks are marked.
 */
#ifndef DH_RUNTIME_THREADS_CONTEXT_H
#define DH_RUNTIME_THREADS_CONTEXT_H

#include "base/base.h"

#define DH_CTX_FOLD_AT (1u << 20)

struct dh_ctx_node {
    u64 pc : 63;
    u64 folded : 1; /* some deeper recursion was folded into this node */
    u32 parent;     /* 0: outermost */
    u32 next;       /* hash chain */
};

/* For a function of ours that calls the program's own: reports leave it out of stacks. */
#define DH_CALLS_PROGRAM __attribute__((noinline, section("dh_calls_program")))

/* The node of (parent, pc). 0 when no memory is left. Lock-free; any thread. */
u32 dh_ctx_intern(u32 parent, const void *pc);
const struct dh_ctx_node *dh_ctx_node(u32 ctx);

#endif
