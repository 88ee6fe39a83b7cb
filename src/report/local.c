/*
 * local.c - finds the name of a stack variable from its address and the registers of its frame.
 *
 * Only locations that are a register (or the frame's base) plus a constant are understood: those of variables
 * that live in memory, which are the ones other threads can reach. Variables whose location is computed, such
 * as variable-length arrays, remain unnamed.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "report/object.h"

enum { RBP = 6, RSP = 7, MAX_DEPTH = 64 }; /* the numbers DWARF gives them on x86-64 */

struct search {
    struct dh_object *o;
    struct dh_object_unit *unit;
    const struct dh_model_activation *frame;
    Dwarf_Die *function;
    u64 pc; /* as libdw counts */
    u64 at;
    Dwarf_Die variable, owner; /* found; the owner may be an inlined call */
    u64 offset, size;
};

static bool base_register(const struct dh_model_activation *frame, unsigned number, u64 *ret)
{
    *ret = number == RBP ? frame->bp : frame->sp;
    return number == RBP || number == RSP;
}

/* The first operation of the attribute's expression at pc; false if there is more than that. */
static bool sole_operation(Dwarf_Die *die, unsigned name, u64 pc, Dwarf_Op *ret)
{
    Dwarf_Attribute attr;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr_integrate(die, name, &attr) || dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) != 1 ||
        n != 1)
        return false;
    *ret = ops[0];
    return true;
}

static bool frame_base(struct search *s, u64 *ret)
{
    Dwarf_Op op;
    if (!sole_operation(s->function, DW_AT_frame_base, s->pc, &op))
        return false;
    if (op.atom == DW_OP_call_frame_cfa) {
        *ret = s->frame->cfa;
        return true;
    }
    if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31)
        return base_register(s->frame, op.atom - DW_OP_reg0, ret);
    if (op.atom < DW_OP_breg0 || op.atom > DW_OP_breg31 ||
        !base_register(s->frame, op.atom - DW_OP_breg0, ret))
        return false;
    *ret += op.number;
    return true;
}

static bool address_of(struct search *s, Dwarf_Die *die, u64 *ret)
{
    Dwarf_Op op;
    bool based;
    if (!sole_operation(die, DW_AT_location, s->pc, &op))
        return false;
    if (op.atom == DW_OP_fbreg)
        based = frame_base(s, ret);
    else
        based = op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31 &&
                base_register(s->frame, op.atom - DW_OP_breg0, ret);
    *ret += op.number;
    return based;
}

static bool holds(struct search *s, Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    Dwarf_Die type;
    Dwarf_Word size;
    u64 start = 0;
    if (!address_of(s, die, &start) || !dwarf_attr_integrate(die, DW_AT_type, &attr) ||
        !dwarf_formref_die(&attr, &type) || dwarf_aggregate_size(&type, &size) != 0)
        return false;
    s->offset = s->at - start;
    s->size = size;
    return s->at >= start && s->at - start < size;
}

static bool search_scope(struct search *s, Dwarf_Die *scope, const Dwarf_Die *owner, int depth)
{
    Dwarf_Die die;
    if (depth > MAX_DEPTH || dwarf_child(scope, &die) != 0)
        return false;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            if (holds(s, &die)) {
                s->variable = die;
                s->owner = *owner;
                return true;
            }
            break;
        case DW_TAG_lexical_block:
            if (dh_object_has_pc(&die, s->pc) && search_scope(s, &die, owner, depth + 1))
                return true;
            break;
        case DW_TAG_inlined_subroutine:
            if (dh_object_has_pc(&die, s->pc) && search_scope(s, &die, &die, depth + 1))
                return true;
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

bool dh_object_check_frame(struct dh_object *o, u64 pc, const struct dh_model_activation *frame)
{
    Dwarf_Addr bias;
    Dwarf_Frame *rules;
    Dwarf_Op *ops;
    size_t n;
    u64 base;
    Dwarf_CFI *tables = o->module ? dwfl_module_eh_cfi(o->module, &bias) : NULL;
    if (!tables || dwarf_cfi_addrframe(tables, pc + o->elf_bias - bias, &rules) != 0)
        return false;
    bool agrees = dwarf_frame_cfa(rules, &ops, &n) == 0 && n == 1 && ops[0].atom == DW_OP_bregx &&
                  base_register(frame, (unsigned)ops[0].number, &base) && base + ops[0].number2 == frame->cfa;
    free(rules);
    return agrees;
}

bool dh_object_find_local(struct dh_object *o, u64 pc, const struct dh_model_activation *frame, u64 at,
                          u64 size, struct dh_symbol_variable *ret)
{
    struct search s = {.o = o, .frame = frame, .at = at, .pc = pc + o->elf_bias - o->dwarf_bias};
    s.function = o->module ? dh_object_function_at(o, pc, &s.unit) : NULL;
    if (!s.function || !search_scope(&s, s.function, s.function, 0))
        return false;
    struct dh_symbol_variable v = {
        .offset = s.offset, .size = s.size, .function = dh_object_name(o, &s.owner)};
    if (!dh_object_describe(o, s.unit, &s.variable, size, &v))
        return false;
    *ret = v;
    return true;
}
