/*
 * model.h - the intermediate representation of the whole program, shared by the phases of the analysis.
 *
 * read.c walks over the LLVM module once and leaves, for each function, blocks of small operations on
 * numbered values. All later phases work on these: constraints are added once for each INSTANCE of a
 * function, that is, a function in a context. The context is the thread (its ROOT: main, or one place of
 * thread creation together with one entry function), and for functions that return fresh memory, create
 * threads or lock, also the call.
 *
 * A value is a number: of a local of the function (arguments first), or, with DH_W_CONSTANT set, of a
 * constant of the module; DH_W_NONE carries no pointer.
 */
#ifndef DH_IR_WHOLE_MODEL_H
#define DH_IR_WHOLE_MODEL_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "base/base.h"
#include "ir/pts/pts.h"
#include "ir/whole/table.h"
#include "report/pairs.h"

typedef u32 dh_w_value;
#define DH_W_NONE UINT32_MAX
#define DH_W_CONSTANT 0x80000000u
#define DH_W_MANY (UINT32_MAX - 1) /* as an op: several */

enum dh_w_kind {
    DH_W_COPY,     /* dst = a; for a phi: stride is 1 + the number of the incoming block */
    DH_W_OFFSET,   /* dst = a + off */
    DH_W_ELEMENT,  /* dst = a + off + i * stride; length as for dh_pts_element */
    DH_W_ANY,      /* dst = a + something */
    DH_W_LOAD,     /* dst = *a */
    DH_W_STORE,    /* *a = b */
    DH_W_UPDATE,   /* dst = *a, *a = b: atomic exchanges */
    DH_W_MEMCPY,   /* length bytes from b to a */
    DH_W_TOUCH,    /* reads or writes what a points to, but no pointers */
    DH_W_ALLOCA,   /* dst = a new stack object of length bytes */
    DH_W_ALLOC,    /* dst = a new heap object */
    DH_W_ALLOC_AT, /* *a = a new heap object */
    DH_W_FOREIGN,  /* dst = memory that belongs to a library or to unknown code; UNKNOWN: b may be in it
                    */
    DH_W_TLS,      /* dst = this thread's copy of global b (a number of dh_w_global) */
    DH_W_VASTART,  /* a = the va_list */
    DH_W_CATCH,    /* dst = whatever was thrown */
    DH_W_THROW,    /* a is thrown */
    DH_W_CALL,     /* a call of a function of the program, or through a pointer */
    DH_W_BACK,     /* the library calls a function of the program: call->callee */
    DH_W_FORK,     /* a thread starts: call->callee, with the first argument; a = where its handle goes */
    DH_W_SIGNAL,   /* call->callee is installed as a signal handler */
    DH_W_OUTSIDER, /* call->callee may be called later, by any thread, with its argument, or, without one,
                      with what DH_W_SET kept; with DH_W_UNKNOWN: with whatever outside code was given */
    DH_W_LATE,     /* call->callee is called when the program ends */
    DH_W_SET,      /* a is stored as thread-specific data */
    DH_W_GET,      /* dst = thread-specific data of this thread */
    DH_W_OWN,      /* dst = per-thread memory of the library: errno */
    DH_W_JOIN,     /* a = the handle's value, b = where the result goes */
    DH_W_RESULT,   /* the same, but it may fail: it is not known which thread has ended */
    DH_W_EXIT,     /* pthread_exit(a) */
    DH_W_LOCK,     /* a is locked; mode, lock_kind */
    DH_W_TRYLOCK,  /* the same where it succeeds: on one edge out of the block, see dh_w_block.tried */
    DH_W_UNLOCK,
    DH_W_WAIT,    /* a condition wait: releases the mutex a and takes it again */
    DH_W_BARRIER, /* waits at barrier a */
    DH_W_RENEW,   /* lock a is initialised or destroyed */
    DH_W_AGAIN,   /* setjmp: may return again, from anywhere below; see dh_w_block.tried */
    DH_W_STOP,    /* does not return */
};

enum {
    DH_W_SHARED = 1,   /* LOCK: for reading only */
    DH_W_VOLATILE = 2, /* the access is volatile */
    DH_W_SPINS = 4,    /* the access is the condition of a loop that only waits */
    DH_W_BYTES = 8,    /* MEMCPY: moves no pointers */
    DH_W_FIXED = 8,    /* LOAD: of a pointer that no longer changes (fixed.c) */
    DH_W_UNKNOWN = 16, /* OUTSIDER, FOREIGN: of an unknown function outside the program */
    DH_W_OFTEN = 64,   /* FORK: starts any number of threads */
    DH_W_POLLS = 128,  /* BACK: callee points to events, which hold the function and its argument */
    DH_W_CHANNEL = 32, /* FOREIGN: data in transit between threads: in pipes, with signals */
    DH_W_RELAXED = 32, /* the access is atomic without full ordering, and that matters */
    DH_W_LENT = 1,     /* FOREIGN: where streams keep pointers to memory of the program */
};

