/*
 * emit.c - what was found, in the words of report/pairs.h: sites, variables, locks, entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/whole/race.h"
#include "ir/whole/shim_whole.h"

static const char *name_of(LLVMValueRef value)
{
    size_t len;
    return value == NULL ? "" : LLVMGetValueName2(value, &len);
}

static const char *called_name(LLVMValueRef call)
{
    return name_of(LLVMGetCalledValue(call));
}

/* ---- entries ---- */

static u32 add_entry(struct dh_w_races *r, u8 kind, bool many, u32 fn, u32 creator, LLVMValueRef site)
{
    struct dh_w *w = r->w;
    struct dh_pairs_entry e = {.kind = kind,
                               .many = many,
                               .function = fn == DH_W_NONE ? "" : w->fns[fn].name,
                               .creator = creator == DH_W_NONE ? "" : w->fns[w->insts[creator].fn].name,
                               .api = site == NULL ? "" : called_name(site),
                               .at = dh_w_place(w, site != NULL      ? site
                                                   : fn == DH_W_NONE ? NULL
                                                                     : w->fns[fn].value)};
    return dh_pairs_add_entry(w->pairs, &e);
}

static void add_entries(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    for (size_t i = 0; i < w->n_roots; i++) {
        const struct dh_w_root *root = &w->roots[i];
        r->entry[i] =
            add_entry(r, root->kind, r->flow->many[i][DH_W_SOUND], root->fn, root->creator, root->site);
    }
    r->sharer_entry = dh_arena_array(&w->arena, w->n_sharers, sizeof *r->sharer_entry);
    for (size_t i = 0; i < w->n_sharers; i++) {
        const struct dh_w_sharer *s = &w->sharers[i];
        LLVMValueRef site = w->fns[w->insts[s->creator].fn].ops[s->op].inst;
        r->sharer_entry[i] = add_entry(r, w->roots[s->root].kind, true, s->fn, s->creator, site);
    }
}

struct numbers {
    u32 at[2 * DH_W_MAX_ROOTS];
    size_t n;
};

static void add_number(struct numbers *all, u32 number)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i] == number)
            return;
    if (all->n < DH_ARRAY_LEN(all->at))
        all->at[all->n++] = number;
}

static u32 entries(struct dh_w_races *r, u64 roots)
{
    struct numbers all = {.n = 0};
    for (u32 i = 0; i < r->w->n_roots; i++)
        if (roots >> i & 1)
            add_number(&all, r->entry[i]);
    for (size_t i = 0; i < r->w->n_sharers; i++)
        if (roots >> r->w->sharers[i].root & 1)
            add_number(&all, r->sharer_entry[i]);
    return dh_pairs_add_list(r->w->pairs, all.at, all.n);
}

/* ---- objects ---- */

static struct dh_pairs_variable variable_of(struct dh_w_races *r, u32 object, u32 offset)
{
    struct dh_w *w = r->w;
    const struct dh_w_object *o = &w->objects[object];
    struct dh_pairs_variable v = {.name = "", .path = "", .type = "", .function = "", .at = {"", "", 0, 0}};
    switch (o->kind) {
    case DH_W_GLOBAL:
    case DH_W_THREAD_LOCAL:
        v.storage = o->kind == DH_W_GLOBAL ? DH_PAIRS_GLOBAL : DH_PAIRS_THREAD_LOCAL;
        v.name = name_of(o->value);
        v.at = dh_w_place(w, o->value);
        break;
    case DH_W_STACK:
        v.storage = DH_PAIRS_STACK;
        v.name = name_of(o->value);
        v.function = w->fns[w->insts[o->inst].fn].name;
        break;
    case DH_W_HEAP:
        v.storage = DH_PAIRS_HEAP;
        v.name = called_name(o->value);
        v.function = w->fns[w->insts[o->inst].fn].name;
        v.at = dh_w_place(w, o->value);
        break;
    default:
        v.storage = DH_PAIRS_UNKNOWN;
        v.name = name_of(o->value);
        break;
    }
    if (offset != 0 && offset != DH_PTS_ANY)
        v.path = dh_arena_printf(&w->arena, "+%u", offset);
    dh_w_types_describe(r, object, offset, &v);
    return v;
}

