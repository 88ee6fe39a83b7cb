/*
 * emit.c - inserts what was planned.
 *
 * The functions that are inlined come from escape.bc; the slow ones are in libdeadheat-caper.a, which is part
 * of the program. A stored value is split into 64-bit words, each with its destination address.
 */
#include <string.h>

#include "ir/caper/caper.h"

static const char *const names[] = {
#define DH_CAPER_ENTRY(id, name, signature) name,
#include "ir/caper/entries.def"
#undef DH_CAPER_ENTRY
};

static const char *const signatures[] = {
#define DH_CAPER_ENTRY(id, name, signature) signature,
#include "ir/caper/entries.def"
#undef DH_CAPER_ENTRY
};

static LLVMTypeRef type_of_letter(const struct dh_ir *ir, char letter)
{
    return letter == 'p' ? ir->ptr : letter == 'u' ? ir->u32 : letter == 'U' ? ir->u64 : ir->none;
}

bool dh_caper_emit_begin(struct dh_caper *c)
{
    if (!dh_ir_link_bitcode(c->ir, "escape.bc"))
        return false;
    for (int e = 0; e < DH_CAPER_ENTRIES; e++) {
        LLVMTypeRef params[4];
        unsigned n = (unsigned)strlen(signatures[e]) - 1;
        for (unsigned i = 0; i < n; i++)
            params[i] = type_of_letter(c->ir, signatures[e][i + 1]);
        c->entry_type[e] = LLVMFunctionType(type_of_letter(c->ir, signatures[e][0]), params, n, false);
        c->entry[e] = LLVMGetNamedFunction(c->ir->module, names[e]);
        if (!c->entry[e])
            c->entry[e] = LLVMAddFunction(c->ir->module, names[e], c->entry_type[e]);
    }
    dh_ir_link_adopt(c->ir, true);
    return true;
}

LLVMValueRef dh_caper_emit_call(struct dh_caper *c, enum dh_caper_entry e, LLVMValueRef *args)
{
    return LLVMBuildCall2(c->ir->builder, c->entry_type[e], c->entry[e], args,
                          (unsigned)strlen(signatures[e]) - 1, "");
}

/* ---- words ---- */

struct words {
    struct dh_caper *c;
    const struct dh_caper_act *act;
};

static void on_word_by(const struct words *w, enum dh_caper_entry entry, LLVMValueRef word, u64 offset)
{
    struct dh_caper *c = w->c;
    if (LLVMIsConstant(word))
        return;
    if (entry == DH_CAPER_STORE || entry == DH_CAPER_STORE_BITS) {
        LLVMValueRef args[] = {dh_ir_emit_shifted(c->ir, w->act->a, (long long)offset), word};
        dh_caper_emit_call(c, entry, args);
    } else {
        dh_caper_emit_call(c, entry, &word);
    }
}

static void on_word(const struct words *w, LLVMValueRef word, u64 offset)
{
    on_word_by(w, w->act->entry, word, offset);
}

/* Of a type that is not a pointer's: as a rule it is a number. */
static void on_bits(const struct words *w, LLVMValueRef word, u64 offset)
{
    enum dh_caper_entry e = w->act->entry;
    on_word_by(w,
               e == DH_CAPER_STORE     ? DH_CAPER_STORE_BITS
               : e == DH_CAPER_PUBLISH ? DH_CAPER_BITS
                                       : e,
               word, offset);
}

static void integer_words(const struct words *w, LLVMValueRef v, u64 offset)
{
    LLVMBuilderRef b = w->c->ir->builder;
    LLVMTypeRef type = LLVMTypeOf(v), word = w->c->ir->u64;
    unsigned bits = LLVMGetIntTypeWidth(type);
    if (bits < 48)
        return;
    if (bits <= 64) {
        on_bits(w, bits == 64 ? v : LLVMBuildZExt(b, v, word, ""), offset);
        return;
    }
    for (unsigned at = 0; at + 48 <= bits; at += 64)
        on_bits(w, LLVMBuildTrunc(b, LLVMBuildLShr(b, v, LLVMConstInt(type, at, false), ""), word, ""),
                offset + at / 8);
}