/* libevent's struct event. */
enum { DH_W_EVENT_FUNCTION = 24, DH_W_EVENT_ARGUMENT = 32 };

struct dh_w_op {
    u8 kind;                /* enum dh_w_kind */
    u8 flags;               /* DH_W_SHARED, ... */
    u8 access;              /* enum dh_pairs_access of what a points to, or DH_W_NO_ACCESS */
    u8 lock_kind;           /* enum dh_pairs_lock_kind */
    u8 access_b;            /* MEMCPY: of what b points to */
    u8 size_arg, count_arg; /* ALLOC, ALLOC_AT: 1 + the arguments whose product is the size; 0: none */
    dh_w_value dst, a, b;
    u32 stride;
    u32 length; /* bytes, of the access, the object or the array; DH_PTS_ANY: unknown */
    u32 call;   /* in the function's calls, or DH_W_NONE */
    u32 site;   /* MEMCPY has two in a row: a, b. DH_W_NONE: no access */
    u32 type;   /* of the access, see alias.c; 0: any */
    u32 member; /* that a points to, see member.c; 0: not known */
    int64_t off;
    LLVMValueRef inst;
    LLVMValueRef index; /* ELEMENT: i, or a multiple of it; NULL: not known */
};
#define DH_W_NO_ACCESS 0xff

struct dh_w_call {
    u32 fn;            /* the function, or DH_W_NONE: through callee */
    dh_w_value callee; /* if fn is DH_W_NONE */
    u32 n;
    dh_w_value *args;
    LLVMValueRef inst; /* whose arguments these are, in order; NULL: they are synthetic */
};

struct dh_w_block {
    LLVMBasicBlockRef value;
    u32 first, end;  /* its ops */
    u32 succ, succs; /* in the function's succ list */
    u32 tried;       /* the TRYLOCK or AGAIN op that the block's branch tests, or DH_W_NONE */
    u32 success;     /* the successor (0, 1, ...) taken if it succeeded; AGAIN: on the first return */
    u32 loop;        /* innermost loop, or DH_W_NONE; only in functions that join threads */
    u32 unwind;      /* the successor taken when the last call of the block throws, or DH_W_NONE */
    bool returns;
};

struct dh_w_loop {
    u32 parent; /* or DH_W_NONE */
    bool waits; /* only reads memory */
};

struct dh_w_fn {
    LLVMValueRef value;
    const char *name;
    u32 args, locals;
    dh_w_value ret, var; /* the locals that hold what is returned, and the variable arguments; or DH_W_NONE */
    u32 *def;            /* for each local: the op that defines it, DH_W_MANY or DH_W_NONE (arguments) */
    struct dh_w_op *ops;
    struct dh_w_block *blocks;
    u32 *succ;
    struct dh_w_call *calls;
    struct dh_w_loop *loops;
    size_t n_ops, n_blocks, n_succ, n_calls, n_loops;
    size_t cap_ops, cap_blocks, cap_succ, cap_calls, cap_loops;
    dh_pts_object object;
    bool defined;
    bool clone; /* an instance for each call */
    bool fresh; /* returns fresh memory */
    u32 *as; /* for each local: 1 + its number among those that point to known structures; 0: no (typed.c) */
    struct dh_w_typed *typed;
    size_t n_typed, cap_typed;
};

/* A local held by variables that are declared to point to structures: it points to one of these. */
enum { DH_W_MAX_DECLARED = 4 };
struct dh_w_typed {
    dh_w_value local;
    u32 n;
    const void *type[DH_W_MAX_DECLARED]; /* see shim_types.h */
};

/* A constant that holds addresses: one node for all instances. */
struct dh_w_constant {
    LLVMValueRef value;
    dh_pts_node node;
};

struct dh_w_global {
    LLVMValueRef value;
    dh_pts_object object; /* DH_PTS_NONE: thread-local, an object for each root */
    dh_pts_node copies;   /* of a thread-local variable: the addresses of all of them, or DH_PTS_NONE */
};

/* Some bytes of a structure (member.c). */
struct dh_w_member {
    u32 type; /* a number of the structure */
    u32 start, length;
};

enum dh_w_object_kind {
    DH_W_GLOBAL,
    DH_W_THREAD_LOCAL,
    DH_W_STACK,
    DH_W_HEAP,
    DH_W_CODE,   /* number: the function */
    DH_W_THREAD, /* what a thread's handle points to; number: the root */
    DH_W_OUTSIDE,
    DH_W_VARARGS,
    DH_W_HIDDEN, /* of the solver */
};

