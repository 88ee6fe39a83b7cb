/*
 * alias.c - alias builds (base/alias.h): each access that is in a pair reports its address, before the
 * instruction, and memory that is reused loses its history.
 *
 * library.def defines what a library function accesses, by kind: a site that reads covers the arguments that
 * are read. If only the library knows the length (a string), the first byte is used; memory reached through
 * pointers in memory is not considered.
 *
 * Memory starts afresh when it is allocated or mapped; local variables whose address is known elsewhere do so
 * when their function or scope is entered.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alias.h"
#include "ir/caper/caper.h"
#include "ir/whole/library.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

enum entry { ACCESS, FREE, NEW, ENTRIES };
static const char *const names[ENTRIES] = {"__dh_alias_access", "__dh_alias_free", "__dh_alias_new"};

/* A call that is to be inserted. */
struct act {
    enum entry entry;
    LLVMValueRef at;
    bool after;     /* behind it */
    bool loaded;    /* NEW: p points to the pointer; `at` returns 0, or no negative number, if there is one */
    LLVMValueRef p; /* where */
    LLVMValueRef n, times; /* how many bytes, and how often; NULL: `constant`, once */
    u64 constant;
    u32 site;
};

struct dh_caper_alias {
    struct dh_caper *c;
    struct act *acts;
    size_t n, cap;
};

static struct act *add(struct dh_caper_alias *a, enum entry entry, LLVMValueRef at, LLVMValueRef p)
{
    a->acts = dh_util_grow(a->acts, a->n, &a->cap, sizeof(*a->acts));
    struct act *act = &a->acts[a->n++];
    *act = (struct act){.entry = entry, .at = at, .p = p};
    return act;
}

static bool is_pointer(LLVMValueRef v)
{
    return v && LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == 0;
}

static LLVMValueRef argument(LLVMValueRef call, int i)
{
    return i >= 0 && i < (int)LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, (unsigned)i) : NULL;
}

/* ---- the sites of an instruction ---- */

/* What is being told of: an instruction, and one part of the memory that it accesses. */
struct part {
    struct dh_caper_alias *a;
    LLVMValueRef inst, p, n, times;
    u64 constant;
    unsigned which; /* DH_WHOLE_... */
    int access;     /* only sites that do this: enum dh_pairs_access; -1: any */
};

static void on_site(void *arg, unsigned which, u8 access, u32 site)
{
    const struct part *part = arg;
    if (!(which & part->which) || (part->access >= 0 && part->access != access))
        return;
    bool block = part->access == DH_PAIRS_FREE && !part->n && part->constant == 0;
    struct act *act = add(part->a, block ? FREE : ACCESS, part->inst, part->p);
    act->n = part->n;
    act->times = part->times;
    act->constant = part->constant;
    act->site = site;
}

static void tell(const struct part *part)
{
    if (is_pointer(part->p))
        dh_caper_sites_each(part->a->c, part->inst, on_site, (void *)part);
}

static void plan_access(struct dh_caper_alias *a, LLVMValueRef inst, LLVMValueRef p, LLVMTypeRef type)
{
    const struct part part = {.a = a,
                              .inst = inst,
                              .p = p,
                              .constant = LLVMStoreSizeOfType(a->c->ir->layout, type),
                              .which = DH_WHOLE_TO | DH_WHOLE_FROM,
                              .access = -1};
    tell(&part);
}

/* ---- calls ---- */

/* The functions that end a block of the heap, and no more than that. */
static bool ends_block(const char *function)
{
    static const char *const all[] = {"free", "cfree", "realloc", "reallocarray"};
    for (size_t i = 0; i < DH_ARRAY_LEN(all); i++)
        if (strcmp(function, all[i]) == 0)
            return true;
    return strncmp(function, "_Zdl", 4) == 0 || strncmp(function, "_Zda", 4) == 0;
}

/* Those that return a block of the heap, and do not say how long it is. */
static bool makes_block(const char *function)
{
    static const char *const all[] = {"strdup",    "__strdup",       "strndup",        "asprintf",
                                      "vasprintf", "__asprintf_chk", "__vasprintf_chk"};
    for (size_t i = 0; i < DH_ARRAY_LEN(all); i++)
        if (strcmp(function, all[i]) == 0)
            return true;
    return false;
}

static bool is_mapping(const char *function)
{
    return strcmp(function, "mmap") == 0 || strcmp(function, "mmap64") == 0 ||
           strcmp(function, "munmap") == 0;
}

static void touch(struct part part, int arg, enum dh_pairs_access access, u64 length)
{
    part.p = argument(part.inst, arg);
    part.access = (int)access;
    part.constant = length;
    tell(&part);
}

static void touch_rest(struct part part, int from, enum dh_pairs_access access)
{
    for (int i = from; i < (int)LLVMGetNumArgOperands(part.inst); i++)
        touch(part, i, access, part.n ? 0 : part.constant);
}

static void copy(struct part part, const struct dh_w_effect *e)
{
    part.which = DH_WHOLE_TO;
    touch(part, e->n, DH_PAIRS_WRITE, part.constant);
    part.which = DH_WHOLE_FROM;
    touch(part, e->m, DH_PAIRS_READ, part.constant);
}

