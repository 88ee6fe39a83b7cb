/*
 * sites.c - lists the operations of a function that the runtime must know about.
 *
 * Besides accesses to what escape.c calls private, a plain access is omitted when another check in
 * the same window covers it. A window is a stretch of one basic block in which nothing can synchronise
 * (quiet.c determines which calls can); within it, the order of accesses is invisible to other threads'
 * happens-before relation, so
 *   - a read is covered by a write check of the same bytes before it, or after it if nothing between the two
 *     can unwind or fail to return;
 *   - a read or a write is covered by an earlier check of the same kind of the same bytes.
 * A race of the covered access with another thread's access is then also a race of the covering one,
 * which is what FastTrack reports (the first race on a variable).
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"

struct collector {
    struct dh_ir *ir;
    struct dh_ir_escape *escape;
    struct dh_ir_sites *out;
    size_t window;   /* index of the first site of the current window */
    unsigned number; /* of the current window */
    unsigned left;   /* what the user wants left out: DH_IR_LEAVE_... */
    unsigned stretch;
};

static struct dh_ir_site *add(struct collector *c, enum dh_ir_site_kind kind, LLVMValueRef inst)
{
    struct dh_ir_sites *out = c->out;
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? out->capacity * 2 : 64;
        out->at = realloc(out->at, out->capacity * sizeof(*out->at));
    }
    struct dh_ir_site *site = &out->at[out->count++];
    *site = (struct dh_ir_site){.kind = kind, .inst = inst, .window = c->number, .stretch = c->stretch};
    return site;
}

static long long start_of(const struct dh_ir_site *s)
{
    return s->offset + s->shift;
}

static long long end_of(const struct dh_ir_site *s)
{
    return start_of(s) + (long long)s->size;
}

bool dh_ir_sites_covers(const struct dh_ir_site *a, const struct dh_ir_site *b)
{
    return (a->kind == DH_SITE_WRITE || b->kind == DH_SITE_READ) && a->base == b->base &&
           start_of(a) <= start_of(b) && end_of(a) >= end_of(b);
}

/*
 * Neighbouring parts of words on one line (numbers put together from bytes) are one check, at the first of
 * them: all of them happen, in one window. Not so for whole words: a report about two fields would be less
 * exact than one about the field, and there is no byte mask to build up access by access.
 */
static bool merge(struct dh_ir_site *into, const struct dh_ir_site *site)
{
    const long long longest = 8;
    long long start = start_of(into), end = end_of(into), from = start_of(site), to = end_of(site);
    if (into->stretch != site->stretch || into->kind != site->kind || into->base != site->base ||
        site->size >= 4 || from > end || to < start || !(into->size < 4 || into->merged) ||
        !dh_shim_same_line(into->inst, site->inst))
        return false;
    long long low = from < start ? from : start, high = to > end ? to : end;
    if (high - low > longest)
        return false;
    if (from < start)
        into->align = site->align;
    into->shift += low - start;
    into->size = (u64)(high - low);
    into->merged = true;
    return true;
}

/* Compares the newest site with those of its window; keeps huge blocks linear by looking back only
 * so far. */
static void prune(struct collector *c)
{
    const size_t reach = 128;
    struct dh_ir_sites *out = c->out;
    size_t last = out->count - 1;
    struct dh_ir_site *site = &out->at[last];
    size_t first = last - c->window > reach ? last - reach : c->window;
    for (size_t i = last; i-- > first;) {
        struct dh_ir_site *other = &out->at[i];
        if (other->covered || (other->kind != DH_SITE_READ && other->kind != DH_SITE_WRITE))
            continue;
        if (dh_ir_sites_covers(other, site) || merge(other, site)) {
            site->covered = true;
            site->by = i;
            return;
        }
        if (site->kind == DH_SITE_WRITE && other->kind == DH_SITE_READ && site->stretch == other->stretch &&
            dh_ir_sites_covers(site, other)) {
            other->covered = true;
            other->by = last;
        }
    }
}

/* Each site that is covered is listed with the one that is checked in its place. */
static void list_covered(struct dh_ir_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++) {
        size_t by = i;
        while (sites->at[by].covered)
            by = sites->at[by].by;
        if (by != i) {
            sites->at[i].also = sites->at[by].also;
            sites->at[by].also = &sites->at[i];
        }
    }
}

/* Does a constructor or destructor say here which class the object is now? */
static bool is_vptr_store(LLVMValueRef inst, LLVMTypeRef type)
{
    return LLVMIsAStoreInst(inst) && LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
           dh_shim_is_vtable_access(inst);
}

/* Those sides of an access that the analysis of the whole program has found to race with nothing. */
static unsigned safe_sides(const struct collector *c, LLVMValueRef inst)
{
    return c->ir->heeds_marks ? dh_ir_prune_safe(c->ir->safe_kind, inst) : 0;
}

