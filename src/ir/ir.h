/*
 * ir.h - what the files of the pass share.
 *
 * The life of a module: pass.c decides which functions are instrumented; for each, sites.c (with
 * escape.c) lists what must be checked, before anything is inserted, since our own calls would look
 * like captures; loops.c plans which of them one check before a loop can stand for, groups.c which are tested
 * together; loops.c, groups.c, emit.c and frame.c then insert calls; at the end link.c inlines the fast
 * paths.
 */
#ifndef DH_IR_H
#define DH_IR_H

#include <stdio.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "base/base.h"
#include "ir/shim.h"

enum dh_ir_entry {
#define DH_ENTRY(id, name, signature) DH_IR_##id,
#include "ir/entries.def"
#undef DH_ENTRY
    DH_IR_ENTRY_MAX
};

struct dh_ir {
    LLVMModuleRef module;
    LLVMContextRef ctx;
    LLVMTargetDataRef layout; /* owned by the module */
    LLVMBuilderRef builder;
    LLVMTypeRef ptr, u8, u32, u64, none;
    struct dh_ir_quiet *quiet;           /* NULL: nothing is known of the module's own functions */
    bool throwing;                       /* what is inserted now may unwind (throwing.c) */
    bool heeds_marks;                    /* accesses that are marked as safe are no sites (prune.c) */
    unsigned safe_kind;                  /* of those marks */
    struct dh_ir_filter *filter;         /* NULL: checks cannot be switched off (filter.c) */
    struct dh_ir_tally *tally;           /* NULL: checks are not counted (tally.c) */
    LLVMValueRef entry[DH_IR_ENTRY_MAX]; /* entry points, declared on first use */
    LLVMTypeRef entry_type[DH_IR_ENTRY_MAX];
};

/* pass.c: the types, and no builder yet. */
struct dh_ir dh_ir_of(LLVMModuleRef m);
/* ... code was inserted into the function: attributes about its effects on memory are no longer true. */
void dh_ir_drop_stale_attributes(LLVMValueRef fn);

/* ---- link.c: the bitcode of the fast paths --------------------------------------------------- */

/* Links a file of bitcode that lies beside the plugin into the module. false: an error was emitted. */
bool dh_ir_link_bitcode(struct dh_ir *ir, const char *file);
/* What was linked in so becomes internal, and the rest of deadheat's functions is told how to be reached.
 * merge: two calls may become one. */
void dh_ir_link_adopt(struct dh_ir *ir, bool merge);
/* Links fastpath.bc into the module. false: an error was emitted. */
bool dh_ir_link_fastpath(struct dh_ir *ir);
/* The text, or NULL. */
LLVMValueRef dh_ir_link_home(struct dh_ir *ir);
/* Runs LLVM's own passes over the module; false: an error was emitted. */
bool dh_ir_run_passes(struct dh_ir *ir, const char *pipeline);
/* Inlines every call of a fast path and removes what is left of them. */
void dh_ir_inline_fastpath(struct dh_ir *ir);

/* ---- quiet.c: calls that cannot synchronise --------------------------------------------------------- */

enum dh_ir_call {
    DH_CALL_SYNCS, /* for all that is known */
    DH_CALL_QUIET, /* it cannot synchronise, but may not come back */
    DH_CALL_CALM,  /* it cannot synchronise, and comes back */
};

/* Looks at all functions of a module, before anything is inserted. */
struct dh_ir_quiet *dh_ir_quiet_new(LLVMModuleRef m);
void dh_ir_quiet_free(struct dh_ir_quiet *q);
/* q may be NULL: then functions are judged by their attributes only. */
enum dh_ir_call dh_ir_quiet_call(const struct dh_ir_quiet *q, LLVMValueRef call);

/* ---- analysis.c: the analysis of the whole program, at link time ------------------------------------ */

struct dh_whole_options;
struct dh_ir_analysis {
    const u8 *bytes; /* the table of sites and pairs, as report/pairs.h has it; NULL: there is none */
    size_t n;
    char why[160]; /* ... and why: a sentence without its full stop */
};