/* What one effect of a library function accesses. */
static void plan_effect(struct dh_caper_alias *a, LLVMValueRef call, const char *function,
                        const struct dh_w_effect *e)
{
    struct part part = {.a = a, .inst = call, .which = DH_WHOLE_TO | DH_WHOLE_FROM};
    part.n = argument(call, e->length_arg);
    part.constant = e->length ? e->length : 1;
    enum { HANDLE = 8 };
    switch (e->kind) {
    case DH_W_EFFECT_READ:
    case DH_W_EFFECT_WRITE:
        if (e->n_deref > 0 || e->list)
            break;
        touch(part, e->n, e->kind == DH_W_EFFECT_READ ? DH_PAIRS_READ : DH_PAIRS_WRITE, part.constant);
        if (e->rest)
            touch_rest(part, e->n + 1, e->kind == DH_W_EFFECT_READ ? DH_PAIRS_READ : DH_PAIRS_WRITE);
        break;
    case DH_W_EFFECT_COPY:
        copy(part, e);
        break;
    case DH_W_EFFECT_SCAN:
        touch_rest(part, e->m, DH_PAIRS_WRITE);
        break;
    case DH_W_EFFECT_FREE:
        if (is_mapping(function))
            part.n = argument(call, 1);
        touch(part, e->n, DH_PAIRS_FREE, ends_block(function) ? 0 : 1);
        break;
    case DH_W_EFFECT_NEW_AT:
    case DH_W_EFFECT_FORK:
        part.n = NULL;
        touch(part, e->n, DH_PAIRS_WRITE, HANDLE);
        break;
    case DH_W_EFFECT_JOIN:
    case DH_W_EFFECT_RESULT:
        touch(part, e->m, DH_PAIRS_WRITE, HANDLE);
        break;
    case DH_W_EFFECT_LOCK:
    case DH_W_EFFECT_UNLOCK:
    case DH_W_EFFECT_WAIT:
    case DH_W_EFFECT_BARRIER:
    case DH_W_EFFECT_ONCE:
        touch(part, e->n, DH_PAIRS_READ, 1);
        break;
    default:
        break;
    }
}

static void plan_new(struct dh_caper_alias *a, LLVMValueRef call, const char *function,
                     const struct dh_w_effect *e)
{
    LLVMValueRef n = e->kind == DH_W_EFFECT_MAP ? argument(call, 1) : argument(call, e->length_arg);
    LLVMValueRef p = e->kind == DH_W_EFFECT_NEW_AT ? argument(call, e->n) : call;
    if ((e->kind != DH_W_EFFECT_NEW && e->kind != DH_W_EFFECT_NEW_AT && e->kind != DH_W_EFFECT_MAP) ||
        (!n && !makes_block(function)) || !is_pointer(p))
        return;
    struct act *act = add(a, NEW, call, p);
    act->after = true;
    act->loaded = e->kind == DH_W_EFFECT_NEW_AT;
    act->n = n;
    act->times = argument(call, e->count_arg);
}

static void plan_library(struct dh_caper_alias *a, LLVMValueRef call, const char *function)
{
    const char *effects = dh_w_library(function);
    struct dh_w_effect e;
    while (effects && dh_w_effect_next(&effects, &e)) {
        plan_effect(a, call, function, &e);
        plan_new(a, call, function, &e);
    }
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void plan_intrinsic(struct dh_caper_alias *a, LLVMValueRef call, const char *name)
{
    struct part part = {.a = a, .inst = call, .which = DH_WHOLE_TO, .access = -1};
    bool copies = begins_with(name, "llvm.memcpy.") || begins_with(name, "llvm.memmove.");
    if (copies || begins_with(name, "llvm.memset.")) {
        part.n = argument(call, 2);
        part.p = argument(call, 0);
        tell(&part);
        part.which = DH_WHOLE_FROM;
        part.p = argument(call, 1);
        if (copies)
            tell(&part);
    } else if (begins_with(name, "llvm.lifetime.start.")) {
        LLVMValueRef p = argument(call, 1);
        if (LLVMIsAAllocaInst(p) && dh_caper_place_of(a->c, p) != DH_CAPER_PRIVATE) {
            struct act *act = add(a, NEW, call, p);
            act->after = true;
            act->n = argument(call, 0);
        }
    }
}

static void plan_call(struct dh_caper_alias *a, LLVMValueRef call)
{
    size_t len;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    while (LLVMIsAGlobalAlias(callee))
        callee = LLVMAliasGetAliasee(callee);
    if (!LLVMIsAFunction(callee))
        return;
    const char *name = LLVMGetValueName2(callee, &len);
    if (LLVMGetIntrinsicID(callee) != 0)
        plan_intrinsic(a, call, name);
    else
        plan_library(a, call, name);
}

/* ---- local variables ---- */

static void plan_variable(struct dh_caper_alias *a, LLVMValueRef variable)
{
    if (dh_caper_place_of(a->c, variable) == DH_CAPER_PRIVATE)
        return;
    LLVMValueRef count = LLVMGetOperand(variable, 0);
    struct act *act = add(a, NEW, variable, variable);
    act->after = true;
    act->constant = LLVMABISizeOfType(a->c->ir->layout, LLVMGetAllocatedType(variable));
    if (LLVMIsAConstantInt(count)) {
        act->constant *= LLVMConstIntGetZExtValue(count);
    } else {
        act->n = dh_ir_emit_u64(a->c->ir, act->constant);
        act->times = count;
    }
}

static void plan(struct dh_caper_alias *a, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        plan_access(a, i, LLVMGetOperand(i, 0), LLVMTypeOf(i));
        break;
    case LLVMStore:
        plan_access(a, i, LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0)));
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        plan_access(a, i, LLVMGetOperand(i, 0), LLVMTypeOf(LLVMGetOperand(i, 1)));
        break;
    case LLVMAlloca:
        plan_variable(a, i);
        break;
    case LLVMCall:
    case LLVMInvoke:
        plan_call(a, i);
        break;
    default:
        break;
    }
}

