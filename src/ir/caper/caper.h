/*
 * caper.h - what the files of a Caper build's pass share (docs/design/caper.md).
 *
 * The life of a program: sites.c analyses the merged module and marks the instructions whose sites are in a
 * pair; then the whole module is PLANNED (value.c, number.c, barrier.c, call.c, library.c, question.c),
 * before anything is inserted, since our own calls would look like captures; then emit.c and question.c
 * insert.
 */
#ifndef DH_IR_CAPER_H
#define DH_IR_CAPER_H

#include "ir/ir.h"
#include "util/arena.h"

enum dh_caper_rule {
#define DH_CAPER_RULE(id, name) DH_CAPER_RULE_##id,
#include "ir/caper/rules.def"
    DH_CAPER_RULES
};

enum dh_caper_entry {
#define DH_CAPER_ENTRY(id, name, signature) DH_CAPER_##id,
#include "ir/caper/entries.def"
#undef DH_CAPER_ENTRY
    DH_CAPER_ENTRIES
};

enum { DH_CAPER_WORD = DH_CAPER_ENTRIES }; /* PUBLISH of the word that `a` points into */

/* A call to be inserted, before or after an instruction. */
struct dh_caper_act {
    unsigned entry; /* enum dh_caper_entry, or DH_CAPER_WORD */
    bool after;
    LLVMValueRef at;
    LLVMValueRef a, b, n; /* arguments, of any type: words are extracted from them; NULL: none */
    LLVMValueRef times;   /* NEW: n is to be multiplied by it; or NULL */
    LLVMValueRef unless;  /* only if this, a callee, is outside the program; or NULL */
    u64 constant;         /* if n is NULL: the length */
    bool loaded;          /* NEW: a points to the pointer; b: and is such that a barrier is needed, or NULL */
};

struct dh_caper {
    struct dh_ir *ir;
    struct dh_ir_escape *escape;
    LLVMValueRef entry[DH_CAPER_ENTRIES];
    LLVMTypeRef entry_type[DH_CAPER_ENTRIES];
    bool without[DH_CAPER_RULES];
    u32 library_without; /* enum dh_caper_without bits */
    bool integers;       /* addresses are kept in memory as integers */
    unsigned sites_kind;
    struct dh_caper_act *acts;
    size_t n_acts, cap_acts;
    struct dh_caper_ask *asks; /* question.c */
    size_t n_asks, cap_asks;
    u32 *groups; /* DH_CAPER_GROUPS */
    size_t n_group_words, cap_group_words;
    u32 n_groups;
    LLVMValueRef depth;   /* emit.c: at the beginning of the function that was processed last */
    LLVMValueRef text[2]; /* functions before and after all of the program's; NULL: not yet needed */
};

DH_INLINE bool dh_caper_has(const struct dh_caper *c, enum dh_caper_rule rule)
{
    return !c->without[rule];
}

/* ---- rules.c ---- */

/* Reads DEADHEAT_CAPER_WITHOUT. An unknown name is a link error. */
void dh_caper_rules_read(struct dh_caper *c);
/* Tells the library in the program which of its own rules are disabled. */
void dh_caper_rules_embed(struct dh_caper *c);

/* ---- sites.c: the analysis of the whole program ---- */

/* Marks each instruction with its sites, and puts the table into the program. false: there is none, which has
 * been reported. */
bool dh_caper_sites_find(struct dh_caper *c);
/* Calls visit for each site of an instruction. which: DH_WHOLE_TO, DH_WHOLE_FROM; access: enum
 * dh_pairs_access. Returns how many there are. */
size_t dh_caper_sites_each(const struct dh_caper *c, LLVMValueRef inst,
                           void (*visit)(void *arg, unsigned which, u8 access, u32 site), void *arg);

/* ---- value.c: what may carry a pointer ---- */

/* Whether a value may be, or hold in one of its words, a pointer to a block of the heap. */
bool dh_caper_value_carries(struct dh_caper *c, LLVMValueRef value);
/* Calls visit for each load from memory, plain or atomic, of which the value may contain some bytes that are
 * not a whole word any more. moved: the elements of a vector go to other places. */
void dh_caper_value_pieces(struct dh_caper *c, LLVMValueRef value, bool moved,
                           void (*visit)(void *arg, LLVMValueRef load), void *arg);
