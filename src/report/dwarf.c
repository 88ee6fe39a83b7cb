/*
 * dwarf.c - functions, inlined calls and lines from DWARF, looked up in our own indexes.
 *
 * libdw's own look-up (dwfl_module_addrdie) trusts .debug_aranges, which clang does not write, so the ranges
 * of every unit are read once (cheap: one entry per unit), and a unit's tree is walked only when an address
 * in it is looked up. The walk also finds the variables with a fixed address.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "report/object.h"
#include "util/path.h"

/* Linkers give ranges of discarded functions the address 0 or 1; no code can lie in the ELF header. */
enum { LOWEST_CODE = 64, MAX_DEPTH = 64, MAX_INLINED = 256, MAX_SEARCHED_BYTES = 8 << 20 };

static bool next_range(Dwarf_Die *die, ptrdiff_t *at, Dwarf_Addr *base, Dwarf_Addr *lo, Dwarf_Addr *hi)
{
    do {
        *at = dwarf_ranges(die, *at, base, lo, hi);
        if (*at <= 0)
            return false;
    } while (*lo < LOWEST_CODE || *lo >= *hi);
    return true;
}

static int range_order(const void *a, const void *b)
{
    const struct dh_object_range *x = a, *y = b;
    return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) : (x->unit > y->unit) - (x->unit < y->unit);
}

static int function_order(const void *a, const void *b)
{
    const struct dh_object_function *x = a, *y = b;
    return x->lo != y->lo ? (x->lo < y->lo ? -1 : 1) : (x->hi < y->hi) - (x->hi > y->hi);
}

void dh_object_read_units(struct dh_object *o)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die, split;
    while (dwarf_get_units(o->dwarf, cu, &cu, &version, &type, &die, &split) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
            continue;
        o->units = dh_util_grow(o->units, o->n_units, &o->cap_units, sizeof(*o->units));
        struct dh_object_unit *unit = &o->units[o->n_units];
        *unit = (struct dh_object_unit){.line_die = die, .die = die};
        if (type == DW_UT_skeleton && split.addr)
            unit->die = split;
        Dwarf_Off offset = dwarf_dieoffset(&die), next;
        size_t header;
        if (dwarf_nextcu(o->dwarf, offset - dwarf_cuoffset(&die), &next, &header, NULL, NULL, NULL) == 0)
            unit->bytes = next - offset;
        unit->searched = o->searched_bytes + unit->bytes <= MAX_SEARCHED_BYTES;
        if (unit->searched)
            o->searched_bytes += unit->bytes;
        unit->name = dwarf_diename(&unit->die);
        Dwarf_Attribute attr;
        unit->dir = dwarf_formstring(dwarf_attr(&die, DW_AT_comp_dir, &attr));
        ptrdiff_t at = 0;
        Dwarf_Addr base, lo, hi;
        while (next_range(&die, &at, &base, &lo, &hi)) {
            o->ranges = dh_util_grow(o->ranges, o->n_ranges, &o->cap_ranges, sizeof(*o->ranges));
            o->ranges[o->n_ranges++] = (struct dh_object_range){lo, hi, (u32)o->n_units};
        }
        o->n_units++;
    }
    if (o->n_ranges)
        qsort(o->ranges, o->n_ranges, sizeof(*o->ranges), range_order);
}

static struct dh_object_unit *find_unit(struct dh_object *o, u64 addr)
{
    size_t lo = DH_SEARCH_UPTO(o->ranges, o->n_ranges, lo, addr);
    for (size_t back = 0; lo > 0 && back < 16; back++) { /* ranges may overlap a little */
        lo--;
        if (addr < o->ranges[lo].hi)
            return &o->units[o->ranges[lo].unit];
    }
    return NULL;
}

/* ---- Indexing a unit ------------------------------------------------------------------------------- */

