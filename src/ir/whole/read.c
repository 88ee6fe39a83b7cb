/*
 * read.c - walks over the module once: functions, blocks, sites.
 *
 * Functions are numbered in the order of the module, so every number that follows from them is the same in
 * every run. Only values that may hold the bits of a pointer get a local: pointers, integers of 64 bits and
 * more, and whatever contains them.
 */
#include "ir/whole/read.h"

#include <llvm-c/Target.h>
#include <stdlib.h>
#include <string.h>

#include "ir/whole/library.h"
#include "ir/whole/shim_whole.h"

static bool has(LLVMTypeRef type, bool integers)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        return true;
    case LLVMIntegerTypeKind:
        return integers && LLVMGetIntTypeWidth(type) >= 64;
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        return has(LLVMGetElementType(type), integers);
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            if (has(LLVMStructGetTypeAtIndex(type, i), integers))
                return true;
        return false;
    default:
        return false;
    }
}

bool dh_w_carries(LLVMTypeRef type)
{
    return has(type, true);
}

bool dh_w_holds_pointers(LLVMTypeRef type)
{
    return has(type, false);
}

u32 dh_w_size(struct dh_w *w, LLVMTypeRef type)
{
    if (!LLVMTypeIsSized(type))
        return DH_PTS_ANY;
    u64 size = LLVMStoreSizeOfType(w->layout, type);
    return size >= DH_PTS_ANY ? DH_PTS_ANY : (u32)size;
}

dh_w_value dh_w_fresh(struct dh_w_reader *r)
{
    struct dh_w_fn *fn = r->fn;
    fn->def = dh_util_grow(fn->def, fn->locals, &r->cap_def, sizeof *fn->def);
    fn->def[fn->locals] = DH_W_NONE;
    return fn->locals++;
}

static dh_w_value local(struct dh_w_reader *r, LLVMValueRef v)
{
    struct dh_w_key key = DH_W_KEY((u64)(uptr)v);
    u32 found = dh_w_table_get(&r->locals, key);
    if (found != DH_W_TABLE_NONE)
        return found;
    dh_w_value l = dh_w_fresh(r);
    dh_w_table_put(&r->locals, key, l);
    return l;
}

dh_w_value dh_w_operand(struct dh_w_reader *r, LLVMValueRef v)
{
    if (!dh_w_carries(LLVMTypeOf(v)))
        return DH_W_NONE;
    if (LLVMIsConstant(v))
        return dh_w_constant(r->w, v);
    return local(r, v);
}

dh_w_value dh_w_result(struct dh_w_reader *r, LLVMValueRef v)
{
    return dh_w_carries(LLVMTypeOf(v)) ? local(r, v) : DH_W_NONE;
}

struct dh_w_op *dh_w_op_add(struct dh_w_reader *r, enum dh_w_kind kind, LLVMValueRef inst)
{
    struct dh_w_fn *fn = r->fn;
    fn->ops = dh_util_grow(fn->ops, fn->n_ops, &fn->cap_ops, sizeof *fn->ops);
    struct dh_w_op *op = &fn->ops[fn->n_ops++];
    *op = (struct dh_w_op){.kind = (u8)kind,
                           .access = DH_W_NO_ACCESS,
                           .access_b = DH_W_NO_ACCESS,
                           .dst = DH_W_NONE,
                           .a = DH_W_NONE,
                           .b = DH_W_NONE,
                           .length = DH_PTS_ANY,
                           .call = DH_W_NONE,
                           .site = DH_W_NONE,
                           .inst = inst};
    return op;
}

void dh_w_op_copy(struct dh_w_reader *r, LLVMValueRef inst, dh_w_value dst, dh_w_value a)
{
    if (dst == DH_W_NONE || a == DH_W_NONE)
        return;
    struct dh_w_op *op = dh_w_op_add(r, DH_W_COPY, inst);
    op->dst = dst;
    op->a = a;
}

