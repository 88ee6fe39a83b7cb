/*
 * emit.c - inserts the check of each site before its instruction.
 *
 * Every inserted call carries a source position, so that the return address of a slow path leads
 * to the line of the access: that of the instruction or, if it has none, that of another instruction
 * of the same statement, or the first line of the loop or block around it.
 */
#include <string.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"

static const char *const entry_names[] = {
#define DH_ENTRY(id, name, signature) name,
#include "ir/entries.def"
#undef DH_ENTRY
};

static const char *const entry_signatures[] = {
#define DH_ENTRY(id, name, signature) signature,
#include "ir/entries.def"
#undef DH_ENTRY
};

static LLVMTypeRef type_of_letter(struct dh_ir *ir, char letter)
{
    return letter == 'p' ? ir->ptr : letter == 'u' ? ir->u32 : letter == 'U' ? ir->u64 : ir->none;
}

static void declare(struct dh_ir *ir, enum dh_ir_entry e)
{
    const char *signature = entry_signatures[e];
    LLVMTypeRef params[8];
    unsigned n = (unsigned)strlen(signature) - 1;
    for (unsigned i = 0; i < n; i++)
        params[i] = type_of_letter(ir, signature[i + 1]);
    ir->entry_type[e] = LLVMFunctionType(type_of_letter(ir, signature[0]), params, n, false);
    ir->entry[e] = LLVMGetNamedFunction(ir->module, entry_names[e]);
    if (ir->entry[e])
        return;
    ir->entry[e] = LLVMAddFunction(ir->module, entry_names[e], ir->entry_type[e]);
}

LLVMValueRef dh_ir_emit_call(struct dh_ir *ir, enum dh_ir_entry e, LLVMValueRef *args)
{
    unsigned n = (unsigned)strlen(entry_signatures[e]) - 1;
    return LLVMBuildCall2(ir->builder, ir->entry_type[e], ir->entry[e], args, n, "");
}

static LLVMValueRef function_of(LLVMValueRef inst)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
}

/* Another access of the same function to the same place as this one. NULL: there is none, or there are
 * several on different lines. */
static LLVMValueRef same_place(LLVMValueRef inst)
{
    const int enough = 256; /* a global may be used all over a large module */
    LLVMValueRef ptr = LLVMGetOperand(inst, LLVMIsALoadInst(inst) ? 0 : 1), found = NULL;
    int seen = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(ptr); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef other = LLVMGetUser(use);
        bool access = LLVMIsALoadInst(other) || (LLVMIsAStoreInst(other) && LLVMGetOperand(other, 1) == ptr);
        if (++seen > enough)
            return NULL;
        if (!access || function_of(other) != function_of(inst) || !LLVMGetDebugLocLine(other))
            continue;
        if (found && LLVMGetDebugLocLine(found) != LLVMGetDebugLocLine(other))
            return NULL;
        found = other;
    }
    return found;
}

struct values {
    LLVMValueRef at[32];
    u32 n;
};

/* False: there is no room. */
static bool add(struct values *v, LLVMValueRef value)
{
    for (u32 i = 0; i < v->n; i++)
        if (v->at[i] == value)
            return true;
    if (v->n == DH_ARRAY_LEN(v->at))
        return false;
    v->at[v->n++] = value;
    return true;
}

/* Of instructions with a line: the first one, if all are on one line, or in one block and so executed
 * together.
 */
static LLVMValueRef first_of(const struct values *v)
{
    bool one_line = true, one_block = true;
    for (u32 i = 1; i < v->n; i++) {
        one_line &= LLVMGetDebugLocLine(v->at[i]) == LLVMGetDebugLocLine(v->at[0]);
        one_block &= LLVMGetInstructionParent(v->at[i]) == LLVMGetInstructionParent(v->at[0]);
    }
    if (v->n == 0 || one_line)
        return v->n ? v->at[0] : NULL;
    LLVMValueRef first = one_block ? LLVMGetFirstInstruction(LLVMGetInstructionParent(v->at[0])) : NULL;
    for (; first; first = LLVMGetNextInstruction(first))
        for (u32 i = 0; i < v->n; i++)
            if (first == v->at[i])
                return first;
    return NULL;
}

