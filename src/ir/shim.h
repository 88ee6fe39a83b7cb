/*
 * shim.h - a C interface to the few LLVM facilities that LLVM-C lacks.
 *
 * Everything here is implemented in shim.cpp, shim_caper.cpp, shim_loops.cpp and shim_pads.cpp. It makes
 * no decisions: the rules about what to instrument are in the C files.
 */
#ifndef DH_IR_SHIM_H
#define DH_IR_SHIM_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* Called by the shim once for each module, at the end of the optimisation pipeline (C side: pass.c).
 * Returns whether the module changed.
 * Without inlining, the inserted calls stay readable, for tests and for people. */
bool dh_ir_instrument_module(LLVMModuleRef m, bool inlining);
/* The same for a whole program at link time, in which checks may be omitted (--dh-prune). */
bool dh_ir_instrument_program(LLVMModuleRef m);
/* Analyses the merged module and marks what needs no check (C side: prune.c). false: nothing is known, which
 * has been reported. */
struct dh_ir_filter;
bool dh_ir_prune_mark(LLVMModuleRef m, struct dh_ir_filter *filter);
/* Called before the optimisation pipeline, in a build with exceptions (C side: throwing.c). */
bool dh_ir_instrument_early(LLVMModuleRef m);
/* Are the plain accesses of this function to be left unchecked (C side: ignore.c)? */
bool dh_ir_ignores_plain(LLVMValueRef fn);
/* Called once for each program that is linked in field mode, on the merged module (C side: embed.c). */
void dh_ir_analyse_program(LLVMModuleRef m);
/* The same after optimisation: records in the program what its machine code consists of (C side:
 * built.c). */
void dh_ir_built_mark(LLVMModuleRef m);

/* Does an ignorelist of this compilation have an entry `prefix:` for ThreadSanitizer that matches name? */
bool dh_shim_ignorelist_has(const char *prefix, const char *name);
/* Calls accept on every object that ptr may point into; true if accept returned true for all. */
bool dh_shim_each_object(LLVMValueRef ptr, bool (*accept)(void *arg, LLVMValueRef object), void *arg);
/* Whether anything but the current invocation of the function may learn this pointer; for a thread-local
 * variable, anything but the functions of the module that name it. */
bool dh_shim_may_be_captured(LLVMValueRef ptr);
/* ptr as another pointer plus a constant number of bytes. */
LLVMValueRef dh_shim_base(LLVMValueRef ptr, long long *ret_offset);
/* A load or store of an object's vtable pointer, according to type-based alias metadata. */
bool dh_shim_is_vtable_access(LLVMValueRef inst);
bool dh_shim_is_invariant_load(LLVMValueRef load);
/* Part of a check or the like that clang generated, not part of the program. */
bool dh_shim_is_added_by_compiler(LLVMValueRef inst);
bool dh_shim_is_swifterror(LLVMValueRef ptr);
bool dh_shim_is_byval_argument(LLVMValueRef value);

/* Alignment that a memcpy-like intrinsic promises for its argument (0: destination, 1: source). */
unsigned dh_shim_argument_align(LLVMValueRef call, unsigned arg);

/* NOLINTNEXTLINE(performance-enum-size): in C an enum has no base type */
enum {
    DH_CALL_ASM = 1,
    DH_CALL_READNONE = 2, /* accesses no memory */
    DH_CALL_NOSYNC = 4,
    DH_CALL_COMES_BACK = 8, /* never unwinds, always returns */
    DH_CALL_RETURNS_TWICE = 16,
    DH_CALL_NEVER_BACK = 32, /* never unwinds, never returns */
};
unsigned dh_shim_call_traits(LLVMValueRef call);

/* Another definition may replace this one when the program is linked or loaded. */
bool dh_shim_is_interposable(LLVMValueRef fn);

/* The C library functions that LLVM knows. */
struct dh_shim_library;
struct dh_shim_library *dh_shim_library_new(LLVMModuleRef m);
void dh_shim_library_free(struct dh_shim_library *library);
/* The name of the called function, if its name and types are those of the library; or NULL. */
const char *dh_shim_library_name(struct dh_shim_library *library, LLVMValueRef call);