static void words_of(const struct words *w, LLVMValueRef v, u64 offset);

static void vector_words(const struct words *w, LLVMValueRef v, u64 offset)
{
    struct dh_ir *ir = w->c->ir;
    LLVMTypeRef type = LLVMTypeOf(v), element = LLVMGetElementType(type);
    u64 size = LLVMStoreSizeOfType(ir->layout, type);
    if (LLVMGetTypeKind(element) == LLVMPointerTypeKind) {
        for (unsigned i = 0; i < LLVMGetVectorSize(type); i++)
            words_of(w, LLVMBuildExtractElement(ir->builder, v, dh_ir_emit_u32(ir, i), ""),
                     offset + 8ull * i);
        return;
    }
    if (size % 8 != 0)
        return; /* a vector of odd length is stored element by element, and so by pieces */
    LLVMValueRef all = LLVMBuildBitCast(ir->builder, v, LLVMVectorType(ir->u64, (unsigned)(size / 8)), "");
    for (unsigned i = 0; i < size / 8; i++)
        on_bits(w, LLVMBuildExtractElement(ir->builder, all, dh_ir_emit_u32(ir, i), ""), offset + 8ull * i);
}

static void words_of(const struct words *w, LLVMValueRef v, u64 offset)
{
    struct dh_ir *ir = w->c->ir;
    LLVMTypeRef type = LLVMTypeOf(v);
    u64 size;
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        on_word(w, LLVMBuildPtrToInt(ir->builder, v, ir->u64, ""), offset);
        break;
    case LLVMIntegerTypeKind:
        integer_words(w, v, offset);
        break;
    case LLVMDoubleTypeKind:
        on_bits(w, LLVMBuildBitCast(ir->builder, v, ir->u64, ""), offset);
        break;
    case LLVMX86_FP80TypeKind:
    case LLVMFP128TypeKind:
        size = LLVMSizeOfTypeInBits(ir->layout, type);
        integer_words(w, LLVMBuildBitCast(ir->builder, v, LLVMIntTypeInContext(ir->ctx, (unsigned)size), ""),
                      offset);
        break;
    case LLVMVectorTypeKind:
        vector_words(w, v, offset);
        break;
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
            words_of(w, LLVMBuildExtractValue(ir->builder, v, i, ""),
                     offset + LLVMOffsetOfElement(ir->layout, type, i));
        break;
    case LLVMArrayTypeKind:
        size = LLVMABISizeOfType(ir->layout, LLVMGetElementType(type));
        for (unsigned i = 0; i < LLVMGetArrayLength2(type); i++)
            words_of(w, LLVMBuildExtractValue(ir->builder, v, i, ""), offset + size * i);
        break;
    default:
        break;
    }
}

/* ---- one act ---- */

static LLVMValueRef as_u64(struct dh_caper *c, LLVMValueRef n)
{
    return LLVMBuildIntCast2(c->ir->builder, n, c->ir->u64, false, "");
}

static LLVMValueRef length_of(struct dh_caper *c, const struct dh_caper_act *act)
{
    LLVMValueRef n = act->n ? as_u64(c, act->n) : dh_ir_emit_u64(c->ir, act->constant);
    return act->times ? LLVMBuildMul(c->ir->builder, n, as_u64(c, act->times), "") : n;
}

/* Words do not cross pages, so all of it can be read where a byte can. */
static void emit_word(struct dh_caper *c, LLVMValueRef ptr)
{
    LLVMBuilderRef b = c->ir->builder;
    LLVMValueRef at =
        LLVMBuildAnd(b, LLVMBuildPtrToInt(b, ptr, c->ir->u64, ""), dh_ir_emit_u64(c->ir, ~7ull), "");
    LLVMValueRef word = LLVMBuildLoad2(b, c->ir->u64, LLVMBuildIntToPtr(b, at, c->ir->ptr, ""), "");
    dh_caper_emit_call(c, DH_CAPER_BITS, &word);
}

