/*
 * types.c - see types.h. What is collected for a function or a file is cached in its object.
 */
#include "report/types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "util/path.h"

enum { MAX_TYPES = 500, MAX_STEPS = 2, MAX_PEELED = 16, MAX_NESTED = 8, MAX_BLOCKS = 32 };
enum { MAX_VISITS = 100000 }; /* of members: debug information may be of anybody's making */

bool dh_types_is_aggregate(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

struct dh_type dh_types_describe(struct dh_object *o, Dwarf_Die *type, const char *typedef_name)
{
    struct dh_type t = {.object = o, .die = *type, .name = dwarf_diename(type)};
    Dwarf_Word size;
    if (!t.name)
        t.name = typedef_name;
    t.complete = !dwarf_hasattr(type, DW_AT_declaration) && dwarf_aggregate_size(type, &size) == 0;
    t.size = t.complete ? size : 0;
    return t;
}

/* ---- Collecting ---------------------------------------------------------------------------------------- */

struct collector {
    struct dh_object *object;
    struct dh_types *set;
    size_t cap;
    u32 visits;
};

/* What is behind pointers, arrays and other names. */
struct end {
    Dwarf_Die type;
    int pointers; /* and references, on the way */
    bool constant;
    const char *typedef_name; /* that it goes by, if it has none of its own */
};

static bool find_end(const Dwarf_Die *die, struct end *ret)
{
    Dwarf_Die at = *die;
    *ret = (struct end){0};
    for (int i = 0; i < MAX_PEELED; i++) {
        Dwarf_Attribute attr;
        if (!dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attr), &at))
            return false; /* void */
        switch (dwarf_tag(&at)) {
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
            ret->pointers++;
            ret->constant = false;
            ret->typedef_name = NULL;
            break;
        case DW_TAG_typedef:
            ret->typedef_name = dwarf_diename(&at);
            break;
        case DW_TAG_array_type:
            ret->typedef_name = NULL;
            break;
        case DW_TAG_const_type:
            ret->constant = true;
            break;
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            break;
        default:
            ret->type = at;
            return true;
        }
    }
    return false;
}

static bool has_open_end(Dwarf_Die *type)
{
    Dwarf_Die member, last, end;
    Dwarf_Word size;
    bool any = false;
    if (dwarf_child(type, &member) != 0)
        return false;
    do {
        if (dwarf_tag(&member) == DW_TAG_member) {
            last = member;
            any = true;
        }
    } while (dwarf_siblingof(&member, &member) == 0);
    return any && dh_object_type(&last, &end) && dwarf_tag(&end) == DW_TAG_array_type &&
           (dwarf_aggregate_size(&end, &size) != 0 || size == 0);
}

static void add(struct collector *c, struct dh_type t)
{
    for (size_t i = 0; i < c->set->n; i++) {
        const struct dh_type *known = &c->set->types[i];
        if (t.scalar ? known->scalar && known->size == t.size : known->die.addr == t.die.addr)
            return;
    }
    if (c->set->n == MAX_TYPES)
        return;
    c->set->types = dh_util_grow(c->set->types, c->set->n, &c->cap, sizeof(*c->set->types));
    c->set->types[c->set->n++] = t;
}

static void add_scalar(struct collector *c, u64 size)
{
    add(c, (struct dh_type){.scalar = true, .complete = true, .size = size});
}

static void add_members(struct collector *c, Dwarf_Die *type, u8 steps, int nested);

/* What a variable, parameter or member points to; or, if it is a structure itself, what its members do. What
 * is constant is not what is raced on. */
static void add_pointed(struct collector *c, const Dwarf_Die *die, u8 steps, int nested)
{
    struct end end;
    Dwarf_Word size;
    if (++c->visits > MAX_VISITS || !find_end(die, &end))
        return;
    if (end.pointers > 1)
        add_scalar(c, sizeof(u64)); /* addresses themselves */
    if (!dh_types_is_aggregate(&end.type)) {
        if (end.pointers && !end.constant && dwarf_aggregate_size(&end.type, &size) == 0)
            add_scalar(c, size);
    } else if (end.pointers) {
        struct dh_type t = dh_types_describe(c->object, &end.type, end.typedef_name);
        t.open_ended = has_open_end(&end.type);
        t.steps = steps;
        add(c, t);
    } else if (nested < MAX_NESTED) { /* a structure in a structure is no further step */
        add_members(c, &end.type, nested ? steps : steps + 1, nested + 1);
    }
}

static void add_members(struct collector *c, Dwarf_Die *type, u8 steps, int nested)
{
    Dwarf_Die member;
    if (steps > MAX_STEPS || dwarf_child(type, &member) != 0)
        return;
    do {
        int tag = dwarf_tag(&member);
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !dwarf_hasattr(&member, DW_AT_artificial))
            add_pointed(c, &member, steps, nested);
    } while (dwarf_siblingof(&member, &member) == 0);
}

static void add_variables(struct collector *c, Dwarf_Die *scope, int depth)
{
    Dwarf_Die die;
    if (depth > MAX_BLOCKS || dwarf_child(scope, &die) != 0)
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_formal_parameter:
        case DW_TAG_variable:
            add_pointed(c, &die, 0, 0);
            break;
        case DW_TAG_lexical_block:
            add_variables(c, &die, depth + 1);
            break;
        default:
            break;
        }
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* Follow the pointers in what was found; what that finds is at the end, and its turn comes. */
static void follow_pointers(struct collector *c)
{
    for (size_t i = 0; i < c->set->n; i++) {
        struct dh_type t = c->set->types[i];
        if (t.complete && !t.scalar)
            add_members(c, &t.die, t.steps + 1, 1);
    }
}

