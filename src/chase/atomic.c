/*
 * atomic.c - see atomic.h. Debug information comes from anywhere, so every walk is bounded.
 */
#include "chase/atomic.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum { MAX_STEPS = 64, MAX_DEPTH = 32 };

/* ---- Types ---- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
    Dwarf_Attribute attr;
    return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, ret);
}

static bool is_atomic_class(Dwarf_Die *type)
{
    static const char *const names[] = {"atomic<", "__atomic_base<", "atomic_flag", "__atomic_flag_base",
                                        "atomic_ref<"};
    const char *name = dwarf_diename(type);
    for (size_t i = 0; name && i < DH_ARRAY_LEN(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* From a structure to the type of the member, or base class, that holds all of the bytes. */
static bool step_into(Dwarf_Die *type, u64 *offset, u64 size)
{
    Dwarf_Die member, inner;
    if (dwarf_child(type, &member) != 0)
        return false;
    do {
        Dwarf_Attribute attr;
        Dwarf_Word at, n;
        int tag = dwarf_tag(&member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&member, DW_AT_bit_size) ||
            dwarf_formudata(dwarf_attr(&member, DW_AT_data_member_location, &attr), &at) != 0 ||
            !type_of(&member, &inner) || dwarf_aggregate_size(&inner, &n) != 0)
            continue;
        if (*offset < at || *offset - at >= n || size > n - (*offset - at))
            continue;
        *offset -= at;
        *type = inner;
        return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

/* Nothing is concluded about a union: its members may differ. */
static bool leads_to_atomic(Dwarf_Die type, u64 offset, u64 size)
{
    for (int i = 0; i < MAX_STEPS; i++) {
        Dwarf_Word n;
        switch (dwarf_tag(&type)) {
        case DW_TAG_atomic_type:
            return true;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            if (is_atomic_class(&type))
                return true;
            if (!step_into(&type, &offset, size))
                return false;
            break;
        case DW_TAG_array_type:
            if (!type_of(&type, &type) || dwarf_aggregate_size(&type, &n) != 0 || n == 0)
                return false;
            offset %= n;
            break;
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
            if (!type_of(&type, &type))
                return false;
            break;
        default:
            return false;
        }
    }
    return false;
}

/* ---- Globals ---- */

/* The address of a variable that has a fixed one. */
static bool address_of(Dwarf_Die *variable, Dwarf_Addr *ret)
{
    Dwarf_Attribute attr, indirect;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr(variable, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1)
        return false;
    if (ops[0].atom == DW_OP_addrx)
        return dwarf_getlocation_attr(&attr, ops, &indirect) == 0 && dwarf_formaddr(&indirect, ret) == 0;
    *ret = ops[0].number;
    return ops[0].atom == DW_OP_addr;
}

static void add_variable(struct dh_chase_globals *g, Dwarf_Die *die)
{
    Dwarf_Addr at;
    Dwarf_Word size;
    Dwarf_Die type;
    if (!address_of(die, &at) || !type_of(die, &type) || dwarf_aggregate_size(&type, &size) != 0)
        return;
    g->at = dh_util_grow(g->at, g->n, &g->cap, sizeof(*g->at));
    g->at[g->n++] = (struct dh_chase_global){at, size, type};
}

static void add_function(struct dh_chase_globals *g, Dwarf_Die *die)
{
    Dwarf_Addr base, lo, hi;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0;) {
        g->functions = dh_util_grow(g->functions, g->n_functions, &g->cap_functions, sizeof(*g->functions));
        g->functions[g->n_functions++] = (struct dh_chase_function){lo, hi, *die};
    }
}