/* Unswitching makes of a condition inside a loop one in front of it, which has no line. Of these values: the
 * beginning of the loop that they decide on. NULL: there is none, or there are several. */
static LLVMMetadataRef loop_decided_by(const struct values *v)
{
    LLVMMetadataRef found = NULL;
    for (u32 i = 0; i < v->n; i++) {
        LLVMMetadataRef loop = LLVMIsATerminatorInst(v->at[i]) ? dh_shim_loop_of_end(v->at[i]) : NULL;
        if (found && loop && LLVMDILocationGetLine(found) != LLVMDILocationGetLine(loop))
            return NULL;
        found = loop ? loop : found;
    }
    return found;
}

/* What a load was made for: the instruction that uses its value, or what was computed from it by instructions
 * that have no line either. A phi has no place of its own. */
static LLVMMetadataRef first_use(LLVMValueRef load)
{
    struct values without = {{load}, 1}, with = {{NULL}, 0};
    for (u32 i = 0; i < without.n; i++) {
        for (LLVMUseRef use = LLVMGetFirstUse(without.at[i]); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            bool placed = LLVMGetDebugLocLine(user) && !LLVMIsAPHINode(user);
            if (!add(placed ? &with : &without, user))
                return NULL;
        }
    }
    LLVMValueRef first = first_of(&with);
    return first ? LLVMInstructionGetDebugLoc(first) : loop_decided_by(&without);
}

/* The line that a report shall show for a load or store without one. Accesses that the optimiser has moved or
 * merged have none; another one to the same place, or the use of what was loaded, is what the programmer
 * wrote. If there are several, on different lines, one of them may be where the program never came: then the
 * beginning of the block that they are all in, which does not claim more than is known. */
static LLVMMetadataRef line_of_moved(LLVMValueRef inst)
{
    LLVMValueRef other = same_place(inst);
    LLVMMetadataRef found = other                   ? LLVMInstructionGetDebugLoc(other)
                            : LLVMIsALoadInst(inst) ? first_use(inst)
                                                    : NULL;
    return found ? found : dh_shim_scope_of(inst);
}

void dh_ir_emit_position_of(struct dh_ir *ir, LLVMValueRef inst)
{
    bool access = LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst);
    LLVMMetadataRef loc =
        access && !LLVMGetDebugLocLine(inst) ? line_of_moved(inst) : LLVMInstructionGetDebugLoc(inst);
    if (!loc) {
        LLVMMetadataRef scope = LLVMGetSubprogram(function_of(inst));
        if (scope)
            loc = LLVMDIBuilderCreateDebugLocation(ir->ctx, 0, 0, scope, NULL);
    }
    LLVMSetCurrentDebugLocation2(ir->builder, loc);
}

void dh_ir_emit_at(struct dh_ir *ir, LLVMValueRef place, LLVMValueRef inst)
{
    LLVMPositionBuilderBefore(ir->builder, place);
    dh_ir_emit_position_of(ir, inst);
}

void dh_ir_emit_before(struct dh_ir *ir, LLVMValueRef inst)
{
    dh_ir_emit_at(ir, inst, inst);
}

void dh_ir_emit_after(struct dh_ir *ir, LLVMValueRef inst)
{
    LLVMPositionBuilderBefore(ir->builder, LLVMGetNextInstruction(inst));
    dh_ir_emit_position_of(ir, inst);
}

LLVMValueRef dh_ir_emit_u32(struct dh_ir *ir, u32 value)
{
    return LLVMConstInt(ir->u32, value, false);
}

LLVMValueRef dh_ir_emit_u64(struct dh_ir *ir, u64 value)
{
    return LLVMConstInt(ir->u64, value, false);
}

/* Index into the group of entries by size, or -1: no entry for this size and alignment. Shadow cells stand
 * for 4 bytes, so what is aligned to 4 is aligned enough for several of them. */