/* The shape of a heap block according to the source (shape.c). */
struct dh_w_shape {
    u32 size;         /* DH_PTS_ANY: unknown */
    u32 stride;       /* of its type, if it has one; 0: one of it, and then what its last member has more */
    const void *type; /* see shim_types.h; or NULL */
};

/* What is known about an object of the solver, by its number. */
struct dh_w_object {
    u8 kind;
    bool constant; /* GLOBAL: never written */
    bool escapes;  /* threads other than its owner may reach it */
    u32 number;
    u32 inst;                 /* that allocates it, or DH_W_NONE */
    u32 root;                 /* the thread it belongs to, or DH_W_NONE for globals */
    bool single;              /* certainly one object at run time */
    const struct dh_w_op *op; /* that allocates it */
    LLVMValueRef value;       /* the global, the alloca, the allocating call */
    struct dh_w_shape shape;  /* of other objects than HEAP once it was asked for: shaped */
    bool shaped;
};

struct dh_w_edge {
    u32 op;    /* in the caller's function */
    u32 inst;  /* the callee */
    bool late; /* called when the program ends */
};

struct dh_w_fork {
    u32 op;
    u32 root; /* the thread that starts */
    u32 inst; /* its entry function */
};

/* A function in a context. */
struct dh_w_inst {
    u32 fn, root;
    u32 caller, call_op; /* of a clone; else DH_W_NONE */
    u32 depth;           /* of clones in clones */
    bool live;           /* its constraints are added */
    dh_pts_node *node; /* for each local: what flows into it; then, for each typed one, the part that fits */
    struct dh_w_edge *edges;
    struct dh_w_fork *forks;
    size_t n_edges, n_forks;
    size_t cap_edges, cap_forks;
};

/* A thread: main, or what one place of creation starts in one function. */
struct dh_w_root {
    u8 kind; /* enum dh_pairs_entry_kind */
    bool many;
    bool often;   /* one place of creation starts many, with the same argument */
    bool unknown; /* called back by code outside the program, later or in its own threads */
    u32 fn;
    u32 inst;        /* of its entry function */
    u32 creator, op; /* the instance and its op; DH_W_NONE: main, or several */
    const char *api;
    LLVMValueRef site; /* the call that creates it */
    dh_pts_object handle;
    dh_pts_node result; /* what the thread returns */
    dh_pts_node kept;   /* its thread-specific values */
};

/* Signal handlers, and functions that code outside calls, run on threads of other roots, and have the
 * thread-local variables of these. */
DH_INLINE bool dh_w_runs_on_others(const struct dh_w_root *root)
{
    return root->kind == DH_PAIRS_SIGNAL || root->kind == DH_PAIRS_OUTSIDER;
}
/* Another place of creation, or another function, that shares a root. */
struct dh_w_sharer {
    u32 root, fn, creator, op;
};
#define DH_W_MAX_ROOTS 64 /* bits of a mask; one more place of creation shares the last */

struct dh_w {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    struct dh_pairs *pairs;
    struct dh_arena arena;
    struct dh_pts *pts;
    struct dh_shim_types *known; /* shim_types.h */

    struct dh_w_fn *fns;
    struct dh_w_constant *constants;
    struct dh_w_global *globals;
    struct dh_w_object *objects;
    struct dh_w_inst *insts;
    struct dh_w_root *roots;
    struct dh_w_sharer *sharers;
    size_t n_fns, n_constants, n_globals, n_objects, n_insts, n_roots, n_sharers;
    size_t cap_fns, cap_constants, cap_globals, cap_objects, cap_insts, cap_roots, cap_sharers;
    struct dh_w_table fn_of, constant_of, global_of; /* by LLVMValueRef */
    struct dh_w_table inst_of, root_of, object_of;   /* by numbers, see instance.c */

    LLVMValueRef *indirect; /* calls through pointers, once requested (length.c) */
    size_t n_indirect, cap_indirect;
    bool indirect_known;

    u32 *sites; /* for each site: the function */
    u32 *site_ops;
    size_t n_sites, cap_sites, cap_site_ops;

    const void **types; /* tags of accesses, numbered */
    size_t n_types, cap_types;
    u8 *overlap; /* bit matrix of types: they may overlap */
    struct dh_w_member *members;
    size_t n_members;
    u8 *related; /* bit matrix of structures: one may be inside the other */
    u32 n_structures;

    u32 *work; /* instances whose constraints are still to be added */
    size_t n_work, cap_work;
    u64 program_ops;    /* of all functions */
    bool relaxed;       /* relaxed atomic accesses race with other atomic accesses too */
    bool large;         /* use few contexts, to limit the time */
    u64 instance_ops;   /* ops of all instances: the measure of size */
    dh_pts_object text; /* constants without pointers */
    dh_pts_node thrown;
    dh_pts_node kept;  /* the thread-specific values of all threads */
    dh_pts_node given; /* what was passed to unknown code, and what that contains */
    u32 main_fn;
    u32 *early; /* instances of root 0 that run before main; without main, everything callable */
    size_t n_early, cap_early;
    u32 *last; /* instances of root 0 that run when the program ends: destructors by attribute */
    size_t n_last, cap_last;
};