/* ---- shim_pads.cpp: where exceptions land ------------------------------------------------------- */

/* The function that statements.cpp calls before every statement. */
#define DH_STATEMENT_MARK "__dh_statement"
struct dh_shim_pads;
struct dh_shim_pads *dh_shim_pads_new(LLVMValueRef fn);
void dh_shim_pads_free(struct dh_shim_pads *pads);
/* The landing pad of the statement that inst is part of; NULL: none. For unoptimised code from clang. */
LLVMBasicBlockRef dh_shim_pads_at(struct dh_shim_pads *pads, LLVMValueRef inst);
void dh_shim_make_invoke(LLVMValueRef call, LLVMBasicBlockRef pad);
/* Removes all marks. */
void dh_shim_drop_marks(LLVMModuleRef m);
/* Declares that the function accesses no memory that the program can reach. */
void dh_shim_set_inaccessible(LLVMValueRef fn);

/* The module's code goes into a shared object (as opposed to an executable of any kind). */
bool dh_shim_is_shared_code(LLVMModuleRef m);
void dh_shim_set_dso_local(LLVMValueRef global, bool local);
/* Drops module flags, identification and the like: linking would merge or compare them. */
void dh_shim_drop_named_metadata(LLVMModuleRef m);
void dh_shim_add_constructor(LLVMModuleRef m, LLVMValueRef function, int priority);
void dh_shim_add_destructor(LLVMModuleRef m, LLVMValueRef function, int priority);
/* Neither compiler nor linker may drop it. */
void dh_shim_keep(LLVMModuleRef m, LLVMValueRef global);
/* A compilation error, in the compiler's own style. */
void dh_shim_error(LLVMModuleRef m, const char *sentence);
void dh_shim_warn(LLVMModuleRef m, const char *sentence);

/* ---- shim_caper.cpp: for Caper builds -------------------------------------------------------------- */

/* Called once for each program that is linked for Caper, on the merged module (C side: caper/caper.c). */
void dh_ir_caper_program(LLVMModuleRef m, bool inlining);
/* The pointer that ptr is derived from. */
LLVMValueRef dh_shim_object(LLVMValueRef ptr);
/* Whether, by the rules of the language, the loaded memory may hold a pointer, rather than only a number. */
bool dh_shim_may_hold_pointer(LLVMValueRef load);
/* Inserts, before inst, assembly that may jump to a new block ("${0:l}"), which continues after the assembly.
 * Returns the last instruction of that block. */
LLVMValueRef dh_shim_insert_branch(LLVMValueRef inst, const char *text);
/* The converse: assembly followed by a new block, which it may jump over. Returns the last instruction of
 * that block. */
LLVMValueRef dh_shim_insert_bypass(LLVMValueRef inst, const char *text);
/* Visits the source files of the code for which the debug information has checksums (MD5, in hexadecimal),
 * some of them several times. */
void dh_shim_each_source(LLVMModuleRef m, void (*visit)(void *arg, const char *checksum, const char *name),
                         void *arg);
/* A place on the edge from an invoke or a callbr to its normal destination. */
LLVMValueRef dh_shim_normal_way(LLVMValueRef call);
/* Is it a debug intrinsic? */
bool dh_shim_is_debug(LLVMValueRef inst);
/* The predecessors of a block, one for each edge; returns how many there are, which may be more than `room`.
 */
unsigned dh_shim_predecessors(LLVMBasicBlockRef bb, LLVMBasicBlockRef *ret, unsigned room);
void dh_shim_move_to_front(LLVMValueRef fn);
/* Replaces calls of one function with calls of the other. */
void dh_shim_replace_calls(LLVMValueRef old, LLVMValueRef by);

/* ---- shim_exits.cpp: where loops end, for Caper builds -------------------------------------------- */

struct dh_shim_exits;
struct dh_shim_exits *dh_shim_exits_new(LLVMValueRef fn, bool (*is_quiet)(void *arg, LLVMValueRef inst),
                                        void *arg);
