/*
 * origin.c - what a function or variable is in the source, whatever the compiler made of it: the names and
 * places that fingerprints consist of. They do not depend on where the source is stored, on inlining, or on
 * the machine that reads them; so names stay mangled.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "report/object.h"
#include "util/path.h"

enum { MAX_STEPS = 8 };

const char *dh_object_linkage(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attr));
    if (!name)
        name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr));
    return name;
}

/* Follows the references of an attribute to the end of the chain. */
static Dwarf_Die follow(const Dwarf_Die *die, unsigned name)
{
    Dwarf_Die at = *die, next;
    Dwarf_Attribute attr;
    for (int i = 0; i < MAX_STEPS && dwarf_formref_die(dwarf_attr(&at, name, &attr), &next); i++)
        at = next;
    return at;
}

/* ---- Files --------------------------------------------------------------------------------------------- */

/* The length of the directory prefix that two paths have in common. */
static size_t common_root(const char *a, const char *b)
{
    size_t root = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
        if (a[i] == '/')
            root = i + 1;
    }
    return root;
}

/* How many path components they have in common at the end. */
static size_t common_tail(const char *a, const char *b)
{
    size_t n = 0, i = strlen(a), j = strlen(b);
    while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) {
        n += a[i - 1] == '/';
        i--;
        j--;
    }
    return n;
}

/* Is there an entry of this kind and name, outside of other functions? */
static bool has_entry(Dwarf_Die *scope, int tag, const char *name)
{
    Dwarf_Die die;
    if (dwarf_child(scope, &die) != 0)
        return false;
    do {
        int found = dwarf_tag(&die);
        const char *linkage = found == tag ? dh_object_linkage(&die) : NULL;
        const char *plain = found == tag && !linkage ? dwarf_diename(&die) : linkage;
        if (plain && strcmp(plain, name) == 0)
            return true;
        if (found == DW_TAG_namespace && has_entry(&die, tag, name))
            return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* What distinguishes an entity of internal linkage declared in the file at `path` from others of the same
 * name: the base name of the file. If another file of that name declares one too, directories are added, but
 * no more than necessary: those further up depend on where the program was built. */
static const char *home_of(struct dh_object *o, const char *path, int tag, const char *name)
{
    if (!path || !name)
        return NULL;
    size_t root = strlen(path), tail = 0;
    for (size_t i = 0; i < o->n_units; i++) {
        struct dh_object_unit *unit = &o->units[i];
        if (!unit->name || strcmp(dh_path_base(unit->name), dh_path_base(path)) != 0)
            continue;
        const char *other = dh_path_join(o->arena, unit->dir, unit->name);
        if (strcmp(path, other) == 0 || !has_entry(&unit->die, tag, name))
            continue;
        size_t r = common_root(path, other), t = common_tail(path, other);
        root = r < root ? r : root;
        tail = t > tail ? t : tail;
    }
    const char *at = dh_path_base(path);
    for (; tail > 0 && at > path + root; tail--) {
        at--; /* the slash */
        while (at > path + root && at[-1] != '/')
            at--;
    }
    return at;
}

/* ---- Functions ----------------------------------------------------------------------------------------- */

bool dh_object_is_c(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
        return true;
    default:
        return false;
    }
}

static int line_of(Dwarf_Die *die)
{
    int line;
    return dwarf_decl_line(die, &line) == 0 ? line : 0;
}

/* The type of a parameter, in enough detail to distinguish overloads. */
static const char *type_text(struct dh_object *o, Dwarf_Die *parameter)
{
    const char *marks = "", *name = NULL;
    Dwarf_Attribute attr;
    Dwarf_Die at = *parameter, type;
    for (int i = 0; i < MAX_STEPS; i++) {
        if (!dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attr), &type) ||
            (name = dwarf_diename(&type)))
            break;
        int tag = dwarf_tag(&type);
        const char *mark = tag == DW_TAG_pointer_type            ? "*"
                           : tag == DW_TAG_reference_type        ? "&"
                           : tag == DW_TAG_rvalue_reference_type ? "&&"
                           : tag == DW_TAG_const_type            ? " const"
                                                                 : "?";
        marks = dh_arena_printf(o->arena, "%s%s", mark, marks);
        at = type;
    }
    return dh_arena_printf(o->arena, "%s%s", name ? name : "void", marks);
}