static void collect_plain(struct collector *c, LLVMValueRef inst, LLVMValueRef ptr, LLVMTypeRef type)
{
    bool is_store = LLVMIsAStoreInst(inst) != NULL;
    if ((c->left & DH_IR_LEAVE_PLAIN) || LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) != 0 ||
        dh_shim_is_swifterror(ptr))
        return;
    if (dh_shim_is_added_by_compiler(inst) || (!is_store && dh_shim_is_invariant_load(inst)))
        return;
    u64 size = LLVMStoreSizeOfType(c->ir->layout, type);
    if (size == 0 || safe_sides(c, inst) || dh_ir_escape_is_private(c->escape, ptr))
        return;
    struct dh_ir_site *site = add(c,
                                  is_vptr_store(inst, type) ? DH_SITE_VPTR_WRITE
                                  : is_store                ? DH_SITE_WRITE
                                                            : DH_SITE_READ,
                                  inst);
    site->ptr = ptr;
    site->size = size;
    site->align = LLVMGetAlignment(inst);
    site->base = dh_shim_base(ptr, &site->offset);
    prune(c);
}

static void end_window(struct collector *c)
{
    c->window = c->out->count;
    c->number++;
    c->stretch++;
}

/* What follows inst may never happen. */
static void break_stretch(struct collector *c, LLVMValueRef inst)
{
    struct dh_ir_sites *out = c->out;
    c->stretch++;
    if (out->break_count == out->break_capacity) {
        out->break_capacity = out->break_capacity ? out->break_capacity * 2 : 16;
        out->breaks = realloc(out->breaks, out->break_capacity * sizeof(*out->breaks));
    }
    out->breaks[out->break_count++] = inst;
}

/* The window ends at inst: what follows may be ordered differently against other threads. */
static void break_window(struct collector *c, LLVMValueRef inst)
{
    end_window(c);
    break_stretch(c, inst);
}

static void collect_atomic(struct collector *c, LLVMValueRef inst, LLVMValueRef ptr)
{
    if (LLVMIsAtomicSingleThread(inst) || LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) != 0 ||
        dh_ir_escape_is_private(c->escape, ptr))
        return;
    if (!(c->left & DH_IR_LEAVE_ATOMIC))
        add(c, DH_SITE_ATOMIC, inst);
    break_window(c, inst);
}

bool dh_ir_sites_is_copy(LLVMValueRef callee)
{
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    static const char *const prefixes[] = {"llvm.memcpy.", "llvm.memmove.", "llvm.memset."};
    for (size_t i = 0; i < DH_ARRAY_LEN(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return !strstr(name, "unordered.atomic");
    return false;
}

/* The C library's memcmp or bcmp: of a constant size, code generation may turn it into loads, which no
 * interceptor sees. */
static bool is_compare(LLVMValueRef callee)
{
    static const LLVMTypeKind kinds[] = {LLVMPointerTypeKind, LLVMPointerTypeKind, LLVMIntegerTypeKind};
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    if (!LLVMIsDeclaration(callee) || (strcmp(name, "memcmp") != 0 && strcmp(name, "bcmp") != 0) ||
        LLVMCountParams(callee) != DH_ARRAY_LEN(kinds))
        return false;
    for (unsigned i = 0; i < DH_ARRAY_LEN(kinds); i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(callee, i))) != kinds[i])
            return false;
    return true;
}

/* A program that asks for memory before it needs it will then wait for the cells instead, unless they are
 * asked for too. */
static bool is_prefetch(LLVMValueRef callee)
{
    size_t len;
    return strncmp(LLVMGetValueName2(callee, &len), "llvm.prefetch.", strlen("llvm.prefetch.")) == 0;
}

/* The largest constant size that x86 code generation expands: sixteen stores for memset, eight loads (and
 * stores) else, of the widest registers the function may use. */
static u64 largest_expanded(LLVMValueRef callee, LLVMValueRef call)
{
    static const char features[] = "target-features";
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMAttributeRef attribute =
        LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, features, sizeof(features) - 1);
    size_t len;
    bool set = strncmp(LLVMGetValueName2(callee, &len), "llvm.memset.", strlen("llvm.memset.")) == 0;
    u64 width = 64; /* the machine's widest, if nothing is said */
    if (attribute) {
        unsigned n;
        const char *list =
            LLVMGetStringAttributeValue(attribute, &n); /* ends in a zero: of LLVM's own pool */
        width = strstr(list, "+avx512") ? 64 : strstr(list, "+avx") ? 32 : 16;
    }
    return (set ? 16 : 8) * width;
}

/* Whether the backend is sure to make a call of the C library's function out of it, which the runtime
 * intercepts and checks itself. */
static bool becomes_call(LLVMValueRef callee, LLVMValueRef call)
{
    size_t len;
    if (strstr(LLVMGetValueName2(callee, &len), ".inline."))
        return false;
    LLVMValueRef n = LLVMGetOperand(call, 2);
    return !LLVMIsAConstantInt(n) || LLVMConstIntGetZExtValue(n) > largest_expanded(callee, call);
}