static void read_scope(struct dh_chase_globals *g, Dwarf_Die *scope, int depth)
{
    Dwarf_Die die;
    if (depth == MAX_DEPTH || dwarf_child(scope, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
            add_variable(g, &die);
            break;
        case DW_TAG_subprogram:
            add_function(g, &die);
            read_scope(g, &die, depth + 1);
            break;
        case DW_TAG_namespace:
        case DW_TAG_lexical_block:
            read_scope(g, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

static int by_address(const void *a, const void *b)
{
    const struct dh_chase_global *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_lo(const void *a, const void *b)
{
    const struct dh_chase_function *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

void dh_chase_atomic_read(struct dh_chase_globals *g, Dwarf *dwarf)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    *g = (struct dh_chase_globals){0};
    while (dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &die, &split) == 0)
        read_scope(g, dwarf_tag(&split) == DW_TAG_compile_unit ? &split : &die, 0);
    if (g->n)
        qsort(g->at, g->n, sizeof(*g->at), by_address);
    if (g->n_functions)
        qsort(g->functions, g->n_functions, sizeof(*g->functions), by_lo);
}

void dh_chase_atomic_done(struct dh_chase_globals *g)
{
    free(g->at);
    free(g->functions);
}

bool dh_chase_atomic_is_global(const struct dh_chase_globals *g, u64 address, u64 size)
{
    size_t lo = DH_SEARCH_UPTO(g->at, g->n, address, address);
    const struct dh_chase_global *at = lo ? &g->at[lo - 1] : NULL;
    return at && address - at->address < at->size && leads_to_atomic(at->type, address - at->address, size);
}

/* ---- Through pointers ---- */

/* Is the variable in this register at pc? */
static bool is_in(Dwarf_Die *variable, u64 pc, u8 reg)
{
    /* DWARF register numbers, indexed by machine-code register numbers. */
    static const u8 numbers[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    Dwarf_Attribute attr;
    Dwarf_Op *ops;
    size_t n;
    return reg < DH_ARRAY_LEN(numbers) && dwarf_attr_integrate(variable, DW_AT_location, &attr) &&
           dwarf_getlocation_addr(&attr, pc, &ops, &n, 1) == 1 && n == 1 &&
           ops[0].atom == DW_OP_reg0 + numbers[reg];
}

static bool points_to(Dwarf_Die *variable, Dwarf_Die *ret)
{
    if (!type_of(variable, ret))
        return false;
    for (int i = 0; i < MAX_STEPS; i++) {
        int tag = dwarf_tag(ret);
        if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type)
            return type_of(ret, ret);
        if ((tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
             tag != DW_TAG_restrict_type) ||
            !type_of(ret, ret))
            return false;
    }
    return false;
}

/* A variable that is in this register at pc; and what is accessed through it. */
struct pointer {
    u64 pc, offset, size;
    u8 reg;
};

/* Is it one of this scope, or of one within it, and does it point to an atomic object? */
static bool is_atomic_in(Dwarf_Die *scope, const struct pointer *p, int depth)
{
    Dwarf_Die die, type;
    bool atomic = false;
    if (depth == MAX_DEPTH || dwarf_child(scope, &die) != 0)
        return false;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
            atomic = is_in(&die, p->pc, p->reg) && points_to(&die, &type) &&
                     leads_to_atomic(type, p->offset, p->size);
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
            atomic = dwarf_haspc(&die, p->pc) == 1 && is_atomic_in(&die, p, depth + 1);
            break;
        default:
            break;
        }
    } while (!atomic && dwarf_siblingof(&die, &die) == 0);
    return atomic;
}

bool dh_chase_atomic_is_pointee(const struct dh_chase_globals *g, u64 pc, u8 reg, u64 offset, u64 size)
{
    const struct pointer p = {pc, offset, size, reg};
    size_t lo = DH_SEARCH_UPTO(g->functions, g->n_functions, lo, pc);
    const struct dh_chase_function *f = lo ? &g->functions[lo - 1] : NULL;
    Dwarf_Die die;
    if (!f || pc >= f->hi)
        return false;
    die = f->die;
    return is_atomic_in(&die, &p, 0);
}