static u32 lock_of(struct dh_w_races *r, u32 held)
{
    struct dh_w *w = r->w;
    const struct dh_w_held *h = dh_w_held(&r->flow->locks, held);
    u64 spot;
    if (!dh_w_held_spot(&r->flow->locks, held, &spot))
        return DH_PAIRS_NONE;
    struct dh_pairs_variable v = variable_of(r, (u32)(spot >> 32), (u32)spot);
    const char *name = v.storage == DH_PAIRS_HEAP
                           ? dh_arena_printf(&w->arena, v.type[0] ? "(%s)%s" : "(block from %s)%s",
                                             v.type[0] ? v.type : v.function, v.path)
                           : dh_arena_printf(&w->arena, "%s%s", v.name, v.path);
    struct dh_pairs_lock l = {.kind = h->kind,
                              .single = dh_w_single(w, (u32)(spot >> 32)) &&
                                        !dh_pts_folded(w->pts, (u32)(spot >> 32), (u32)spot),
                              .name = name,
                              .at = v.at};
    return dh_pairs_add_lock(w->pairs, &l);
}

static u32 locks(struct dh_w_races *r, u32 set)
{
    u32 items[64];
    size_t n, count = 0;
    const u32 *at = dh_w_set(&r->flow->locks, set, &n);
    for (size_t i = 0; i < n; i++) {
        u32 lock = lock_of(r, at[i]);
        if (lock != DH_PAIRS_NONE)
            items[count++] = dh_pairs_held(lock, dh_w_held(&r->flow->locks, at[i])->shared);
    }
    return dh_pairs_add_list(r->w->pairs, items, count);
}

/* ---- sites ---- */

static u32 add_site(struct dh_w_races *r, u32 site)
{
    struct dh_w *w = r->w;
    const struct dh_w_fn *fn = &w->fns[w->sites[site]];
    const struct dh_w_op *op = &fn->ops[w->site_ops[site]];
    bool second = site != op->site;
    size_t len;
    const char *function = dh_shim_source_function(op->inst, &len);
    function = len == 0 ? fn->name : dh_arena_dup(&w->arena, function, len);
    const char *module = dh_shim_unit(fn->value, &len);
    struct dh_pairs_site s = {.module = len == 0 ? "" : dh_arena_dup(&w->arena, module, len),
                              .function = function,
                              .host = strcmp(function, fn->name) == 0 ? "" : fn->name,
                              .at = dh_w_place(w, op->inst),
                              .access = second ? op->access_b : op->access,
                              .size = op->length == DH_PTS_ANY ? 0 : op->length};
    return dh_pairs_add_site(w->pairs, &s);
}

static int by_sites(const void *a, const void *b)
{
    const struct dh_w_found *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->site[i] != y->site[i])
            return x->site[i] < y->site[i] ? -1 : 1;
    return 0;
}

static void add_pair(struct dh_w_races *r, const struct dh_w_found *f, const u32 *number)
{
    struct dh_w *w = r->w;
    struct dh_pairs_variable v = variable_of(r, f->object, f->offset);
    u32 variable = dh_pairs_add_variable(w->pairs, &v);
    const u32 all = DH_PAIRS_IF_BARRIERS | DH_PAIRS_IF_PARTITION | DH_PAIRS_IF_PUBLISHED;
    struct dh_pairs_pair p = {.flags = f->flags | (all & ~f->unless), .reasons = f->reasons, .note = ""};
    if (v.storage == DH_PAIRS_UNKNOWN)
        p.reasons |= DH_PAIRS_BY_OUTSIDE;
    if (!dh_w_single(w, f->object) || dh_pts_folded(w->pts, f->object, f->offset))
        p.reasons |= DH_PAIRS_BY_MAY_ALIAS;
    if (f->flags & DH_PAIRS_AD_HOC)
        p.note =
            "a loop waits for this flag: the program synchronises with it, but nothing orders the accesses";
    for (int i = 0; i < 2; i++)
        p.side[i] =
            (struct dh_pairs_side){number[f->site[i]], locks(r, f->locks[i]), entries(r, f->roots[i])};
    p.variables = dh_pairs_add_list(w->pairs, &variable, 1);
    dh_pairs_add_pair(w->pairs, &p);
}

void dh_w_emit(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    add_entries(r);
    if (r->n_found == 0)
        return;
    qsort(r->found, r->n_found, sizeof *r->found, by_sites);
    dh_w_types_find(r);
    bool *used = dh_arena_array(&w->arena, w->n_sites, sizeof *used);
    u32 *number = dh_arena_array(&w->arena, w->n_sites, sizeof *number);
    for (size_t i = 0; i < r->n_found; i++)
        used[r->found[i].site[0]] = used[r->found[i].site[1]] = true;
    for (u32 s = 0; s < w->n_sites; s++)
        if (used[s])
            number[s] = add_site(r, s);
    for (size_t i = 0; i < r->n_found; i++)
        add_pair(r, &r->found[i], number);
    dh_w_types_done(r);
}