/* Analyses a copy of the module, after `prepare` has changed it (NULL: it is taken as it is). true: there is
 * a table. options: the child has a copy; what is called back is called in the child. Program and progress
 * are filled in. */
bool dh_ir_analysis_run(LLVMModuleRef m, const struct dh_whole_options *options,
                        void (*prepare)(LLVMModuleRef m), struct dh_ir_analysis *ret);
void dh_ir_analysis_done(struct dh_ir_analysis *a);
/* The name of what is linked, as far as the driver said; else "". */
const char *dh_ir_analysis_program(void);

/* ---- embed.c: the table in the program -------------------------------------------------------------- */

void dh_ir_embed(LLVMModuleRef m, const struct dh_ir_analysis *a);
/* Puts a copy into the program, as part of a section that is kept. */
void dh_ir_embed_bytes(LLVMModuleRef m, const char *section, const void *bytes, size_t n);
/* ... which files it is from. */
void dh_ir_embed_sources(LLVMModuleRef m);

/* ---- marks.c: what the analysis says of single instructions --------------------------------------- */

/* All that may access memory, in the order of the module: an instruction's index is its number. A heap array.
 */
size_t dh_ir_marks_list(LLVMModuleRef m, LLVMValueRef **ret);
/* In the child: each instruction is given its number; and what it was given. */
void dh_ir_marks_number(LLVMModuleRef m);
bool dh_ir_marks_number_of(LLVMValueRef inst, u64 *ret);
/* Sites of instructions: a file for the child (NULL: there is none), in which it writes by this function of
 * struct dh_whole_sites; known: it came to its end, and instructions are marked. */
FILE *dh_ir_marks_begin(void);
void dh_ir_marks_on_site(void *file, LLVMValueRef inst, unsigned which, u8 access, u32 site);
void dh_ir_marks_end(LLVMModuleRef m, FILE *file, bool known);
/* The kind of the marks' metadata. */
unsigned dh_ir_marks_kind(LLVMModuleRef m);
/* Calls visit for each site of an instruction. which: DH_WHOLE_TO, DH_WHOLE_FROM; access: enum
 * dh_pairs_access. Returns how many there are. */
size_t dh_ir_marks_each(unsigned kind, LLVMValueRef inst,
                        void (*visit)(void *arg, unsigned which, u8 access, u32 site), void *arg);

/* ---- exports.c: what code outside the merged module can reach --------------------------------------- */

/* Why the analysis cannot vouch for the program, a sentence about "it"; NULL: it can. */
const char *dh_ir_exports_refuse(LLVMModuleRef m);
/* Hands what is known by name elsewhere to a function that nobody knows. */
void dh_ir_exports_give(LLVMModuleRef m);

/* ---- prune.c: accesses that can race with nothing --------------------------------------------------- */

/* Is what is safe to be left out (--dh-prune)? */
bool dh_ir_prune_wanted(void);
/* dh_ir_prune_mark is in shim.h. The kind of the marks' metadata. */
unsigned dh_ir_prune_kind(LLVMModuleRef m);
/* Which sides are safe: DH_WHOLE_TO, DH_WHOLE_FROM of a copy, both of another access. */
unsigned dh_ir_prune_safe(unsigned kind, LLVMValueRef inst);
/* How many checks there would be, and how many there are. */
void dh_ir_prune_say(u64 all, u64 kept);

/* ---- filter.c: checks that can be switched off when the program starts ----------------------------- */

struct dh_ir_site;
bool dh_ir_filter_wanted(void);
struct dh_ir_filter *dh_ir_filter_new(LLVMModuleRef m);
void dh_ir_filter_free(struct dh_ir_filter *f);
/* The module is analysed, and its instructions are marked. */
void dh_ir_filter_learn(struct dh_ir_filter *f, const struct dh_ir_analysis *a);
bool dh_ir_filter_knows(const struct dh_ir_filter *f); /* NULL: it does not */
/* For the next check: what it stands for. which: DH_WHOLE_TO, DH_WHOLE_FROM. With the sites that the site's
 * check covers; and with those that are tested together with it. */