/* The fixed address that a location expression begins with; of a thread-local variable, its offset. */
static bool fixed_address(Dwarf_Attribute *attr, const Dwarf_Op *ops, size_t n, u64 *ret, bool *ret_tls)
{
    Dwarf_Attribute pointed;
    Dwarf_Addr addr;
    Dwarf_Word word;
    if (n < 1)
        return false;
    *ret_tls = n == 2 && (ops[1].atom == DW_OP_form_tls_address || ops[1].atom == DW_OP_GNU_push_tls_address);
    /* Of a variable that is never anything but two values the compiler keeps which: the rest of the
     * expression says how to make the value of what is at the address. */
    bool coded = n > 1 && (ops[1].atom == DW_OP_deref_size || ops[1].atom == DW_OP_deref);
    if (n != 1 && !*ret_tls && !coded)
        return false;
    if (ops[0].atom == DW_OP_addr ||
        (*ret_tls && (ops[0].atom == DW_OP_const8u || ops[0].atom == DW_OP_const4u))) {
        *ret = ops[0].number;
        return true;
    }
    if (*ret_tls) {
        if ((ops[0].atom != DW_OP_constx && ops[0].atom != DW_OP_GNU_const_index) ||
            dwarf_getlocation_attr(attr, &ops[0], &pointed) != 0 || dwarf_formudata(&pointed, &word) != 0)
            return false;
        *ret = word;
        return true;
    }
    if (ops[0].atom != DW_OP_addrx && ops[0].atom != DW_OP_GNU_addr_index)
        return false;
    if (dwarf_getlocation_attr(attr, &ops[0], &pointed) != 0 || dwarf_formaddr(&pointed, &addr) != 0)
        return false;
    *ret = addr;
    return true;
}

static void add_function(struct dh_object_unit *unit, Dwarf_Die *die)
{
    ptrdiff_t at = 0;
    Dwarf_Addr base, lo, hi;
    while (next_range(die, &at, &base, &lo, &hi)) {
        unit->functions =
            dh_util_grow(unit->functions, unit->n_functions, &unit->cap_functions, sizeof(*unit->functions));
        unit->functions[unit->n_functions++] = (struct dh_object_function){lo, hi, *die};
    }
}

/* For a variable that the optimiser split, each remaining piece. */
static void add_global(struct dh_object_unit *unit, Dwarf_Die *die, const Dwarf_Die *owner)
{
    struct dh_object_global g = {.die = *die};
    Dwarf_Attribute attr;
    Dwarf_Op *ops;
    size_t n;
    if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &n) != 0)
        return;
    if (owner)
        g.owner = *owner;
    for (size_t i = 0, end; i < n; i = end + 1) {
        for (end = i; end < n && ops[end].atom != DW_OP_piece;)
            end++;
        g.bytes = end < n ? ops[end].number : 0;
        if (fixed_address(&attr, ops + i, end - i, &g.addr, &g.tls) && (g.addr >= LOWEST_CODE || g.tls)) {
            unit->globals =
                dh_util_grow(unit->globals, unit->n_globals, &unit->cap_globals, sizeof(*unit->globals));
            unit->globals[unit->n_globals++] = g;
        }
        g.part += g.bytes;
    }
}

static void walk(struct dh_object_unit *unit, Dwarf_Die *parent, const Dwarf_Die *owner, int depth)
{
    Dwarf_Die die;
    if (depth > MAX_DEPTH || dwarf_child(parent, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_subprogram:
            add_function(unit, &die);
            walk(unit, &die, &die, depth + 1);
            break;
        case DW_TAG_variable:
            add_global(unit, &die, owner);
            break;
        case DW_TAG_namespace:
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
            walk(unit, &die, owner, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

void dh_object_index_unit(struct dh_object_unit *unit)
{
    if (unit->indexed)
        return;
    unit->indexed = true;
    walk(unit, &unit->die, NULL, 0);
    if (unit->n_functions)
        qsort(unit->functions, unit->n_functions, sizeof(*unit->functions), function_order);
}

/* ---- Names and places ---------------------------------------------------------------------------------- */

const char *dh_object_name(struct dh_object *o, Dwarf_Die *die)
{
    const char *name = dh_object_linkage(die);
    if (!name)
        name = dwarf_diename(die);
    return name ? dh_symbol_demangle(o->arena, name) : NULL;
}

bool dh_object_type(Dwarf_Die *die, Dwarf_Die *ret)
{
    Dwarf_Attribute attr;
    Dwarf_Die type;
    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), &type) &&
           dwarf_peel_type(&type, ret) == 0;
}

static int int_attr(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    if (dwarf_formudata(dwarf_attr_integrate(die, name, &attr), &value) != 0 || value > INT32_MAX)
        return 0;
    return (int)value;
}

static const char *unit_path(struct dh_object *o, struct dh_object_unit *unit, const char *file)
{
    return file ? dh_path_join(o->arena, unit->dir, file) : NULL;
}

static const char *numbered_file(struct dh_object *o, struct dh_object_unit *unit, int number)
{
    Dwarf_Files *files;
    size_t n;
    if (dwarf_getsrcfiles(&unit->line_die, &files, &n) != 0 || number < 0 || (size_t)number >= n)
        return NULL;
    return unit_path(o, unit, dwarf_filesrc(files, (size_t)number, NULL, NULL));
}

void dh_object_declared_at(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die,
                           const char **ret_file, int *ret_line)
{
    Dwarf_Attribute attr;
    *ret_line = int_attr(die, DW_AT_decl_line);
    *ret_file = NULL;
    if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr))
        return;
    /* What link-time optimisation inlined from another unit is described there, and files are numbered by
     * unit. */
    for (size_t i = 0; attr.cu != unit->die.cu && i < o->n_units; i++) {
        if (o->units[i].die.cu == attr.cu)
            unit = &o->units[i];
    }
    *ret_file = numbered_file(o, unit, int_attr(die, DW_AT_decl_file));
}