void dh_w_op_site(struct dh_w_reader *r, struct dh_w_op *op, u8 access, u32 length)
{
    struct dh_w *w = r->w;
    op->access = access;
    op->length = length;
    op->site = (u32)w->n_sites;
    for (int i = 0; i < (op->kind == DH_W_MEMCPY ? 2 : 1); i++) {
        w->sites = dh_util_grow(w->sites, w->n_sites, &w->cap_sites, sizeof *w->sites);
        w->site_ops = dh_util_grow(w->site_ops, w->n_sites, &w->cap_site_ops, sizeof *w->site_ops);
        w->sites[w->n_sites] = (u32)(r->fn - w->fns);
        w->site_ops[w->n_sites++] = (u32)(op - r->fn->ops);
    }
}

/* ---- blocks ---- */

/* The branch of the block tests a trylock: which way is success? */
static void read_try(struct dh_w_reader *r, struct dh_w_block *b, LLVMValueRef branch)
{
    LLVMValueRef cmp = LLVMGetCondition(branch);
    bool direct = LLVMIsACallInst(cmp) != NULL;
    if (!direct && (LLVMIsAICmpInst(cmp) == NULL || LLVMIsAConstantInt(LLVMGetOperand(cmp, 1)) == NULL ||
                    LLVMConstIntGetZExtValue(LLVMGetOperand(cmp, 1)) != 0))
        return;
    LLVMValueRef call = direct ? cmp : LLVMGetOperand(cmp, 0);
    u32 op = dh_w_table_get(&r->tries, DH_W_KEY((u64)(uptr)call));
    if (op == DH_W_TABLE_NONE)
        return;
    LLVMIntPredicate p = direct ? LLVMIntNE : LLVMGetICmpPredicate(cmp);
    if (p != LLVMIntEQ && p != LLVMIntNE)
        return;
    /* Success is 0, but for the guards of C++ statics: they are set once the variable is initialised, and to
     * acquire one returns 1 to whoever is to initialise. */
    size_t len;
    bool success_is_zero =
        LLVMIsALoadInst(call) == NULL &&
        strcmp(LLVMGetValueName2(LLVMGetCalledValue(call), &len), "__cxa_guard_acquire") != 0;
    b->tried = op;
    b->success = (p == LLVMIntEQ) == success_is_zero ? 0 : 1;
}

/* The same for a switch: 0 is success. Its operands are the value, the default, then constants with their
 * blocks. */
static void read_try_switch(struct dh_w_reader *r, struct dh_w_block *b, LLVMValueRef end)
{
    LLVMValueRef call = LLVMGetOperand(end, 0);
    u32 op = dh_w_table_get(&r->tries, DH_W_KEY((u64)(uptr)call));
    if (op == DH_W_TABLE_NONE)
        return;
    for (u32 i = 1; i < b->succs; i++)
        if (LLVMConstIntGetZExtValue(LLVMGetOperand(end, 2 * i)) == 0) {
            b->tried = op;
            b->success = i;
        }
}

static void read_end(struct dh_w_reader *r, struct dh_w_block *b, LLVMValueRef end)
{
    struct dh_w_fn *fn = r->fn;
    b->succ = (u32)fn->n_succ;
    unsigned n = LLVMGetNumSuccessors(end);
    for (unsigned i = 0; i < n; i++) {
        fn->succ = dh_util_grow(fn->succ, fn->n_succ, &fn->cap_succ, sizeof *fn->succ);
        fn->succ[fn->n_succ++] = dh_w_table_get(&r->blocks, DH_W_KEY((u64)(uptr)LLVMGetSuccessor(end, i)));
    }
    b->succs = n;
    LLVMOpcode op = LLVMGetInstructionOpcode(end);
    b->unwind = op == LLVMInvoke ? 1 : DH_W_NONE;
    b->returns = op == LLVMRet; /* to go on with an exception is no return */
    if (op == LLVMRet && fn->ret != DH_W_NONE && LLVMGetNumOperands(end) == 1)
        dh_w_op_copy(r, end, fn->ret, dh_w_operand(r, LLVMGetOperand(end, 0)));
    if (op == LLVMBr && LLVMIsConditional(end))
        read_try(r, b, end);
    if (op == LLVMSwitch)
        read_try_switch(r, b, end);
}

