/*
 * ir.h - what the files of the pass share.
 *
 * The life of a module: pass.c decides which functions are instrumented; for each, sites.c (with
 * escape.c) lists what must be checked, before anything is inserted, since our own calls would look
 * like captures; loops.c plans which of them can be replaced by one check before a loop, groups.c which are
 * tested together; loops.c, groups.c, emit.c and frame.c then insert calls; at the end link.c inlines the
 * fast paths.
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
    struct dh_ir_quiet *quiet;           /* NULL: nothing is known about the module's own functions */
    bool throwing;                       /* inserted calls may unwind (throwing.c) */
    bool heeds_marks;                    /* accesses marked as safe are not sites (prune.c) */
    unsigned safe_kind;                  /* metadata kind of those marks */
    struct dh_ir_filter *filter;         /* NULL: checks cannot be switched off (filter.c) */
    struct dh_ir_tally *tally;           /* NULL: checks are not counted (tally.c) */
    LLVMValueRef entry[DH_IR_ENTRY_MAX]; /* entry points, declared on first use */
    LLVMTypeRef entry_type[DH_IR_ENTRY_MAX];
};

/* pass.c: the types, and no builder yet. */
struct dh_ir dh_ir_of(LLVMModuleRef m);
/* Code was inserted into the function: drops attributes about its memory effects, which no longer hold. */
void dh_ir_drop_stale_attributes(LLVMValueRef fn);

/* ---- link.c: the bitcode of the fast paths --------------------------------------------------- */

/* Links a bitcode file from the plugin's directory into the module. false: an error was emitted. */
bool dh_ir_link_bitcode(struct dh_ir *ir, const char *file);
/* Makes what was linked in that way internal, and sets how the rest of deadheat's functions are reached.
 * merge: two calls may be merged into one. */
void dh_ir_link_adopt(struct dh_ir *ir, bool merge);
/* Links fastpath.bc into the module. false: an error was emitted. */
bool dh_ir_link_fastpath(struct dh_ir *ir);
/* The text, or NULL. */
LLVMValueRef dh_ir_link_home(struct dh_ir *ir);
/* Runs LLVM's own passes over the module; false: an error was emitted. */
bool dh_ir_run_passes(struct dh_ir *ir, const char *pipeline);
/* Inlines every call of a fast path and removes the leftover functions. */
void dh_ir_inline_fastpath(struct dh_ir *ir);

/* ---- quiet.c: calls that cannot synchronise --------------------------------------------------------- */

enum dh_ir_call {
    DH_CALL_SYNCS, /* as far as is known, it may synchronise */
    DH_CALL_QUIET, /* it cannot synchronise, but may not return */
    DH_CALL_CALM,  /* it cannot synchronise, and returns */
};

/* Examines all functions of a module, before anything is inserted. */
struct dh_ir_quiet *dh_ir_quiet_new(LLVMModuleRef m);
void dh_ir_quiet_free(struct dh_ir_quiet *q);
/* q may be NULL: then functions are judged by their attributes only. */
enum dh_ir_call dh_ir_quiet_call(const struct dh_ir_quiet *q, LLVMValueRef call);

/* ---- analysis.c: the analysis of the whole program, at link time ------------------------------------ */

struct dh_whole_options;
struct dh_ir_analysis {
    const u8 *bytes; /* the table of sites and pairs (report/pairs.h); NULL: there is none */
    size_t n;
    char why[160]; /* why there is none: a sentence without its full stop */
};

/* Analyses a copy of the module, after `prepare` has changed it (NULL: it is not changed). true: there is a
 * table. options: the child has a copy, and callbacks are called in the child; program and progress are
 * filled in here. */
bool dh_ir_analysis_run(LLVMModuleRef m, const struct dh_whole_options *options,
                        void (*prepare)(LLVMModuleRef m), struct dh_ir_analysis *ret);
void dh_ir_analysis_done(struct dh_ir_analysis *a);
/* The name of the program being linked, if the driver passed it; else "". */
const char *dh_ir_analysis_program(void);

/* ---- embed.c: the table in the program -------------------------------------------------------------- */

