/*
 * types.c - what the objects are in the source, for the names in the result.
 *
 * Globals and locals have their type in the debug information. A heap block has the type as which it is
 * accessed: of the structs that accesses at the same offset name, the largest, since a pointer to the
 * first member of a struct has the struct's address too. Only names depend on it.
 */
#include <stdlib.h>

#include "ir/whole/race.h"
#include "ir/whole/shim_types.h"

enum { NAME = 256 };

static LLVMValueRef instruction(const struct dh_w *w, u32 site)
{
    return w->fns[w->sites[site]].ops[w->site_ops[site]].inst;
}

static void learn(struct dh_w_races *r, u32 object, u32 offset, LLVMValueRef inst)
{
    unsigned long long at;
    const void *type = dh_shim_types_access(r->w->known, inst, &at);
    const void **best = &r->object_types[object];
    if (type && at == offset &&
        (!*best || dh_shim_type_size(r->w->known, type) > dh_shim_type_size(r->w->known, *best)))
        *best = type;
}

void dh_w_types_find(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    r->object_types = dh_arena_array(&w->arena, w->n_objects + 1, sizeof *r->object_types);
    for (size_t i = 0; i < r->n_found; i++) {
        const struct dh_w_found *f = &r->found[i];
        if (w->objects[f->object].kind == DH_W_HEAP)
            for (int k = 0; k < 2; k++)
                learn(r, f->object, f->offset, instruction(w, f->site[k]));
    }
}

static const char *text(struct dh_w *w, const char *s, size_t n)
{
    return n ? dh_arena_dup(&w->arena, s, n) : "";
}

/* Whether debug information knows the variable; then its name is that of the source. */
static bool declared(struct dh_w *w, LLVMValueRef value, struct dh_shim_variable *ret,
                     struct dh_pairs_variable *v)
{
    bool global = v->storage == DH_PAIRS_GLOBAL || v->storage == DH_PAIRS_THREAD_LOCAL;
    bool local = v->storage == DH_PAIRS_STACK && LLVMIsAAllocaInst(value) != NULL;
    if (!(global && dh_shim_types_global(value, ret)) && !(local && dh_shim_types_local(value, ret)))
        return false;
    v->name = text(w, ret->name, ret->name_len);
    v->at = (struct dh_pairs_place){.file = text(w, ret->file, ret->file_len),
                                    .dir = text(w, ret->dir, ret->dir_len),
                                    .line = ret->line,
                                    .internal = global && ret->internal};
    return true;
}

void dh_w_types_describe(struct dh_w_races *r, u32 object, u32 offset, struct dh_pairs_variable *v)
{
    struct dh_w *w = r->w;
    struct dh_shim_variable variable = {.type = r->object_types[object]};
    char name[NAME];
    if (!declared(w, w->objects[object].value, &variable, v) && !variable.type)
        return;
    dh_shim_type_name(variable.type, name, sizeof name);
    v->type = dh_arena_strdup(&w->arena, name);
    if (offset == DH_PTS_ANY)
        return;
    dh_shim_type_path(r->w->known, variable.type, offset + variable.offset, name, sizeof name);
    if (name[0])
        v->path = dh_arena_strdup(&w->arena, name);
}