/* Whether it has words at all: 8 bytes or more. */
bool dh_caper_value_has_words(struct dh_caper *c, LLVMTypeRef type);
bool dh_caper_value_is_scalar(LLVMTypeRef type);
/* Whether bits of a value may be stored or passed on. */
bool dh_caper_value_is_stored(LLVMValueRef value);

/* ---- number.c: addresses as integers ---- */

/* Before planning: determines whether addresses are kept as integers. */
void dh_caper_number_look(struct dh_caper *c);
/* Integers passed to a function. */
void dh_caper_number_plan_arguments(struct dh_caper *c, LLVMValueRef fn);
void dh_caper_number_plan(struct dh_caper *c, LLVMValueRef inst);

/* ---- barrier.c: stores and copies ---- */

enum dh_caper_place {
    DH_CAPER_PRIVATE,  /* no other code can refer to it */
    DH_CAPER_ESCAPED,  /* others can certainly reach it */
    DH_CAPER_SOMEWHERE /* the shadow decides at run time */
};
enum dh_caper_place dh_caper_place_of(struct dh_caper *c, LLVMValueRef ptr);
/* What is there is as the compiler made it: no addresses of blocks. */
bool dh_caper_is_constant(LLVMValueRef ptr);
struct dh_caper_act *dh_caper_act_add(struct dh_caper *c, unsigned entry, LLVMValueRef at);
/* The value is passed to other code: it escapes. */
void dh_caper_publish(struct dh_caper *c, LLVMValueRef at, LLVMValueRef value);
void dh_caper_copy(struct dh_caper *c, LLVMValueRef at, LLVMValueRef dst, LLVMValueRef src, LLVMValueRef n);
/* The contents of src are copied to where others can reach them; n: NULL for a constant length. */
void dh_caper_contents(struct dh_caper *c, LLVMValueRef at, LLVMValueRef src, LLVMValueRef n, u64 constant);
/* Pieces of words in a value that is passed to a function, or returned. */
void dh_caper_give_pieces(struct dh_caper *c, LLVMValueRef value, bool moved);
void dh_caper_plan_access(struct dh_caper *c, LLVMValueRef inst);

/* ---- call.c, library.c: calls ---- */

void dh_caper_plan_call(struct dh_caper *c, LLVMValueRef call);
/* Whether an intrinsic that is a machine instruction reads memory. */
bool dh_caper_reads_memory(LLVMValueRef callee);
/* Where an exception is caught, the calls that it left have ended. */
void dh_caper_plan_catch(struct dh_caper *c, LLVMValueRef pad);
/* A function of the C or C++ library described in library.def. false: it is not. */
bool dh_caper_plan_library(struct dh_caper *c, LLVMValueRef call, const char *name);
/* Whether the argument says how long something is. */
bool dh_caper_is_length(const char *effects, int arg);
/* Allocation, wherever it is defined; the function itself must still be handled like any other. */
void dh_caper_plan_allocation(struct dh_caper *c, LLVMValueRef call, const char *name);
void dh_caper_plan_returns(struct dh_caper *c, LLVMValueRef fn);
/* Whether what is in this memory has certainly escaped. A local whose address only an allocation function was
 * given (posix_memalign) counts as known elsewhere because of that, but holds a block that is private. */
bool dh_caper_holds_escaped(struct dh_caper *c, LLVMValueRef ptr);

/* ---- emit.c ---- */

/* Links escape.bc. false: an error was emitted. */
bool dh_caper_emit_begin(struct dh_caper *c);
void dh_caper_emit(struct dh_caper *c);
LLVMValueRef dh_caper_emit_call(struct dh_caper *c, enum dh_caper_entry e, LLVMValueRef *args);

/* ---- question.c ---- */

void dh_caper_questions_plan(struct dh_caper *c, LLVMValueRef fn);
void dh_caper_questions_insert(struct dh_caper *c);

/* ---- alias.c: alias builds (base/alias.h) ---- */

struct dh_caper_alias;
struct dh_caper_alias *dh_caper_alias_new(struct dh_caper *c);
void dh_caper_alias_plan(struct dh_caper_alias *a, LLVMValueRef fn);
/* And frees it. */
void dh_caper_alias_insert(struct dh_caper_alias *a);

#endif