void dh_ir_embed(LLVMModuleRef m, const struct dh_ir_analysis *a);
/* Puts a copy into the program, in a section that is not discarded. */
void dh_ir_embed_bytes(LLVMModuleRef m, const char *section, const void *bytes, size_t n);
/* Embeds the list of source files. */
void dh_ir_embed_sources(LLVMModuleRef m);

/* ---- marks.c: the result of the analysis for single instructions --------------------------------------- */

/* All instructions that may access memory, in module order: an instruction's index is its number. A heap
 * array. */
size_t dh_ir_marks_list(LLVMModuleRef m, LLVMValueRef **ret);
/* In the child: assigns each instruction its number; and reads it. */
void dh_ir_marks_number(LLVMModuleRef m);
bool dh_ir_marks_number_of(LLVMValueRef inst, u64 *ret);
/* Sites of instructions: a file for the child (NULL: there is none), to which it writes through this callback
 * of struct dh_whole_sites; known: the child completed, so instructions are marked. */
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

/* Why the analysis would not be sound for the program, a sentence about "it"; NULL: it is. */
const char *dh_ir_exports_refuse(LLVMModuleRef m);
/* Passes everything that other code can name to an unknown function. */
void dh_ir_exports_give(LLVMModuleRef m);

/* ---- prune.c: accesses that cannot race --------------------------------------------------- */

/* Are checks of safe accesses to be omitted (--dh-prune)? */
bool dh_ir_prune_wanted(void);
/* dh_ir_prune_mark is in shim.h. The kind of the marks' metadata. */
unsigned dh_ir_prune_kind(LLVMModuleRef m);
/* Which sides are safe: DH_WHOLE_TO, DH_WHOLE_FROM of a copy; both for other accesses. */
unsigned dh_ir_prune_safe(unsigned kind, LLVMValueRef inst);
/* Prints how many checks there would be, and how many there are. */
void dh_ir_prune_say(u64 all, u64 kept);

/* ---- filter.c: checks that can be switched off when the program starts ----------------------------- */

struct dh_ir_site;
bool dh_ir_filter_wanted(void);
struct dh_ir_filter *dh_ir_filter_new(LLVMModuleRef m);
void dh_ir_filter_free(struct dh_ir_filter *f);
/* To be called when the module has been analysed, and its instructions are marked. */
void dh_ir_filter_learn(struct dh_ir_filter *f, const struct dh_ir_analysis *a);
bool dh_ir_filter_knows(const struct dh_ir_filter *f); /* NULL: it does not */
/* Collect what the next check stands for. which: DH_WHOLE_TO, DH_WHOLE_FROM. _add includes the sites that the
 * site's check covers, _add_chain also those that are tested together with it. */
void dh_ir_filter_begin(struct dh_ir *ir);
void dh_ir_filter_add(struct dh_ir *ir, const struct dh_ir_site *site, unsigned which);
void dh_ir_filter_add_chain(struct dh_ir *ir, const struct dh_ir_site *first);
/* Returns the instruction before which the check must be inserted so that it can be skipped before `place`.
 */
LLVMValueRef dh_ir_filter_open(struct dh_ir *ir, LLVMValueRef place);
/* Its access is known at compile time not to race. */
bool dh_ir_filter_is_safe(const struct dh_ir *ir, const struct dh_ir_site *site);
/* Embeds the tables in the program. */
void dh_ir_filter_embed(const struct dh_ir_filter *f);

/* ---- tally.c: builds that count their checks --------------------------------------------------------- */

/* NULL unless the driver was asked for it (--dh-count-checks). */
struct dh_ir_sites;
struct dh_ir_tally *dh_ir_tally_new(struct dh_ir *ir);
void dh_ir_tally_free(struct dh_ir_tally *t);
/* Counts each execution of the sites' accesses: all that would be checked, or those that are. To be called
 * after everything else has been inserted into the function. */
void dh_ir_tally_sites(struct dh_ir *ir, const struct dh_ir_sites *sites, bool checked);
/* The program prints the two numbers when it ends. */
void dh_ir_tally_end(struct dh_ir *ir);

/* ---- ignore.c: what the user excludes ------------------------------------------------------- */

enum {
    DH_IR_LEAVE_PLAIN = 1, /* checks of accesses that are not atomic */
    DH_IR_LEAVE_ATOMIC = 2,
    DH_IR_LEAVE_FRAME = 4, /* the shadow call stack */
};