static const char *with_parameters(struct dh_object *o, Dwarf_Die *function, const char *name)
{
    const char *list = "";
    Dwarf_Die child;
    if (dwarf_child(function, &child) != 0)
        return dh_arena_printf(o->arena, "%s()", name);
    do {
        if (dwarf_tag(&child) == DW_TAG_formal_parameter && !dwarf_hasattr(&child, DW_AT_artificial))
            list = dh_arena_printf(o->arena, "%s%s%s", list, list[0] ? "," : "", type_text(o, &child));
    } while (dwarf_siblingof(&child, &child) == 0);
    return dh_arena_printf(o->arena, "%s(%s)", name, list);
}

/* GCC gives functions of internal linkage no linkage name, so their parameters and enclosing scopes are used
 * instead. Scopes inside a function may be unnamed, or have the same name, so their line in it is added. A
 * lambda's operator has no line: *ret_declared becomes the lambda. */
static const char *qualified(struct dh_object *o, Dwarf_Die *function, const char *name,
                             Dwarf_Die *ret_declared)
{
    Dwarf_Die declaration = follow(function, DW_AT_specification), *scopes;
    int below = line_of(function), n = dwarf_getscopes_die(&declaration, &scopes);
    name = with_parameters(o, &declaration, name);
    for (int i = 1; i + 1 < n; i++) { /* the last is the unit */
        const char *scope = dwarf_diename(&scopes[i]);
        int line = line_of(&scopes[i]);
        if (line && !below)
            *ret_declared = scopes[i];
        if (scope && line && below && dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            name = dh_arena_printf(o->arena, "%s+%d::%s", scope, below - line, name);
        else if (scope)
            name = dh_arena_printf(o->arena, "%s::%s", scope, name);
        below = line ? line : below;
    }
    if (n > 0)
        free(scopes);
    return name;
}

/* void *xmalloc(size_t), void *pool_get(struct pool *, int): the place where such a function calls malloc
 * says nothing about the memory. A thread's start routine returns void * too, but takes no number. */
static bool allocates(Dwarf_Die *function)
{
    Dwarf_Die type, child;
    if (!dh_object_type(function, &type) || dwarf_tag(&type) != DW_TAG_pointer_type ||
        dwarf_hasattr(&type, DW_AT_type) || dwarf_child(function, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_formal_parameter && dh_object_type(&child, &type) &&
            dwarf_tag(&type) == DW_TAG_base_type)
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

/* Functions generated by a compiler, such as the initialiser of a global, may be numbered: "init.1". */
static const char *unnumbered(struct dh_object *o, const char *name)
{
    const char *dot = name ? strchr(name, '.') : NULL;
    return dot ? dh_arena_dup(o->arena, name, (size_t)(dot - name)) : name;
}

void dh_object_origin(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die, const char *file,
                      struct dh_symbol_origin *ret)
{
    /* Copies of a function, inlined or not, may have a linkage name of their own (constructors do). */
    Dwarf_Die function = follow(die, DW_AT_abstract_origin), declared = function;
    bool external = dwarf_hasattr_integrate(&function, DW_AT_external);
    const char *linkage = dh_object_linkage(&function), *declared_in;
    const char *name = linkage ? linkage : dwarf_diename(&function);
    ret->name = name;
    if (name && !linkage && !external && !dh_object_is_c(&unit->die))
        ret->name = qualified(o, &function, name, &declared);
    dh_object_declared_at(o, unit, &declared, &declared_in, &ret->line);
    ret->artificial = !ret->line && dwarf_hasattr_integrate(&function, DW_AT_artificial);
    if (ret->artificial)
        ret->name = unnumbered(o, name);
    ret->home = external ? NULL : home_of(o, declared_in ? declared_in : file, DW_TAG_subprogram, name);
    ret->elsewhere = !file || !declared_in || strcmp(file, declared_in) != 0;
    ret->allocates = allocates(&function);
    ret->unit = unit;
    struct dh_object_source *source = dh_arena_alloc(o->arena, sizeof(*source));
    *source = (struct dh_object_source){o, unit, function};
    ret->source = source;
}

void dh_object_variable_origin(struct dh_object *o, struct dh_object_unit *unit, Dwarf_Die *die,
                               struct dh_symbol_origin *ret)
{
    const char *name = dh_object_linkage(die), *declared_in;
    if (!name)
        name = dwarf_diename(die);
    if (name)
        ret->name = name;
    dh_object_declared_at(o, unit, die, &declared_in, &ret->line);
    ret->home = dwarf_hasattr_integrate(die, DW_AT_external)
                    ? NULL
                    : home_of(o, declared_in, DW_TAG_variable, ret->name);
    ret->unit = unit;
}
