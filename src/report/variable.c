/*
 * variable.c - finds the name of a global or thread-local variable, down to the member, from its address.
 *
 * The ELF symbol gives name and size, always and immediately. DWARF adds the declaration and the member path,
 * if the defining unit can be found cheaply: units already walked come first (the racing functions' own),
 * then the others up to a fixed amount of debug information, so that a huge binary stays fast. The choice of
 * the others does not depend on earlier lookups: the same variable must not be found in one run and missed in
 * the next.
 */
#include <dwarf.h>
#include <stdarg.h>
#include <stdio.h>

#include "report/object.h"

enum { MAX_PATH = 16, MAX_DIMENSIONS = 8 };

/* ---- The variable's entry ---------------------------------------------------------------------------- */

static u64 size_of(Dwarf_Die *variable)
{
    Dwarf_Attribute attr;
    Dwarf_Die type;
    Dwarf_Word size;
    bool known = dwarf_formref_die(dwarf_attr_integrate(variable, DW_AT_type, &attr), &type) &&
                 dwarf_aggregate_size(&type, &size) == 0;
    return known ? size : 0;
}

static struct dh_object_global *find_in_unit(struct dh_object_unit *unit, int which, u64 addr, bool exact)
{
    for (size_t i = 0; i < unit->n_globals; i++) {
        struct dh_object_global *g = &unit->globals[i];
        if (g->tls != (which == DH_OBJECT_TLS))
            continue;
        if (g->addr == addr)
            return g;
        if (!exact && g->addr < addr && addr - g->addr < (g->bytes ? g->bytes : size_of(&g->die)))
            return g;
    }
    return NULL;
}

static struct dh_object_global *find_global(struct dh_object *o, int which, u64 addr, bool exact,
                                            struct dh_object_unit **ret_unit)
{
    for (int walked = 1; walked >= 0; walked--) {
        for (size_t i = 0; i < o->n_units; i++) {
            struct dh_object_unit *unit = &o->units[i];
            if (unit->indexed != walked)
                continue;
            if (!walked && !unit->searched)
                continue;
            dh_object_index_unit(unit);
            struct dh_object_global *g = find_in_unit(unit, which, addr, exact);
            if (g) {
                *ret_unit = unit;
                return g;
            }
        }
    }
    return NULL;
}

/* ---- The path to a member ---------------------------------------------------------------------------- */

struct text {
    char at[512];
    size_t len;
};

struct path {
    struct text full;  /* ".table[3].n" */
    struct text shape; /* ".table[].n" */
    u64 rest;          /* offset not yet explained by the path */
    u64 size;          /* of the access */
};

__attribute__((format(printf, 2, 3))) static void append(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->len, sizeof(t->at) - t->len, format, args);
    va_end(args);
    if (n > 0)
        t->len += (size_t)n;
    if (t->len >= sizeof(t->at))
        t->len = sizeof(t->at) - 1;
}

/* The member of a struct that holds the whole access. Bit-fields share bytes, so they are left alone. */
static bool step_struct(struct path *p, Dwarf_Die *type)
{
    Dwarf_Die member, inner;
    if (dwarf_child(type, &member) != 0)
        return false;
    do {
        int tag = dwarf_tag(&member);
        Dwarf_Attribute attr;
        Dwarf_Word at, size;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&member, DW_AT_bit_size) ||
            dwarf_formudata(dwarf_attr(&member, DW_AT_data_member_location, &attr), &at) != 0)
            continue;
        if (!dh_object_type(&member, &inner) || dwarf_aggregate_size(&inner, &size) != 0)
            continue;
        if (p->rest < at || p->rest - at >= size || p->size > size - (p->rest - at))
            continue;
        const char *name = dwarf_formstring(dwarf_attr(&member, DW_AT_name, &attr));
        if (tag == DW_TAG_member && name) {
            append(&p->full, ".%s", name);
            append(&p->shape, ".%s", name);
        }
        p->rest -= at;
        *type = inner;
        return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