unsigned dh_ir_ignore_get(LLVMValueRef fn);
void dh_ir_ignore_add(LLVMValueRef fn, unsigned bits);
/* Before the optimiser: applies lists and options to the module's functions. */
void dh_ir_ignore_mark(LLVMModuleRef m);

/* ---- sites.c: what must be checked ------------------------------------------------------------ */

enum dh_ir_site_kind {
    DH_SITE_READ,
    DH_SITE_WRITE,
    DH_SITE_VPTR_WRITE,
    DH_SITE_COPY,      /* memcpy, memmove, memset and similar; memcmp too */
    DH_SITE_MASKED,    /* masked vector loads and stores */
    DH_SITE_ATOMIC,    /* an atomic instruction */
    DH_SITE_LIBATOMIC, /* a call of libatomic */
    DH_SITE_FENCE,
    DH_SITE_PREFETCH,
};

struct dh_ir_site {
    enum dh_ir_site_kind kind;
    bool covered;  /* another site of the list checks at least as much: emit nothing */
    bool merged;   /* READ, WRITE: its check includes neighbours */
    bool rare;     /* READ, WRITE: rarely executed, so the check may be slower and smaller */
    bool joined;   /* READ, WRITE: its check is part of an earlier site's */
    bool skip_dst; /* DH_SITE_COPY: the destination needs no check */
    bool skip_src; /* DH_SITE_COPY: the source needs no check */
    bool reads;    /* DH_SITE_COPY: the destination is read, not written */
    LLVMValueRef inst;
    LLVMValueRef ptr; /* READ, WRITE, VPTR_WRITE */
    long long shift;  /* the check starts this many bytes after ptr, to include neighbours */
    u64 size;         /* bytes */
    u64 align;
    LLVMValueRef base; /* ptr == base + offset, for comparing addresses */
    long long offset;
    unsigned window;           /* its number: different for each block, and on each side of a break */
    unsigned stretch;          /* part of a window in which nothing can fail to return */
    struct dh_ir_range *range; /* checked outside its loop, at least if the loop is long; or NULL */
    struct dh_ir_site *next; /* READ, WRITE: the next one that is checked together with the first; or NULL */
    size_t by;               /* covered, within its window: the index of the one that covers it */
    struct dh_ir_site *also; /* list of the sites that one covers; or NULL */
};

/* A basic block, with its sites and windows. */
struct dh_ir_block {
    LLVMBasicBlockRef bb;
    size_t first, end;                  /* its sites */
    unsigned first_window, last_window; /* equal if nothing in it ends a window */
};