static struct dh_types *new_set(struct dh_object *o, struct dh_object_unit *unit, const void *key)
{
    struct dh_types *set = dh_arena_alloc(o->arena, sizeof(*set));
    set->unit = unit;
    dh_map_put(&o->types, &key, sizeof(key), set);
    return set;
}

/* It has its final size: into the arena. */
static void keep(struct collector *c)
{
    struct dh_type *kept = dh_arena_array(c->object->arena, c->set->n, sizeof(*kept));
    if (c->set->n)
        memcpy(kept, c->set->types, c->set->n * sizeof(*kept));
    free(c->set->types);
    c->set->types = kept;
}

static const struct dh_types *of_globals(struct dh_object *o, struct dh_object_unit *unit)
{
    const void *key = unit;
    struct dh_types *known = dh_map_get(&o->types, &key, sizeof(key));
    if (known)
        return known;
    struct collector c = {.object = o, .set = new_set(o, unit, key)};
    for (size_t i = 0; i < unit->n_globals; i++)
        add_pointed(&c, &unit->globals[i].die, 0, 0);
    follow_pointers(&c);
    keep(&c);
    return c.set;
}

const struct dh_types *dh_types_around(const struct dh_symbol_frame *f)
{
    const struct dh_object_source *source = f->origin.source;
    if (!source)
        return NULL;
    struct dh_object *o = source->object;
    const void *key = source->function.addr;
    struct dh_types *known = dh_map_get(&o->types, &key, sizeof(key));
    if (known)
        return known;
    struct collector c = {.object = o, .set = new_set(o, source->unit, key)};
    Dwarf_Die function = source->function;
    add_variables(&c, &function, 0);
    add_pointed(&c, &function, 0, 0); /* its result */
    follow_pointers(&c);
    keep(&c);
    c.set->more = of_globals(o, source->unit);
    return c.set;
}

bool dh_types_is_system(const struct dh_types *set, const struct dh_type *t)
{
    Dwarf_Die type = t->die;
    const char *file;
    int line;
    dh_object_declared_at(t->object, set->unit, &type, &file, &line);
    return dh_path_is_system(file);
}

bool dh_types_returns_scalars(const struct dh_symbol_frame *f)
{
    struct end end;
    return f->origin.source && find_end(&f->origin.source->function, &end) && end.pointers &&
           (end.pointers > 1 || !dh_types_is_aggregate(&end.type));
}

/* ---- Names --------------------------------------------------------------------------------------------- */

static bool is_in_c(Dwarf_Die *type)
{
    Dwarf_Die unit;
    return dwarf_diecu(type, &unit, NULL, NULL) && dh_object_is_c(&unit);
}

/* To find the scopes of a type all of its unit is gone through, so the answer is remembered. */
const char *dh_types_plain_name(const struct dh_type *t)
{
    struct dh_object *o = t->object;
    Dwarf_Die type = t->die, *scopes;
    char *name = dh_map_get(&o->type_names, &type.addr, sizeof(type.addr));
    if (name)
        return name;
    name = dh_arena_strdup(o->arena, t->name ? t->name : "?");
    int n = is_in_c(&type) ? 0 : dwarf_getscopes_die(&type, &scopes);
    for (int i = 1; i < n; i++) {
        const char *scope = dwarf_diename(&scopes[i]);
        if (dwarf_tag(&scopes[i]) == DW_TAG_namespace)
            name = dh_arena_printf(o->arena, "%s::%s", scope ? scope : "(anonymous namespace)", name);
        else if (dh_types_is_aggregate(&scopes[i]) && scope)
            name = dh_arena_printf(o->arena, "%s::%s", scope, name);
    }
    if (n > 0)
        free(scopes);
    dh_map_put(&o->type_names, &type.addr, sizeof(type.addr), name);
    return name;
}

const char *dh_types_name(struct dh_arena *arena, const struct dh_type *t)
{
    Dwarf_Die type = t->die;
    bool tagged = dwarf_diename(&type) && is_in_c(&type);
    const char *kind = dwarf_tag(&type) == DW_TAG_union_type ? "union " : "struct ";
    return dh_arena_printf(arena, "%s%s", tagged ? kind : "", dh_types_plain_name(t));
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool dh_types_same(const struct dh_type *a, const struct dh_type *b)
{
    int line_a = 0, line_b = 0;
    Dwarf_Die x = a->die, y = b->die;
    if (a->scalar || b->scalar)
        return a->scalar && b->scalar && a->size == b->size;
    if (x.addr == y.addr)
        return true;
    if (!a->name || !same_text(a->name, b->name))
        return false;
    if (a->complete && b->complete &&
        (x.cu == y.cu || a->size != b->size || dwarf_decl_line(&x, &line_a) != dwarf_decl_line(&y, &line_b) ||
         line_a != line_b))
        return false; /* a unit describes no type twice */
    return strcmp(dh_types_plain_name(a), dh_types_plain_name(b)) == 0;
}