static bool step_array(struct path *p, Dwarf_Die *type)
{
    u64 counts[MAX_DIMENSIONS], index[MAX_DIMENSIONS];
    size_t n = 0;
    Dwarf_Die dimension, element;
    Dwarf_Word size;
    if (!dh_object_type(type, &element) || dwarf_aggregate_size(&element, &size) != 0 || size == 0 ||
        dwarf_child(type, &dimension) != 0)
        return false;
    do {
        Dwarf_Attribute attr;
        Dwarf_Word count;
        if (dwarf_tag(&dimension) != DW_TAG_subrange_type || n == MAX_DIMENSIONS)
            return false;
        if (dwarf_formudata(dwarf_attr_integrate(&dimension, DW_AT_count, &attr), &count) != 0) {
            if (dwarf_formudata(dwarf_attr_integrate(&dimension, DW_AT_upper_bound, &attr), &count) != 0)
                count = n == 0 ? UINT32_MAX : 0;
            else
                count++;
        }
        if (count == 0)
            return false;
        counts[n++] = count;
    } while (dwarf_siblingof(&dimension, &dimension) == 0);
    u64 within = p->rest % size, linear = p->rest / size;
    if (p->size > size - within) /* several elements at once */
        return false;
    for (size_t i = n; i-- > 0;) {
        index[i] = i ? linear % counts[i] : linear;
        linear /= counts[i];
    }
    for (size_t i = 0; i < n; i++) {
        append(&p->full, "[%llu]", (unsigned long long)index[i]);
        append(&p->shape, "[]");
    }
    p->rest = within;
    *type = element;
    return true;
}

static void walk_type(struct path *p, Dwarf_Die *variable)
{
    Dwarf_Die type;
    if (!dh_object_type(variable, &type))
        return;
    for (int steps = 0; steps < MAX_PATH; steps++) {
        bool moved = false;
        switch (dwarf_tag(&type)) {
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            moved = step_struct(p, &type);
            break;
        case DW_TAG_array_type:
            moved = step_array(p, &type);
            break;
        default:
            break;
        }
        if (!moved)
            break;
    }
}

/* ---- Both together ------------------------------------------------------------------------------------ */

bool dh_object_describe(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die, u64 size,
                        struct dh_symbol_variable *v)
{
    struct path path = {.rest = v->offset, .size = size ? size : 1};
    if (die) {
        const char *name = dh_object_name(o, die);
        if (name)
            v->name = name;
        dh_object_declared_at(o, unit, die, &v->file, &v->line);
        v->findable = unit->searched;
        walk_type(&path, die);
    }
    if (!v->name)
        return false;
    v->display = dh_arena_printf(o->arena, "%s%s", v->name, path.full.at);
    if (path.rest)
        v->display = dh_arena_printf(o->arena, "%s + %llu", v->display, (unsigned long long)path.rest);
    v->members = dh_arena_strdup(o->arena, path.shape.at);
    v->shape = dh_arena_printf(o->arena, "%s%s", v->name, v->members);
    return true;
}

bool dh_object_find_variable(struct dh_object *o, int which, u64 addr, u64 size,
                             struct dh_symbol_variable *ret)
{
    if (!o->module)
        return false;
    const struct dh_object_symbol *symbol = dh_object_find_symbol(o, which, addr);
    struct dh_object_unit *unit = NULL;
    u64 shift = which == DH_OBJECT_TLS ? 0 : o->elf_bias - o->dwarf_bias;
    struct dh_object_global *g =
        o->dwarf ? find_global(o, which, (symbol ? symbol->lo : addr) + shift, symbol != NULL, &unit) : NULL;
    if (!symbol && !g)
        return false;
    struct dh_symbol_variable v = {.offset = addr - (symbol ? symbol->lo : g->addr - shift)};
    if (symbol) {
        v.size = symbol->hi - symbol->lo;
        v.name = dh_symbol_demangle(o->arena, symbol->name);
        v.symbol = v.origin.name = symbol->name;
    }
    if (g && g->bytes) {
        v.offset += g->part;
        v.size = size_of(&g->die);
    }
    if (g && g->owner.addr)
        v.function = dh_object_name(o, &g->owner);
    if (g)
        dh_object_variable_origin(o, unit, &g->die, &v.origin);
    if (!dh_object_describe(o, unit, g ? &g->die : NULL, size, &v))
        return false;
    *ret = v;
    return true;
}