static int size_class(u64 size, u64 align)
{
    if (size == 0 || size > 16 || (size & (size - 1)) != 0 || (align < size && align < 4))
        return -1;
    return __builtin_ctzll(size);
}

/* How many checks of the sizes above make up one access: vectors and long doubles are a few. */
static unsigned count_pieces(u64 size)
{
    return (unsigned)(size / 16) + (unsigned)__builtin_popcountll(size % 16);
}

unsigned dh_ir_emit_pieces(u64 size, u64 align, struct dh_ir_piece ret[DH_IR_PIECES])
{
    int power = size_class(size, align);
    if (power < 0 && align >= 4 && count_pieces(size) <= DH_IR_PIECES) {
        unsigned n = 0;
        for (u64 at = 0; at < size; at += ret[n++].size) {
            power = size - at >= 16 ? 4 : 63 - __builtin_clzll(size - at);
            ret[n] = (struct dh_ir_piece){.at = at, .size = 1ull << power, .power = power};
        }
        return n;
    }
    ret[0] = (struct dh_ir_piece){.size = size, .power = power};
    return 1;
}

unsigned dh_ir_emit_count_tests(u64 size, u64 align)
{
    const u64 longest = 16; /* of any alignment: fastpath.c */
    struct dh_ir_piece pieces[DH_IR_PIECES];
    unsigned n = dh_ir_emit_pieces(size, align, pieces);
    return pieces[0].power < 0 && size > longest ? 0 : n;
}

LLVMValueRef dh_ir_emit_shifted(struct dh_ir *ir, LLVMValueRef ptr, long long shift)
{
    LLVMValueRef offset = dh_ir_emit_u64(ir, (u64)shift);
    return shift ? LLVMBuildGEP2(ir->builder, ir->u8, ptr, &offset, 1, "") : ptr;
}

/* The entries of a group in order of size, from `first` on; `any` is the one that is told the size. */
static void emit_pieces(struct dh_ir *ir, LLVMValueRef ptr, u64 size, u64 align, enum dh_ir_entry first,
                        enum dh_ir_entry any, LLVMCallConv convention)
{
    struct dh_ir_piece pieces[DH_IR_PIECES];
    unsigned n = dh_ir_emit_pieces(size, align, pieces);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef args[] = {dh_ir_emit_shifted(ir, ptr, (long long)pieces[i].at),
                               dh_ir_emit_u64(ir, pieces[i].size)};
        enum dh_ir_entry e = pieces[i].power < 0 ? any : (enum dh_ir_entry)((int)first + pieces[i].power);
        LLVMSetInstructionCallConv(dh_ir_emit_call(ir, e, args), convention);
    }
}

void dh_ir_emit_check(struct dh_ir *ir, bool write, LLVMValueRef ptr, u64 size, u64 align)
{
    emit_pieces(ir, ptr, size, align, write ? DH_IR_WRITE1 : DH_IR_READ1,
                write ? DH_IR_WRITE_N : DH_IR_READ_N, LLVMCCallConv);
}

void dh_ir_emit_rare_check(struct dh_ir *ir, bool write, LLVMValueRef ptr, u64 size, u64 align)
{
    emit_pieces(ir, ptr, size, align, write ? DH_IR_RARE_WRITE1 : DH_IR_RARE_READ1,
                write ? DH_IR_RARE_WRITE_N : DH_IR_RARE_READ_N, LLVMPreserveMostCallConv);
}

static void emit_one(struct dh_ir *ir, bool rare, bool write, LLVMValueRef ptr, u64 size, u64 align)
{
    if (rare)
        dh_ir_emit_rare_check(ir, write, ptr, size, align);
    else
        dh_ir_emit_check(ir, write, ptr, size, align);
}