struct dh_ir_sites {
    struct dh_ir_site *at;
    size_t count, capacity;
    bool rare_frame;      /* the function's calls outweigh the cost of pushing its frame */
    bool has_calls;       /* calls of functions that might be instrumented or intercepted */
    LLVMValueRef *breaks; /* instructions that end a window or may not return */
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
/* The check of a is at least as strong as that of b and covers all bytes of b. */
bool dh_ir_sites_covers(const struct dh_ir_site *a, const struct dh_ir_site *b);

/* ---- avail.c: what earlier blocks have checked ---------------------------------------------------- */

/* Marks the sites that are covered by another on every path to them, with no break in between. */
void dh_ir_avail_prune(struct dh_ir_sites *sites);

/* ---- loops.c: one check for all iterations --------------------------------------------------------- */

struct dh_ir_ranges {
    struct dh_ir_range **at;
    size_t count, capacity;
};

/* Finds the sites that can be checked before their loop, and gives them their range. Computes values in
 * preheaders, but inserts no checks yet. */
void dh_ir_loops_plan(const struct dh_ir *ir, LLVMValueRef fn, struct dh_ir_sites *sites,
                      struct dh_ir_ranges *ret_ranges);
/* Inserts the checks before the loops. */
void dh_ir_loops_emit(struct dh_ir *ir, const struct dh_ir_ranges *ranges);
/* Whether a site in a range also has a check in the loop, used if the loop is short. */
bool dh_ir_loops_is_inside(const struct dh_ir_site *site);
/* Positions the builder for that check, before place, and returns the instruction after it. */
LLVMValueRef dh_ir_loops_position(struct dh_ir *ir, const struct dh_ir_site *site, LLVMValueRef place);
void dh_ir_loops_done(struct dh_ir_ranges *ranges);

/* ---- groups.c: one test for several accesses ------------------------------------------------------ */

/* Chains the sites that are checked together. */
void dh_ir_groups_plan(const struct dh_ir *ir, struct dh_ir_sites *sites);
/* Inserts the checks of a chain. The builder is positioned before place, with the first site's source
 * position. */
void dh_ir_groups_emit(struct dh_ir *ir, const struct dh_ir_site *first, LLVMValueRef place);

/* ---- escape.c: what no other thread can see --------------------------------------------------- */

struct dh_ir_escape; /* a cache of capture queries, for one function */
struct dh_ir_escape *dh_ir_escape_new(void);
void dh_ir_escape_free(struct dh_ir_escape *e);
/* No other thread can write to what ptr points to: unescaped locals, constants, vtables, counters. */
bool dh_ir_escape_is_private(struct dh_ir_escape *e, LLVMValueRef ptr);

/* ---- emit.c: inserting the checks -------------------------------------------------------------- */

/* Finds or declares every entry point. */
void dh_ir_emit_declare_all(struct dh_ir *ir);
void dh_ir_emit_sites(struct dh_ir *ir, const struct dh_ir_sites *sites);
void dh_ir_emit_site(struct dh_ir *ir, const struct dh_ir_site *site);
/* A call of an entry point at the builder's position. */
LLVMValueRef dh_ir_emit_call(struct dh_ir *ir, enum dh_ir_entry e, LLVMValueRef *args);
/* ptr plus so many bytes, at the builder's position. */
LLVMValueRef dh_ir_emit_shifted(struct dh_ir *ir, LLVMValueRef ptr, long long shift);
/* How an access of constant size is checked: one or a few checks of sizes that have their own entry points,
 * or one of any size and alignment. */
enum { DH_IR_PIECES = 4 };
struct dh_ir_piece {
    u64 at, size;
    int power; /* size == 2^power; -1: any size and alignment */
};
unsigned dh_ir_emit_pieces(u64 size, u64 align, struct dh_ir_piece ret[DH_IR_PIECES]);
/* How many of them can be tested inline; 0: not all can. */
unsigned dh_ir_emit_count_tests(u64 size, u64 align);
/* The check of one access of constant size at the builder's position. */
void dh_ir_emit_check(struct dh_ir *ir, bool write, LLVMValueRef ptr, u64 size, u64 align);
/* The same, by a call of a fast path that is not inlined. */
void dh_ir_emit_rare_check(struct dh_ir *ir, bool write, LLVMValueRef ptr, u64 size, u64 align);
/* Positions the builder before inst, with the source position of inst. */
void dh_ir_emit_before(struct dh_ir *ir, LLVMValueRef inst);
/* The same before another instruction, with the source position of inst. */
void dh_ir_emit_at(struct dh_ir *ir, LLVMValueRef place, LLVMValueRef inst);
/* Sets only the source position. */
void dh_ir_emit_position_of(struct dh_ir *ir, LLVMValueRef inst);
void dh_ir_emit_after(struct dh_ir *ir, LLVMValueRef inst);
LLVMValueRef dh_ir_emit_u32(struct dh_ir *ir, u32 value);
LLVMValueRef dh_ir_emit_u64(struct dh_ir *ir, u64 value);

/* ---- atomic.c, masked.c: the sites that need more than a call --------------------------------- */

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
/* After it: skips what is already done; to be called when the fast paths are linked in; and when they are
 * inlined. */
void dh_ir_throwing_skip_done(struct dh_ir_sites *sites);
void dh_ir_throwing_link(struct dh_ir *ir);
void dh_ir_throwing_redirect(struct dh_ir *ir);

/* ---- frame.c: the shadow call stack -------------------------------------------------------------- */

/* Before anything is inserted: insertions split blocks, and only allocas in the first block have a fixed
 * place in the frame, so those of constant size are moved to its top. */
void dh_ir_frame_prepare(struct dh_ir *ir, LLVMValueRef fn);
/* rare: the frame may be pushed by a call. */
void dh_ir_frame_insert(struct dh_ir *ir, LLVMValueRef fn, bool rare);

#endif