/* posix_memalign has stored the pointer if it returned 0; a pointer that it has not is not to be read. A
 * block that is stored where others can reach it, as only its shadow can tell, begins and escapes at once. */
static void emit_new_at(struct dh_caper *c, const struct dh_caper_act *act, LLVMValueRef place)
{
    struct dh_ir *ir = c->ir;
    LLVMValueRef ok = LLVMBuildICmp(ir->builder, LLVMIntEQ, act->at, LLVMConstNull(LLVMTypeOf(act->at)), "");
    LLVMValueRef inside = dh_shim_split_if(ok, place, false);
    LLVMPositionBuilderBefore(ir->builder, inside);
    LLVMValueRef p = LLVMBuildLoad2(ir->builder, ir->ptr, act->a, "");
    LLVMValueRef args[] = {p, length_of(c, act)};
    dh_caper_emit_call(c, DH_CAPER_NEW, args);
    if (act->b) {
        LLVMValueRef stored[] = {act->b, LLVMBuildPtrToInt(ir->builder, p, ir->u64, "")};
        dh_caper_emit_call(c, DH_CAPER_STORE, stored);
    }
}

static void position(struct dh_caper *c, LLVMValueRef place, LLVMValueRef at)
{
    LLVMPositionBuilderBefore(c->ir->builder, place);
    dh_ir_emit_position_of(c->ir, at);
}

/* All that a function calls has returned before it does, so the depth where an exception is caught is the one
 * that the function began with. */
static LLVMValueRef depth_at_entry(struct dh_caper *c, LLVMValueRef at)
{
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(at));
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(fn));
    if (c->depth && LLVMGetBasicBlockParent(LLVMGetInstructionParent(c->depth)) == fn)
        return c->depth;
    while (LLVMIsAAllocaInst(first))
        first = LLVMGetNextInstruction(first);
    position(c, first, at);
    c->depth = dh_caper_emit_call(c, DH_CAPER_DEPTH, NULL);
    return c->depth;
}

static void emit_act(struct dh_caper *c, const struct dh_caper_act *act, LLVMValueRef place)
{
    struct words w = {c, act};
    LLVMValueRef args[3];
    switch (act->entry) {
    case DH_CAPER_STORE:
        words_of(&w, act->b, 0);
        break;
    case DH_CAPER_PUBLISH:
    case DH_CAPER_BITS:
    case DH_CAPER_RETURN:
        words_of(&w, act->a, 0);
        break;
    case DH_CAPER_NEW:
        if (act->loaded) {
            emit_new_at(c, act, place);
            break;
        }
        /* fall through */
    case DH_CAPER_CONTENTS:
        args[0] = act->a;
        args[1] = length_of(c, act);
        dh_caper_emit_call(c, act->entry, args);
        break;
    case DH_CAPER_COPY:
        args[0] = act->a;
        args[1] = act->b;
        args[2] = length_of(c, act);
        dh_caper_emit_call(c, act->entry, args);
        break;
    case DH_CAPER_MOVED:
        args[0] = LLVMBuildPtrToInt(c->ir->builder, act->a, c->ir->u64, "");
        args[1] = LLVMBuildPtrToInt(c->ir->builder, act->b, c->ir->u64, "");
        dh_caper_emit_call(c, act->entry, args);
        break;
    case DH_CAPER_WORD:
        emit_word(c, act->a);
        break;
    case DH_CAPER_CAUGHT:
        args[0] = depth_at_entry(c, act->at);
        position(c, place, act->at);
        dh_caper_emit_call(c, act->entry, args);
        break;
    default:
        args[0] = act->a;
        dh_caper_emit_call(c, act->entry, args);
        break;
    }
}

/* ---- calls through pointers ---- */