/* ---- read*.c: from LLVM to operations ---- */

void dh_w_read(struct dh_w *w);

/* ---- constants.c: addresses in constants and initialisers ---- */

dh_w_value dh_w_constant(struct dh_w *w, LLVMValueRef value);
u32 dh_w_global(struct dh_w *w, LLVMValueRef value);
/* Declares the arrays in a value of this type to the solver. */
void dh_w_declare_arrays(struct dh_w *w, dh_pts_object o, LLVMTypeRef type, u32 start);
/* How far a copy of unknown length starting there can extend: to the end of the largest part that starts
 * there. */
uint32_t dh_w_reach(void *w, dh_pts_object o, uint32_t offset);
void dh_w_constants_initialise(struct dh_w *w);
void dh_w_constants_initialise_copy(struct dh_w *w, u32 global, dh_pts_object copy);

/* ---- shape.c: how large blocks are, and where the arrays in objects end ---- */

struct dh_w_shape dh_w_shape_of_block(const struct dh_w *w, u32 inst, const struct dh_w_op *op);
struct dh_w_shape dh_w_shape_of_object(struct dh_w *w, dh_pts_object object);
/* For the solver: struct dh_pts_options. */
bool dh_w_shape_array(void *w, dh_pts_object o, uint32_t offset, uint32_t stride, uint32_t *ret_start,
                      uint32_t *ret_end);

/* ---- typed.c: pointers to structures ---- */

void dh_w_typed_find(struct dh_w *w);
/* The declared target type of the variable that holds a pointer, or of the one from which it is computed at a
 * constant distance; or NULL. */
const void *dh_w_typed_base(const struct dh_w_fn *f, dh_w_value v, int64_t *ret_offset);
/* For a new instance: creates the nodes of its typed locals. */
void dh_w_typed_begin(struct dh_w *w, u32 inst);
/* Something flowed into a typed local. */
void dh_w_typed_flow(struct dh_w *w, const u32 *at, dh_pts_object object, uint32_t offset);

/* ---- place.c: source positions ---- */

/* The innermost place in a source of the program, not of the system's headers, as the fingerprint of a race
 * has it; returns the function. Without one: the innermost. */
const char *dh_w_project_place(struct dh_w *w, LLVMValueRef inst, struct dh_pairs_place *ret);

/* ---- member.c: members of structures ---- */

void dh_w_members_find(struct dh_w *w);
/* Whether accesses to two members are to different places, if each pointer points to what it is declared to.
 */
bool dh_w_members_apart(const struct dh_w *w, u32 a, u32 b);

/* ---- alias.c: types of accesses ---- */

void dh_w_alias_find(struct dh_w *w);
/* May accesses of two types overlap? */
bool dh_w_alias(const struct dh_w *w, u32 a, u32 b);

/* ---- clone.c: which functions get an instance for each call ---- */

void dh_w_clone_choose(struct dh_w *w);

/* ---- instance.c: instances, constraints, the call graph while it grows ---- */

int dh_w_solve(struct dh_w *w);
u32 dh_w_object_add(struct dh_w *w, struct dh_w_object object, u32 size, unsigned flags);
dh_pts_node dh_w_node(const struct dh_w *w, u32 inst, dh_w_value v);
/* The object that stands for data in transit between threads: in pipes, with signals. */
dh_pts_object dh_w_channel(struct dh_w *w);
/* Adds the operations of an instance as constraints. */
void dh_w_constrain(struct dh_w *w, u32 inst);
/* The instance of a function called there (DH_W_NONE: no caller), created if necessary. */
u32 dh_w_instance(struct dh_w *w, u32 fn, u32 root, u32 caller, u32 op);
void dh_w_bind(struct dh_w *w, u32 caller, u32 op, u32 callee);
void dh_w_on_flow(void *client, void *call, dh_pts_object object, uint32_t offset);

/* ---- assume.c: assumptions ---- */

enum dh_w_assumption {
#define DH_ASSUME(id, name, sentence) DH_W_ASSUME_##id,
#include "ir/whole/assume.def"
#undef DH_ASSUME
    DH_W_ASSUMPTIONS
};
void dh_w_assume_nothing(struct dh_w *w); /* states all assumptions, counts none */
void dh_w_assume(struct dh_w *w, enum dh_w_assumption what, u64 count, LLVMValueRef where);

/* ---- tally.c: counts that depend on the points-to sets ---- */

void dh_w_tally(struct dh_w *w);

/* ---- place.c: source positions and names ---- */

struct dh_pairs_place dh_w_place(struct dh_w *w, LLVMValueRef value);

#endif