static void collect_copy(struct collector *c, LLVMValueRef callee, LLVMValueRef call)
{
    if (!c->ir->throwing && becomes_call(callee, call)) {
        c->out->has_calls = true;
        return;
    }
    if (c->left & DH_IR_LEAVE_PLAIN)
        return;
    LLVMValueRef dst = LLVMGetOperand(call, 0), src = LLVMGetOperand(call, 1);
    bool has_src = LLVMGetTypeKind(LLVMTypeOf(src)) == LLVMPointerTypeKind;
    unsigned safe = safe_sides(c, call);
    bool skip_dst = (safe & DH_WHOLE_TO) || LLVMGetPointerAddressSpace(LLVMTypeOf(dst)) != 0 ||
                    dh_ir_escape_is_private(c->escape, dst);
    bool skip_src = !has_src || (safe & DH_WHOLE_FROM) || LLVMGetPointerAddressSpace(LLVMTypeOf(src)) != 0 ||
                    dh_ir_escape_is_private(c->escape, src);
    if (skip_dst && skip_src)
        return;
    struct dh_ir_site *site = add(c, DH_SITE_COPY, call);
    site->skip_dst = skip_dst;
    site->skip_src = skip_src;
    site->reads = is_compare(callee);
}

static void collect_call(struct collector *c, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
    bool intrinsic = callee && LLVMGetIntrinsicID(callee) != 0;
    if (callee && (intrinsic ? dh_ir_sites_is_copy(callee) : is_compare(callee))) {
        collect_copy(c, callee, call);
    } else if (c->left & DH_IR_LEAVE_PLAIN) {
        ; /* no other site of a call is about plain accesses */
    } else if (intrinsic && is_prefetch(callee)) {
        add(c, DH_SITE_PREFETCH, call);
    } else if (intrinsic && dh_ir_masked_is(call)) {
        LLVMValueRef ptr = dh_ir_masked_pointer(call);
        if (!safe_sides(c, call) && (!ptr || !dh_ir_escape_is_private(c->escape, ptr)))
            add(c, DH_SITE_MASKED, call);
    }
    enum dh_ir_call kind = dh_ir_quiet_call(c->ir->quiet, call);
    const unsigned touches_nothing = DH_CALL_READNONE | DH_CALL_COMES_BACK;
    unsigned traits = dh_shim_call_traits(call);
    bool libatomic =
        kind == DH_CALL_SYNCS && callee && LLVMIsACallInst(call) && dh_ir_atomic_is_libcall(call);
    if (libatomic && !(c->left & DH_IR_LEAVE_ATOMIC))
        add(c, DH_SITE_LIBATOMIC, call);
    else if (!intrinsic && !(traits & DH_CALL_ASM) && (traits & touches_nothing) != touches_nothing)
        c->out->has_calls = true;
    if (kind == DH_CALL_SYNCS)
        break_window(c, call);
    else if (kind == DH_CALL_QUIET)
        break_stretch(c, call);
}

static void collect(struct collector *c, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        if (LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic)
            collect_plain(c, inst, LLVMGetOperand(inst, 0), LLVMTypeOf(inst));
        else
            collect_atomic(c, inst, LLVMGetOperand(inst, 0));
        break;
    case LLVMStore:
        if (LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic)
            collect_plain(c, inst, LLVMGetOperand(inst, 1), LLVMTypeOf(LLVMGetOperand(inst, 0)));
        else
            collect_atomic(c, inst, LLVMGetOperand(inst, 1));
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        collect_atomic(c, inst, LLVMGetOperand(inst, 0));
        break;
    case LLVMFence:
        if (!LLVMIsAtomicSingleThread(inst)) {
            if (!(c->left & DH_IR_LEAVE_ATOMIC))
                add(c, DH_SITE_FENCE, inst);
            break_window(c, inst);
        }
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        collect_call(c, inst);
        break;
    default:
        break;
    }
}

void dh_ir_sites_collect(struct dh_ir *ir, LLVMValueRef fn, struct dh_ir_sites *ret_sites)
{
    *ret_sites = (struct dh_ir_sites){0};
    struct collector c = {
        .ir = ir, .escape = dh_ir_escape_new(), .out = ret_sites, .left = dh_ir_ignore_get(fn)};
    ret_sites->blocks = calloc(LLVMCountBasicBlocks(fn), sizeof(*ret_sites->blocks));
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb)) {
        struct dh_ir_block *block = &ret_sites->blocks[ret_sites->block_count++];
        end_window(&c);
        *block = (struct dh_ir_block){.bb = bb, .first = ret_sites->count, .first_window = c.number};
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst; inst = LLVMGetNextInstruction(inst))
            collect(&c, inst);
        block->end = ret_sites->count;
        block->last_window = c.number;
    }
    list_covered(ret_sites);
    dh_ir_escape_free(c.escape);
}

unsigned dh_ir_sites_checks(const struct dh_ir_site *site)
{
    switch (site->kind) {
    case DH_SITE_READ:
    case DH_SITE_WRITE:
    case DH_SITE_VPTR_WRITE:
    case DH_SITE_MASKED:
        return !site->covered;
    case DH_SITE_COPY:
        return (unsigned)!site->skip_dst + (unsigned)!site->skip_src;
    default:
        return 0;
    }
}

void dh_ir_sites_done(struct dh_ir_sites *sites)
{
    free(sites->at);
    free(sites->breaks);
    free(sites->blocks);
    *sites = (struct dh_ir_sites){0};
}