void dh_shim_exits_free(struct dh_shim_exits *exits);
/* The outermost loop that certainly terminates, contains only quiet instructions, derives ptr from the same
 * pointer (origin) in all iterations, and has always executed the block of inst when it exits; or NULL.
 */
const void *dh_shim_exits_loop(struct dh_shim_exits *exits, LLVMValueRef inst, LLVMValueRef ptr,
                               LLVMValueRef *ret_origin);
/* Instructions before which control has just left the loop, one for each exit block. Splits edges to blocks
 * that are also reached in other ways. Returns how many there are, which may be more than `room`. */
unsigned dh_shim_exits_places(struct dh_shim_exits *exits, const void *loop, LLVMValueRef *ret,
                              unsigned room);

/* ---- shim_loops.cpp: a function's loops ---------------------------------------------------------- */

struct dh_shim_loops;
/* ends: loops may be assumed to end, also where the compiler was told not to. */
struct dh_shim_loops *dh_shim_loops_new(LLVMValueRef fn, bool ends);
void dh_shim_loops_free(struct dh_shim_loops *loops);
/* The loop around an instruction, if it has no inner loops, one entry and one exit; or NULL. */
const void *dh_shim_loops_at(struct dh_shim_loops *loops, LLVMValueRef inst);
/* Whether inst contributes little to the time of the function, judging by the shape of the code: other things
 * are executed more often, or take longer. */
bool dh_shim_loops_is_rare(struct dh_shim_loops *loops, LLVMValueRef inst);
/* Whether the function usually calls others, which then take more time than entering it. */
bool dh_shim_loops_calls(struct dh_shim_loops *loops, LLVMValueRef fn);
/* Whether inst is executed in every iteration and ptr advances by a constant number of bytes (0: constant).
 */
bool dh_shim_loops_stride(struct dh_shim_loops *loops, const void *loop, LLVMValueRef inst, LLVMValueRef ptr,
                          long long *ret_step);
/* Whether two addresses are always the same number of bytes apart. */
bool dh_shim_loops_distance(struct dh_shim_loops *loops, LLVMValueRef from, LLVMValueRef to,
                            long long *ret_distance);
/* An upper bound on the number of iterations; 0: unknown. */
unsigned dh_shim_loops_max_count(struct dh_shim_loops *loops, const void *loop);
/* Values computed at the end of the preheader: the number of iterations, and the address in the first one.
 * NULL: unknown or too costly. */
LLVMValueRef dh_shim_loops_count(struct dh_shim_loops *loops, const void *loop);
LLVMValueRef dh_shim_loops_start(struct dh_shim_loops *loops, const void *loop, LLVMValueRef ptr);
LLVMValueRef dh_shim_loops_preheader_end(const void *loop);
/* Whether the language allows assuming that the loops of a function terminate, as long as nothing in them is
 * volatile, atomic, or input or output. */
bool dh_shim_loops_end(LLVMValueRef fn);
/* Two instructions come from the same source line of the same inlined copy. */
bool dh_shim_same_line(LLVMValueRef a, LLVMValueRef b);
/* Where the loop begins that the last instruction of a block decides on: the one that it repeated before the
 * optimiser changed it, or that it may enter. NULL: there is none, or its place is unknown. */
LLVMMetadataRef dh_shim_loop_of_end(LLVMValueRef end);
/* Where the innermost block or function begins that an instruction without a line is known to be in. NULL:
 * there is no debug information. */
LLVMMetadataRef dh_shim_scope_of(LLVMValueRef inst);
/* Creates a block that runs before inst if the condition holds; returns its last instruction. unlikely: it is
 * placed after the function's own code. */
LLVMValueRef dh_shim_split_if(LLVMValueRef condition, LLVMValueRef inst, bool unlikely);
/* Whether value, which a later instruction of the same block uses, is already available at inst. */
bool dh_shim_is_known_at(LLVMValueRef value, LLVMValueRef inst);

#ifdef __cplusplus
}
#endif

#endif