void dh_ir_filter_begin(struct dh_ir *ir);
void dh_ir_filter_add(struct dh_ir *ir, const struct dh_ir_site *site, unsigned which);
void dh_ir_filter_add_chain(struct dh_ir *ir, const struct dh_ir_site *first);
/* Where the check goes so that it can be skipped before `place`: before the instruction that is returned. */
LLVMValueRef dh_ir_filter_open(struct dh_ir *ir, LLVMValueRef place);
/* Its access races with nothing, which is known now. */
bool dh_ir_filter_is_safe(const struct dh_ir *ir, const struct dh_ir_site *site);
/* The tables, into the program. */
void dh_ir_filter_embed(const struct dh_ir_filter *f);

/* ---- tally.c: builds that count their checks --------------------------------------------------------- */

/* NULL unless the driver was asked for it (--dh-count-checks). */
struct dh_ir_sites;
struct dh_ir_tally *dh_ir_tally_new(struct dh_ir *ir);
void dh_ir_tally_free(struct dh_ir_tally *t);
/* Counts each execution of the sites' accesses: all that would be checked, or those that are. After
 * everything else was inserted into the function. */
void dh_ir_tally_sites(struct dh_ir *ir, const struct dh_ir_sites *sites, bool checked);
/* The program prints the two numbers when it ends. */
void dh_ir_tally_end(struct dh_ir *ir);

/* ---- ignore.c: what the user wants left out ------------------------------------------------------- */

enum {
    DH_IR_LEAVE_PLAIN = 1, /* checks of accesses that are not atomic */
    DH_IR_LEAVE_ATOMIC = 2,
    DH_IR_LEAVE_FRAME = 4, /* the shadow call stack */
};

unsigned dh_ir_ignore_get(LLVMValueRef fn);
void dh_ir_ignore_add(LLVMValueRef fn, unsigned bits);
/* Before the optimiser: what lists and options say of the module's functions. */
void dh_ir_ignore_mark(LLVMModuleRef m);

/* ---- sites.c: what must be checked ------------------------------------------------------------ */

enum dh_ir_site_kind {
    DH_SITE_READ,
    DH_SITE_WRITE,
    DH_SITE_VPTR_WRITE,
    DH_SITE_COPY,      /* memcpy, memmove, memset and their kin; memcmp too */
    DH_SITE_MASKED,    /* masked vector loads and stores */
    DH_SITE_ATOMIC,    /* an atomic instruction */
    DH_SITE_LIBATOMIC, /* a call of libatomic */
    DH_SITE_FENCE,
    DH_SITE_PREFETCH,
};

struct dh_ir_site {
    enum dh_ir_site_kind kind;
    bool covered;  /* another site of the list checks at least as much: emit nothing */
    bool merged;   /* READ, WRITE: it checks neighbours too */
    bool rare;     /* READ, WRITE: hardly ever executed, so the check may be slower and shorter */
    bool joined;   /* READ, WRITE: its check is made with that of an earlier site */
    bool skip_dst; /* DH_SITE_COPY: the destination needs no check */
    bool skip_src; /* DH_SITE_COPY: the source needs no check */
    bool reads;    /* DH_SITE_COPY: the destination is read, not written */
    LLVMValueRef inst;
    LLVMValueRef ptr; /* READ, WRITE, VPTR_WRITE */
    long long shift;  /* what is checked begins that many bytes after ptr: neighbours checked with it */
    u64 size;         /* bytes */
    u64 align;
    LLVMValueRef base; /* ptr == base + offset, for comparing addresses */
    long long offset;
    unsigned window;           /* its number: no two blocks, and no two sides of a break, share one */
    unsigned stretch;          /* part of a window in which nothing can fail to come back */
    struct dh_ir_range *range; /* checked outside its loop, at least when the loop is long; or NULL */
    struct dh_ir_site *next;   /* READ, WRITE: the next one whose check is made with the first's; or NULL */
    size_t by;                 /* covered, within its window: the index of the one that covers it */
    struct dh_ir_site *also;   /* the first, or the next, of those that are covered by one; or NULL */
};