static void read_block(struct dh_w_reader *r, LLVMBasicBlockRef bb)
{
    struct dh_w_fn *fn = r->fn;
    struct dh_w_block b = {
        .value = bb, .first = (u32)fn->n_ops, .tried = DH_W_NONE, .loop = DH_W_NONE, .unwind = DH_W_NONE};
    dh_w_table_done(&r->elements);
    for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i != NULL; i = LLVMGetNextInstruction(i))
        dh_w_read_inst(r, i);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(bb);
    if (end != NULL)
        read_end(r, &b, end);
    b.end = (u32)fn->n_ops;
    fn->blocks = dh_util_grow(fn->blocks, fn->n_blocks, &fn->cap_blocks, sizeof *fn->blocks);
    fn->blocks[fn->n_blocks++] = b;
}

/* ---- loops ---- */

static void on_loop(void *arg, unsigned parent)
{
    struct dh_w_fn *fn = arg;
    fn->loops = dh_util_grow(fn->loops, fn->n_loops, &fn->cap_loops, sizeof *fn->loops);
    fn->loops[fn->n_loops++] = (struct dh_w_loop){.parent = parent, .waits = true};
}

static void on_block(void *arg, unsigned block, unsigned loop)
{
    struct dh_w_fn *fn = arg;
    fn->blocks[block].loop = loop;
}

static bool only_waits(const struct dh_w_op *op)
{
    switch (op->kind) {
    case DH_W_COPY:
    case DH_W_OFFSET:
    case DH_W_ELEMENT:
    case DH_W_LOAD:
        return true;
    case DH_W_STORE:
        /* Unoptimised code keeps its locals in memory. */
        return op->a < DH_W_CONSTANT && LLVMIsAAllocaInst(LLVMGetOperand(op->inst, 1)) != NULL;
    default:
        return false;
    }
}

static bool is_in_loop(const struct dh_w_reader *r, LLVMValueRef inst, u32 loop)
{
    u32 b = dh_w_table_get(&r->blocks, DH_W_KEY((u64)(uptr)LLVMGetInstructionParent(inst)));
    u32 l = r->fn->blocks[b].loop;
    while (l != DH_W_NONE && l != loop)
        l = r->fn->loops[l].parent;
    return l != DH_W_NONE;
}

/* The address is the same each time round. */
static bool stays(const struct dh_w_reader *r, LLVMValueRef v, u32 loop, int depth)
{
    if (LLVMIsAInstruction(v) == NULL)
        return true;
    u32 b = dh_w_table_get(&r->blocks, DH_W_KEY((u64)(uptr)LLVMGetInstructionParent(v)));
    if (r->fn->blocks[b].loop != loop)
        return true;
    return depth > 0 && LLVMGetInstructionOpcode(v) == LLVMGetElementPtr && LLVMGetNumOperands(v) == 2 &&
           LLVMIsConstant(LLVMGetOperand(v, 1)) && stays(r, LLVMGetOperand(v, 0), loop, depth - 1);
}

/* Marks the loads that decide whether the loop is left. */
static void mark_condition(struct dh_w_reader *r, LLVMValueRef v, const struct dh_w_block *b, int depth)
{
    if (depth == 0 || LLVMIsAInstruction(v) == NULL || !is_in_loop(r, v, b->loop))
        return;
    if (LLVMIsALoadInst(v) != NULL && stays(r, LLVMGetOperand(v, 0), b->loop, 4)) {
        for (size_t o = 0; o < r->fn->n_ops; o++)
            if (r->fn->ops[o].inst == v)
                r->fn->ops[o].flags |= DH_W_SPINS;
        return;
    }
    if (LLVMIsAPHINode(v) != NULL || LLVMIsALoadInst(v) != NULL)
        return;
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
        mark_condition(r, LLVMGetOperand(v, (unsigned)i), b, depth - 1);
}