static LLVMValueRef marker(struct dh_caper *c, const char *name)
{
    LLVMValueRef fn = LLVMAddFunction(c->ir->module, name, LLVMFunctionType(c->ir->none, NULL, 0, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(c->ir->builder, LLVMAppendBasicBlockInContext(c->ir->ctx, fn, ""));
    LLVMSetCurrentDebugLocation2(c->ir->builder, NULL);
    LLVMBuildRetVoid(c->ir->builder);
    return fn;
}

/* Code is generated in the order of the module's functions. */
static void add_text(struct dh_caper *c)
{
    bool needed = false;
    for (size_t i = 0; i < c->n_acts && !needed; i++)
        needed = c->acts[i].unless != NULL;
    if (!needed)
        return;
    c->text[0] = marker(c, "__dh_caper_text");
    c->text[1] = marker(c, "__dh_caper_text_end");
    dh_shim_move_to_front(c->text[0]);
}

static LLVMValueRef address_of(struct dh_caper *c, LLVMValueRef fn)
{
    return LLVMBuildPtrToInt(c->ir->builder, fn, c->ir->u64, "");
}

static LLVMValueRef is_outside(struct dh_caper *c, LLVMValueRef callee)
{
    LLVMBuilderRef b = c->ir->builder;
    LLVMValueRef first = address_of(c, c->text[0]), end = address_of(c, c->text[1]);
    return LLVMBuildICmp(b, LLVMIntUGE, LLVMBuildSub(b, address_of(c, callee), first, ""),
                         LLVMBuildSub(b, end, first, ""), "");
}

/* ---- all of them ---- */

/* Where something is to be inserted behind an instruction; of an invoke, where it goes on. */
static LLVMValueRef behind(LLVMValueRef inst)
{
    return LLVMIsAInvokeInst(inst) || LLVMIsACallBrInst(inst) ? dh_shim_normal_way(inst)
                                                              : LLVMGetNextInstruction(inst);
}

static LLVMValueRef place_of(const struct dh_caper_act *act)
{
    LLVMValueRef before = LLVMGetPreviousInstruction(act->at);
    bool must = LLVMIsACallInst(act->at) && LLVMGetTailCallKind(act->at) == LLVMTailCallKindMustTail;
    if (act->after)
        return must ? NULL : behind(act->at);
    if (act->entry == DH_CAPER_LEAVE && must)
        return NULL;
    if (LLVMIsAReturnInst(act->at) && before && LLVMIsACallInst(before) &&
        LLVMGetTailCallKind(before) == LLVMTailCallKindMustTail)
        return NULL; /* the function that is called in its place returns it, and asks */
    return act->at;
}

static bool is_group(const struct dh_caper_act *a, const struct dh_caper_act *b)
{
    return a->unless && a->at == b->at && a->unless == b->unless && a->after == b->after;
}

static void replace(struct dh_caper *c, const char *from, const char *to, enum dh_caper_rule rule)
{
    LLVMValueRef old = LLVMGetNamedFunction(c->ir->module, from),
                 by = LLVMGetNamedFunction(c->ir->module, to);
    if (!old || !dh_caper_has(c, rule))
        return;
    if (!by)
        by = LLVMAddFunction(c->ir->module, to, LLVMGlobalGetValueType(old));
    dh_shim_replace_calls(old, by);
}

static void emit_all(struct dh_caper *c)
{
    for (size_t i = 0, end; i < c->n_acts; i = end) {
        const struct dh_caper_act *act = &c->acts[i];
        for (end = i + 1; end < c->n_acts && is_group(act, &c->acts[end]);)
            end++;
        LLVMValueRef place = place_of(act);
        if (!place)
            continue;
        position(c, place, act->at);
        if (act->unless)
            place = dh_shim_split_if(is_outside(c, act->unless), place, true);
        for (size_t k = i; k < end; k++) {
            position(c, place, act->at);
            emit_act(c, &c->acts[k], place);
        }
    }
}

void dh_caper_emit(struct dh_caper *c)
{
    add_text(c);
    emit_all(c);
    replace(c, "realloc", "__dh_esc_realloc", DH_CAPER_RULE_REALLOC);
    replace(c, "reallocarray", "__dh_esc_reallocarray", DH_CAPER_RULE_REALLOC);
    replace(c, "pthread_create", "__dh_esc_pthread_create", DH_CAPER_RULE_THREAD);
    replace(c, "thrd_create", "__dh_esc_thrd_create", DH_CAPER_RULE_THREAD);
}