/* A basic block, with its sites and windows. */
struct dh_ir_block {
    LLVMBasicBlockRef bb;
    size_t first, end;                  /* its sites */
    unsigned first_window, last_window; /* the same: nothing in it ends a window */
};

struct dh_ir_sites {
    struct dh_ir_site *at;
    size_t count, capacity;
    bool rare_frame;      /* the function's calls take longer than pushing its frame */
    bool has_calls;       /* calls of functions that might be instrumented or intercepted */
    LLVMValueRef *breaks; /* instructions that end a window or may not come back */
    size_t break_count, break_capacity;
    struct dh_ir_block *blocks; /* in the order of the function */
    size_t block_count;
};

void dh_ir_sites_collect(struct dh_ir *ir, LLVMValueRef fn, struct dh_ir_sites *ret_sites);
void dh_ir_sites_done(struct dh_ir_sites *sites);
/* The checks of memory accesses that a site stands for: 2 for a copy with two sides; 0 if it is covered. */
unsigned dh_ir_sites_checks(const struct dh_ir_site *site);
/* An intrinsic like memcpy. */
bool dh_ir_sites_is_copy(LLVMValueRef callee);
/* The check of a, at least as strong as that of b, looks at all the bytes of b. */
bool dh_ir_sites_covers(const struct dh_ir_site *a, const struct dh_ir_site *b);

/* ---- avail.c: what an earlier block has checked ---------------------------------------------------- */

/* Marks the sites that are covered by one that lies on every way to them, with no break after it. */
void dh_ir_avail_prune(struct dh_ir_sites *sites);

/* ---- loops.c: one check for all iterations --------------------------------------------------------- */

struct dh_ir_ranges {
    struct dh_ir_range **at;
    size_t count, capacity;
};

/* Finds the sites that a check before their loop can stand for, and gives them their range. Computes values
 * in preheaders, inserts no check yet. */
void dh_ir_loops_plan(LLVMValueRef fn, struct dh_ir_sites *sites, struct dh_ir_ranges *ret_ranges);
/* Inserts the checks before the loops. */
void dh_ir_loops_emit(struct dh_ir *ir, const struct dh_ir_ranges *ranges);
/* Whether a site in a range still has a check in the loop, for when it is short. */
bool dh_ir_loops_is_inside(const struct dh_ir_site *site);
/* Puts the builder where that check belongs, before place, and returns the instruction behind it. */
LLVMValueRef dh_ir_loops_position(struct dh_ir *ir, const struct dh_ir_site *site, LLVMValueRef place);
void dh_ir_loops_done(struct dh_ir_ranges *ranges);

/* ---- groups.c: one test for several accesses ------------------------------------------------------ */

/* Chains the sites whose checks are made together. */
void dh_ir_groups_plan(const struct dh_ir *ir, struct dh_ir_sites *sites);
/* Inserts the checks of a chain. The builder stands before place, with the first site's source position. */
void dh_ir_groups_emit(struct dh_ir *ir, const struct dh_ir_site *first, LLVMValueRef place);

/* ---- escape.c: what no other thread can see --------------------------------------------------- */

struct dh_ir_escape; /* a memory of capture queries, for one function */
struct dh_ir_escape *dh_ir_escape_new(void);
void dh_ir_escape_free(struct dh_ir_escape *e);
/* No other thread can write to what ptr points to: unescaped locals, constants, vtables, counters. */
bool dh_ir_escape_is_private(struct dh_ir_escape *e, LLVMValueRef ptr);

/* ---- emit.c: inserting the checks -------------------------------------------------------------- */

/* Finds or declares every entry point. */
void dh_ir_emit_declare_all(struct dh_ir *ir);
void dh_ir_emit_sites(struct dh_ir *ir, const struct dh_ir_sites *sites);
void dh_ir_emit_site(struct dh_ir *ir, const struct dh_ir_site *site);
/* A call of an entry point where the builder stands. */
LLVMValueRef dh_ir_emit_call(struct dh_ir *ir, enum dh_ir_entry e, LLVMValueRef *args);
/* ptr and so many bytes, where the builder stands. */
LLVMValueRef dh_ir_emit_shifted(struct dh_ir *ir, LLVMValueRef ptr, long long shift);
/* What one access of constant size is checked as: one or a few checks of the sizes that have entries of their
 * own, or one of any size and alignment. */