/* Loops that do nothing but look at one place in memory until it changes. */
static void find_waiting_loops(struct dh_w_reader *r)
{
    struct dh_w_fn *fn = r->fn;
    dh_shim_each_loop(fn->value, on_loop, on_block, fn);
    if (fn->n_loops == 0)
        return;
    for (size_t i = 0; i < fn->n_blocks; i++) {
        struct dh_w_block *b = &fn->blocks[i];
        bool waits = true;
        for (u32 o = b->first; o < b->end && waits && b->loop != DH_W_NONE; o++)
            waits = only_waits(&fn->ops[o]);
        for (u32 l = b->loop; l != DH_W_NONE && !waits; l = fn->loops[l].parent)
            fn->loops[l].waits = false;
    }
    LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn->value);
    for (size_t i = 0; i < fn->n_blocks; i++, bb = LLVMGetNextBasicBlock(bb)) {
        const struct dh_w_block *b = &fn->blocks[i];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(bb);
        if (b->loop != DH_W_NONE && fn->loops[b->loop].waits && LLVMIsABranchInst(end) != NULL &&
            LLVMIsConditional(end))
            mark_condition(r, LLVMGetCondition(end), b, 6);
    }
}

/* ---- functions ---- */

static bool makes_pointers(LLVMValueRef fn)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb != NULL; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i != NULL; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMIntToPtr)
                return true;
    return false;
}

static void set_definitions(struct dh_w_fn *fn)
{
    for (u32 i = 0; i < fn->n_ops; i++) {
        dh_w_value d = fn->ops[i].dst;
        if (d == DH_W_NONE)
            continue;
        DH_CHECK(d < fn->locals);
        fn->def[d] = fn->def[d] == DH_W_NONE ? i : DH_W_MANY;
    }
}

static void read_function(struct dh_w *w, struct dh_w_fn *fn)
{
    struct dh_w_reader r = {.w = w, .fn = fn, .makes_pointers = makes_pointers(fn->value)};
    LLVMTypeRef type = LLVMGlobalGetValueType(fn->value);
    fn->args = LLVMCountParams(fn->value);
    for (u32 i = 0; i < fn->args; i++)
        local(&r, LLVMGetParam(fn->value, i));
    fn->ret = dh_w_carries(LLVMGetReturnType(type)) ? dh_w_fresh(&r) : DH_W_NONE;
    fn->var = LLVMIsFunctionVarArg(type) ? dh_w_fresh(&r) : DH_W_NONE;
    u32 n = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn->value); bb != NULL; bb = LLVMGetNextBasicBlock(bb))
        dh_w_table_put(&r.blocks, DH_W_KEY((u64)(uptr)bb), n++);
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn->value); bb != NULL; bb = LLVMGetNextBasicBlock(bb))
        read_block(&r, bb);
    find_waiting_loops(&r);
    set_definitions(fn);
    dh_w_table_done(&r.locals);
    dh_w_table_done(&r.blocks);
    dh_w_table_done(&r.tries);
    dh_w_table_done(&r.elements);
}

static void add_function(struct dh_w *w, LLVMValueRef f)
{
    size_t len;
    w->fns = dh_util_grow(w->fns, w->n_fns, &w->cap_fns, sizeof *w->fns);
    struct dh_w_fn *fn = &w->fns[w->n_fns];
    *fn =
        (struct dh_w_fn){.value = f, .name = LLVMGetValueName2(f, &len), .ret = DH_W_NONE, .var = DH_W_NONE};
    fn->defined = !LLVMIsDeclaration(f);
    fn->object = dh_w_object_add(
        w,
        (struct dh_w_object){
            .kind = DH_W_CODE, .number = (u32)w->n_fns, .inst = DH_W_NONE, .root = DH_W_NONE, .value = f},
        1, DH_PTS_FUNCTION);
    dh_w_table_put(&w->fn_of, DH_W_KEY((u64)(uptr)f), (u32)w->n_fns);
    if (fn->defined && strcmp(fn->name, "main") == 0)
        w->main_fn = (u32)w->n_fns;
    w->n_fns++;
}

void dh_w_read(struct dh_w *w)
{
    w->main_fn = DH_W_NONE;
    for (LLVMValueRef f = LLVMGetFirstFunction(w->module); f != NULL; f = LLVMGetNextFunction(f))
        add_function(w, f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(w->module); g != NULL; g = LLVMGetNextGlobal(g))
        dh_w_global(w, g);
    for (size_t i = 0; i < w->n_fns; i++)
        if (w->fns[i].defined)
            read_function(w, &w->fns[i]);
}