/* ---- Frames ----------------------------------------------------------------------------------------------
 */

bool dh_object_has_pc(Dwarf_Die *die, u64 addr)
{
    return dwarf_haspc(die, addr) > 0;
}

/* From the function down to the innermost inlined call that contains addr. Returns how many. */
static size_t inline_chain(Dwarf_Die *function, u64 addr, Dwarf_Die *chain, size_t max)
{
    size_t n = 0;
    Dwarf_Die at = *function;
    chain[n++] = at;
    for (int depth = 0; depth < 4 * MAX_DEPTH; depth++) {
        Dwarf_Die die;
        bool deeper = false;
        if (dwarf_child(&at, &die) != 0)
            break;
        do {
            int tag = dwarf_tag(&die);
            if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
                dh_object_has_pc(&die, addr)) {
                deeper = true;
                break;
            }
        } while (dwarf_siblingof(&die, &die) == 0);
        if (!deeper)
            break;
        at = die;
        if (dwarf_tag(&die) == DW_TAG_inlined_subroutine && n < max)
            chain[n++] = die;
    }
    return n;
}

static Dwarf_Die *find_function(struct dh_object_unit *unit, u64 addr)
{
    size_t lo = DH_SEARCH_UPTO(unit->functions, unit->n_functions, lo, addr);
    return lo > 0 && addr < unit->functions[lo - 1].hi ? &unit->functions[lo - 1].die : NULL;
}

Dwarf_Die *dh_object_function_at(struct dh_object *o, u64 addr, struct dh_object_unit **ret_unit)
{
    u64 pc = addr + o->elf_bias - o->dwarf_bias;
    *ret_unit = o->dwarf ? find_unit(o, pc) : NULL;
    if (!*ret_unit)
        return NULL;
    dh_object_index_unit(*ret_unit);
    return find_function(*ret_unit, pc);
}

static void set_file(struct dh_object *o, struct dh_object_unit *unit, struct dh_symbol_frame *f,
                     const char *file)
{
    f->file = file;
    f->unit_file =
        file && unit->dir ? dh_path_from(o->arena, dh_path_join(o->arena, unit->dir, "."), file) : file;
}

size_t dh_object_frames(struct dh_object *o, u64 addr, struct dh_symbol_frame **ret_frames)
{
    u64 pc = addr + o->elf_bias - o->dwarf_bias;
    struct dh_object_unit *unit;
    Dwarf_Die *function = dh_object_function_at(o, addr, &unit);
    if (!unit)
        return 0;
    Dwarf_Line *line = dwarf_getsrc_die(&unit->line_die, pc);
    if (!function && !line)
        return 0;
    Dwarf_Die chain[MAX_INLINED];
    size_t n = function ? inline_chain(function, pc, chain, MAX_INLINED) : 1;
    struct dh_symbol_frame *frames = dh_arena_array(o->arena, n, sizeof(*frames));
    for (size_t i = 0; i < n; i++) {
        struct dh_symbol_frame *f = &frames[n - 1 - i];
        f->inlined = i > 0;
        if (function)
            f->function = dh_object_name(o, &chain[i]);
        if (i + 1 < n) { /* the place of the call that was inlined */
            set_file(o, unit, f, numbered_file(o, unit, int_attr(&chain[i + 1], DW_AT_call_file)));
            f->line = int_attr(&chain[i + 1], DW_AT_call_line);
            f->column = int_attr(&chain[i + 1], DW_AT_call_column);
        } else if (line) {
            set_file(o, unit, f, unit_path(o, unit, dwarf_linesrc(line, NULL, NULL)));
            dwarf_lineno(line, &f->line);
            dwarf_linecol(line, &f->column);
        }
        if (function)
            dh_object_origin(o, unit, &chain[i], f->file, &f->origin);
    }
    *ret_frames = frames;
    return n;
}