enum { DH_IR_PIECES = 4 };
struct dh_ir_piece {
    u64 at, size;
    int power; /* the size is 2 to it; -1: any size and alignment */
};
unsigned dh_ir_emit_pieces(u64 size, u64 align, struct dh_ir_piece ret[DH_IR_PIECES]);
/* How many of them can be tested in place; 0: not all. */
unsigned dh_ir_emit_count_tests(u64 size, u64 align);
/* The check of one access of constant size where the builder stands. */
void dh_ir_emit_check(struct dh_ir *ir, bool write, LLVMValueRef ptr, u64 size, u64 align);
/* ... by a call of a fast path that is not inlined. */
void dh_ir_emit_rare_check(struct dh_ir *ir, bool write, LLVMValueRef ptr, u64 size, u64 align);
/* The builder stands before inst and gives what it inserts the source position of inst. */
void dh_ir_emit_before(struct dh_ir *ir, LLVMValueRef inst);
/* ... before another instruction, with the position of inst. */
void dh_ir_emit_at(struct dh_ir *ir, LLVMValueRef place, LLVMValueRef inst);
/* ... only the source position. */
void dh_ir_emit_position_of(struct dh_ir *ir, LLVMValueRef inst);
void dh_ir_emit_after(struct dh_ir *ir, LLVMValueRef inst);
LLVMValueRef dh_ir_emit_u32(struct dh_ir *ir, u32 value);
LLVMValueRef dh_ir_emit_u64(struct dh_ir *ir, u64 value);

/* ---- atomic.c, masked.c: the sites that take more than a call --------------------------------- */

bool dh_ir_atomic_is_libcall(LLVMValueRef call);

/* assembly.c: DH_BUILT_ASSEMBLY if this inline assembly may access memory, DH_BUILT_FENCE if it has fences.
 */
u32 dh_ir_assembly_word(LLVMValueRef call);
void dh_ir_atomic_emit(struct dh_ir *ir, LLVMValueRef inst);
void dh_ir_atomic_emit_libcall(struct dh_ir *ir, LLVMValueRef call);
void dh_ir_atomic_emit_fence(struct dh_ir *ir, LLVMValueRef fence);

bool dh_ir_masked_is(LLVMValueRef call);
LLVMValueRef dh_ir_masked_pointer(LLVMValueRef call); /* NULL: a vector of pointers */
void dh_ir_masked_emit(struct dh_ir *ir, LLVMValueRef call, LLVMValueRef place); /* before place */

/* ---- throwing.c: checks that may throw ------------------------------------------------------------ */

bool dh_ir_throwing_wanted(void);
/* Before the optimiser: declarations, then each function. */
void dh_ir_throwing_declare(struct dh_ir *ir);
void dh_ir_throwing_insert(struct dh_ir *ir, LLVMValueRef fn);
bool dh_ir_throwing_is(LLVMValueRef fn); /* inserted there */
/* After it: what is done already; when the fast paths are linked in; when they are inlined. */
void dh_ir_throwing_skip_done(struct dh_ir_sites *sites);
void dh_ir_throwing_link(struct dh_ir *ir);
void dh_ir_throwing_redirect(struct dh_ir *ir);

/* ---- frame.c: the shadow call stack -------------------------------------------------------------- */

/* Before anything is inserted: what is inserted splits blocks, and only allocas in the first block have a
 * fixed place in the frame, so those of constant size move to its top. */
void dh_ir_frame_prepare(struct dh_ir *ir, LLVMValueRef fn);
/* rare: the frame may be pushed by a call. */
void dh_ir_frame_insert(struct dh_ir *ir, LLVMValueRef fn, bool rare);

#endif