void dh_caper_alias_plan(struct dh_caper_alias *a, LLVMValueRef fn)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            plan(a, i);
}

struct dh_caper_alias *dh_caper_alias_new(struct dh_caper *c)
{
    struct dh_caper_alias *a = dh_util_alloc(sizeof(*a));
    *a = (struct dh_caper_alias){.c = c};
    return a;
}

/* ---- in the code ---- */

/* Allocas of the first block stay together: whatever is told of them comes behind the last. */
static LLVMValueRef place_of(const struct act *act)
{
    LLVMValueRef at = act->at;
    if (!act->after)
        return at;
    if (LLVMIsAInvokeInst(at))
        return dh_shim_normal_way(at);
    if (LLVMIsACallInst(at) && LLVMGetTailCallKind(at) == LLVMTailCallKindMustTail)
        return NULL; /* the function returns it: who calls it asks no more */
    for (at = LLVMGetNextInstruction(at); LLVMIsAAllocaInst(at);)
        at = LLVMGetNextInstruction(at);
    return at;
}

static LLVMValueRef length_of(struct dh_ir *ir, const struct act *act)
{
    if (!act->n)
        return dh_ir_emit_u64(ir, act->constant);
    LLVMValueRef n = LLVMBuildIntCast2(ir->builder, act->n, ir->u64, false, "");
    return act->times ? LLVMBuildMul(ir->builder, n,
                                     LLVMBuildIntCast2(ir->builder, act->times, ir->u64, false, ""), "")
                      : n;
}

/* posix_memalign returns 0 if it has stored a pointer; asprintf a number that is not negative. */
static LLVMValueRef loaded(struct dh_ir *ir, const struct act *act, LLVMValueRef place)
{
    LLVMValueRef none = LLVMConstNull(LLVMTypeOf(act->at));
    LLVMValueRef ok = LLVMBuildICmp(ir->builder, act->n ? LLVMIntEQ : LLVMIntSGE, act->at, none, "");
    LLVMPositionBuilderBefore(ir->builder, dh_shim_split_if(ok, place, false));
    return LLVMBuildLoad2(ir->builder, ir->ptr, act->p, "");
}

static void insert(struct dh_ir *ir, const struct act *act, const LLVMTypeRef *types, const LLVMValueRef *fns)
{
    LLVMValueRef place = place_of(act), args[3];
    unsigned n = 0;
    if (!place)
        return;
    LLVMPositionBuilderBefore(ir->builder, place);
    dh_ir_emit_position_of(ir, act->at);
    args[n++] = act->loaded ? loaded(ir, act, place) : act->p;
    if (act->entry != FREE)
        args[n++] = length_of(ir, act);
    if (act->entry != NEW)
        args[n++] = dh_ir_emit_u32(ir, act->site);
    LLVMBuildCall2(ir->builder, types[act->entry], fns[act->entry], args, n, "");
}

void dh_caper_alias_insert(struct dh_caper_alias *a)
{
    struct dh_ir *ir = a->c->ir;
    LLVMTypeRef access[] = {ir->ptr, ir->u64, ir->u32}, end[] = {ir->ptr, ir->u32}, types[ENTRIES];
    LLVMValueRef fns[ENTRIES];
    const struct dh_alias_head head = {.version = DH_ALIAS_VERSION};
    types[ACCESS] = LLVMFunctionType(ir->none, access, 3, false);
    types[FREE] = LLVMFunctionType(ir->none, end, 2, false);
    types[NEW] = LLVMFunctionType(ir->none, access, 2, false);
    for (int i = 0; i < ENTRIES; i++)
        fns[i] = LLVMAddFunction(ir->module, names[i], types[i]);
    for (size_t i = 0; i < a->n; i++)
        insert(ir, &a->acts[i], types, fns);
    dh_ir_embed_bytes(ir->module, DH_ALIAS_HEAD, &head, sizeof(head));
    free(a->acts);
    free(a);
}