/* One side of a copy. A small constant size is checked in place; anything else is a range. */
static void emit_copy_side(struct dh_ir *ir, const struct dh_ir_site *site, unsigned arg, bool write)
{
    LLVMValueRef call = site->inst;
    LLVMValueRef ptr = LLVMGetOperand(call, arg), len = LLVMGetOperand(call, 2);
    u64 n = LLVMIsAConstantInt(len) ? LLVMConstIntGetZExtValue(len) : 0;
    if (LLVMIsAConstantInt(len) && n == 0)
        return;
    dh_ir_filter_begin(ir);
    dh_ir_filter_add(ir, site, arg == 0 ? DH_WHOLE_TO : DH_WHOLE_FROM);
    dh_ir_emit_at(ir, dh_ir_filter_open(ir, call), call);
    u64 align = dh_shim_argument_align(call, arg);
    if (n > 0 && (size_class(n, align) >= 0 || (align >= 4 && count_pieces(n) <= 2))) {
        emit_one(ir, site->rare, write, ptr, n, align);
        return;
    }
    LLVMValueRef args[] = {ptr, LLVMBuildZExtOrBitCast(ir->builder, len, ir->u64, "")};
    dh_ir_emit_call(ir, write ? DH_IR_WRITE_RANGE : DH_IR_READ_RANGE, args);
}

static void emit_access(struct dh_ir *ir, const struct dh_ir_site *site, LLVMValueRef place)
{
    if (site->next)
        dh_ir_groups_emit(ir, site, place);
    else
        emit_one(ir, site->rare, site->kind == DH_SITE_WRITE, dh_ir_emit_shifted(ir, site->ptr, site->shift),
                 site->size, site->align);
}

/* Where the check of a site goes: before this instruction, where the builder stands then. */
static LLVMValueRef place_of(struct dh_ir *ir, const struct dh_ir_site *site)
{
    LLVMValueRef place = site->inst;
    if (site->kind == DH_SITE_READ || site->kind == DH_SITE_WRITE || site->kind == DH_SITE_VPTR_WRITE ||
        site->kind == DH_SITE_MASKED) {
        dh_ir_filter_begin(ir);
        dh_ir_filter_add_chain(ir, site);
        place = dh_ir_filter_open(ir, place);
    }
    if (site->range)
        return dh_ir_loops_position(ir, site, place);
    dh_ir_emit_at(ir, place, site->inst);
    return place;
}

void dh_ir_emit_site(struct dh_ir *ir, const struct dh_ir_site *site)
{
    if (site->range && !dh_ir_loops_is_inside(site))
        return;
    LLVMValueRef place = place_of(ir, site);
    switch (site->kind) {
    case DH_SITE_READ:
    case DH_SITE_WRITE:
        emit_access(ir, site, place);
        break;
    case DH_SITE_VPTR_WRITE: {
        LLVMValueRef args[] = {site->ptr, LLVMGetOperand(site->inst, 0)};
        dh_ir_emit_call(ir, DH_IR_VPTR_WRITE, args);
        break;
    }
    case DH_SITE_COPY:
        if (!site->skip_src)
            emit_copy_side(ir, site, 1, false);
        if (!site->skip_dst)
            emit_copy_side(ir, site, 0, !site->reads);
        break;
    case DH_SITE_MASKED:
        dh_ir_masked_emit(ir, site->inst, place);
        break;
    case DH_SITE_ATOMIC:
        dh_ir_atomic_emit(ir, site->inst);
        break;
    case DH_SITE_LIBATOMIC:
        dh_ir_atomic_emit_libcall(ir, site->inst);
        break;
    case DH_SITE_PREFETCH: {
        LLVMValueRef ptr = LLVMGetOperand(site->inst, 0);
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(ptr)) == 0)
            dh_ir_emit_call(ir, DH_IR_PREFETCH, &ptr);
        break;
    }
    case DH_SITE_FENCE:
        dh_ir_atomic_emit_fence(ir, site->inst);
        break;
    }
}

void dh_ir_emit_sites(struct dh_ir *ir, const struct dh_ir_sites *sites)
{
    for (size_t i = 0; i < sites->count; i++)
        if (!sites->at[i].covered && !sites->at[i].joined)
            dh_ir_emit_site(ir, &sites->at[i]);
}

void dh_ir_emit_declare_all(struct dh_ir *ir)
{
    for (int e = 0; e < DH_IR_ENTRY_MAX; e++)
        declare(ir, (enum dh_ir_entry)e);
}
