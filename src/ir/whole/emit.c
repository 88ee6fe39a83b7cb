/*
 * emit.c - writes the results to the table of report/pairs.h: sites, variables, locks, entries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/whole/bundle.h"
#include "ir/whole/code.h"
#include "ir/whole/shim_whole.h"
#include "ir/whole/whole.h"

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

/* Few sets of roots are different, and a root of a large program may have thousands of sharers. */
static u32 entries(struct dh_w_races *r, u64 roots)
{
    struct numbers all = {.n = 0};
    u32 known = dh_w_table_get(&r->entries_of, DH_W_KEY(roots));
    if (known != DH_W_TABLE_NONE)
        return known;
    for (u32 i = 0; i < r->w->n_roots; i++)
        if (roots >> i & 1)
            add_number(&all, r->entry[i]);
    for (size_t i = 0; i < r->w->n_sharers; i++)
        if (roots >> r->w->sharers[i].root & 1)
            add_number(&all, r->sharer_entry[i]);
    known = dh_pairs_add_list(r->w->pairs, all.at, all.n);
    dh_w_table_put(&r->entries_of, DH_W_KEY(roots), known);
    return known;
}

/* ---- objects ---- */

static struct dh_pairs_variable variable_of(struct dh_w_races *r, u32 object, u32 offset)
{
    struct dh_w *w = r->w;
    const struct dh_w_object *o = &w->objects[object];
    struct dh_pairs_variable v = {
        .name = "", .path = "", .type = "", .function = "", .at = {.file = "", .dir = ""}};
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
        v.function = dh_w_project_place(w, o->value, &v.at);
        v.function = v.function[0] == '\0' ? w->fns[w->insts[o->inst].fn].name : v.function;
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
    if (!dh_w_held_spot(&r->flow->locks, held, &spot)) {
        struct dh_pairs_lock unnamed = {.kind = h->kind, .name = "(one of several)"};
        return dh_pairs_add_lock(w->pairs, &unnamed);
    }
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

/* Several accesses in the code are one in the source: a member of a structure that is copied, a loop that was
 * unrolled, a function that was inlined twice, all that an operation of the C++ library does which was
 * inlined into a line of the program. They become one site, and so do their pairs. */
struct sites {
    struct dh_w_races *r;
    bool *used;                /* for each site: it is in a pair */
    u32 *first;                /* for each site: the first that is the same in the source */
    struct dh_pairs_site *say; /* what is said of it, if it is the first */
    u32 *number;               /* in the result, if it is the first */
    struct dh_w_table lists;   /* by the sites of a side of a bundle: in the result */
    struct dh_w_codes codes;
};

static struct dh_pairs_site describe(struct sites *s, u32 site)
{
    struct dh_w *w = s->r->w;
    const struct dh_w_fn *fn = &w->fns[w->sites[site]];
    const struct dh_w_op *op = &fn->ops[w->site_ops[site]];
    bool second = site != op->site;
    size_t len;
    struct dh_pairs_place at;
    const char *function = dh_w_project_place(w, op->inst, &at);
    function = function[0] == '\0' ? fn->name : function;
    const char *module = dh_shim_unit(fn->value, &len);
    module = len == 0 ? "" : dh_arena_dup(&w->arena, module, len);
    return (struct dh_pairs_site){.module = module,
                                  .code = dh_w_codes_of(&s->codes, module, function),
                                  .function = function,
                                  .host = strcmp(function, fn->name) == 0 ? "" : fn->name,
                                  .at = at,
                                  .access = second ? op->access_b : op->access,
                                  .size = op->length == DH_PTS_ANY ? 0 : op->length};
}

static void add_source(struct sites *s, struct dh_map *seen, u32 site)
{
    struct dh_pairs_site say = describe(s, site);
    const char *key = dh_arena_printf(&s->r->w->arena, "%s\n%s\n%s\n%u:%u:%u", say.module, say.function,
                                      say.at.file, say.at.line, say.at.column, say.access);
    u32 *known = say.at.line == 0 ? NULL : dh_map_get(seen, key, strlen(key));
    s->first[site] = known == NULL ? site : *known;
    if (known == NULL) {
        s->say[site] = say;
        dh_map_put(seen, key, strlen(key), &s->first[site]);
    } else if (s->say[*known].size != say.size) {
        s->say[*known].size = 0;
    }
}

static void find_sources(struct sites *s)
{
    struct dh_w *w = s->r->w;
    struct dh_map seen;
    struct dh_w_table seen_lists = {0}; /* bundles share them */
    s->used = dh_arena_array(&w->arena, w->n_sites, sizeof *s->used);
    s->first = dh_arena_array(&w->arena, w->n_sites, sizeof *s->first);
    s->say = dh_arena_array(&w->arena, w->n_sites, sizeof *s->say);
    s->number = dh_arena_array(&w->arena, w->n_sites, sizeof *s->number);
    for (size_t i = 0; i < s->r->n_found; i++)
        for (int k = 0; k < 2; k++) {
            const struct dh_w_found *f = &s->r->found[i];
            struct dh_w_key key = DH_W_KEY((u64)(uptr)f->alike[k]);
            s->used[f->site[k]] = true;
            if (f->n_alike[k] == 0 || dh_w_table_get(&seen_lists, key) != DH_W_TABLE_NONE)
                continue;
            dh_w_table_put(&seen_lists, key, 0);
            for (u32 j = 0; j < f->n_alike[k]; j++)
                s->used[f->alike[k][j]] = true;
        }
    dh_w_table_done(&seen_lists);
    dh_map_init(&seen, &w->arena);
    for (u32 i = 0; i < w->n_sites; i++)
        if (s->used[i])
            add_source(s, &seen, i);
    dh_map_done(&seen);
    for (u32 i = 0; i < w->n_sites; i++)
        if (s->used[i] && s->first[i] == i)
            s->number[i] = dh_pairs_add_site(w->pairs, &s->say[i]);
}

/* ---- pairs ---- */

static int by_sites(const void *a, const void *b)
{
    const struct dh_w_found *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->site[i] != y->site[i])
            return x->site[i] < y->site[i] ? -1 : 1;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void to_source(const struct sites *s, struct dh_w_found *f)
{
    struct dh_w_found old = *f;
    bool turn = s->first[old.site[0]] > s->first[old.site[1]];
    for (int i = 0; i < 2; i++) {
        int from = turn ? !i : i;
        f->site[i] = s->first[old.site[from]];
        f->locks[i] = old.locks[from];
        f->roots[i] = old.roots[from];
    }
}

static int by_number(const void *a, const void *b)
{
    const u32 *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sites of a side of a bundle but its own, as a list. */
static u32 more_sites(struct sites *s, const struct dh_w_found *f, int side)
{
    struct dh_w *w = s->r->w;
    struct dh_w_key key = DH_W_KEY((u64)(uptr)f->alike[side]);
    u32 known = f->n_alike[side] == 0 ? DH_W_TABLE_NONE : dh_w_table_get(&s->lists, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    u32 *all = dh_util_alloc((f->n_alike[side] + 1) * sizeof *all), n = 0, kept = 0;
    for (u32 i = 0; i < f->n_alike[side]; i++)
        all[n++] = s->number[s->first[f->alike[side][i]]];
    qsort(all, n, sizeof *all, by_number);
    for (u32 i = 0; i < n; i++)
        if (all[i] != s->number[f->site[side]] && (kept == 0 || all[kept - 1] != all[i]))
            all[kept++] = all[i];
    u32 list = dh_pairs_add_list(w->pairs, all, kept);
    free(all);
    if (f->n_alike[side] > 0)
        dh_w_table_put(&s->lists, key, list);
    return list;
}

/* Pairs that assumptions drop from relay; a bundle counts once, since bundles overlap. */
static void count_dropped(struct dh_w *w, u32 flags, LLVMValueRef where)
{
    static const struct {
        u32 flag;
        enum dh_w_assumption what;
    } all[] = {{DH_PAIRS_IF_PUBLISHED, DH_W_ASSUME_PUBLISHED},
               {DH_PAIRS_IF_MEMBERS, DH_W_ASSUME_MEMBERS},
               {DH_PAIRS_IF_OWNED, DH_W_ASSUME_OWNED},
               {DH_PAIRS_IF_EXIT, DH_W_ASSUME_EXIT},
               {DH_PAIRS_IF_CALLBACKS, DH_W_ASSUME_CALLBACKS}};
    for (size_t i = 0; i < DH_ARRAY_LEN(all) && (flags & DH_PAIRS_RELAY); i++)
        if (flags & all[i].flag)
            dh_w_assume(w, all[i].what, 1, where);
}

/* Whatever is found of one pair of sites. */
static void add_pair(struct sites *s, const struct dh_w_found *all, size_t n)
{
    enum { MAX_VARIABLES = 8 };
    struct dh_w_races *r = s->r;
    struct dh_w *w = r->w;
    struct dh_w_found f = all[0];
    struct dh_pairs_pair p = {.note = ""};
    struct numbers variables = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        struct dh_pairs_variable v = variable_of(r, all[i].object, all[i].offset);
        if (variables.n < MAX_VARIABLES)
            add_number(&variables, dh_pairs_add_variable(w->pairs, &v));
        if (v.storage == DH_PAIRS_UNKNOWN)
            p.reasons |= DH_PAIRS_BY_OUTSIDE;
        if (!dh_w_single(w, all[i].object) || dh_pts_folded(w->pts, all[i].object, all[i].offset))
            p.reasons |= DH_PAIRS_BY_MAY_ALIAS;
        f.flags |= all[i].flags;
        for (int k = 0; k < DH_W_STYLES; k++)
            f.unless[k] |= all[i].unless[k];
        p.reasons |= all[i].reasons;
        for (int k = 0; k < 2; k++) {
            f.locks[k] = dh_w_set_meet(&r->flow->locks, f.locks[k], all[i].locks[k]);
            f.roots[k] |= all[i].roots[k];
        }
    }
    p.flags = f.flags;
    if (f.flags & DH_PAIRS_RELAY)
        p.flags |= DH_PAIRS_IFS & ~f.unless[DH_W_RELAY];
    if (f.flags & DH_PAIRS_SOUND)
        p.flags |= (DH_PAIRS_IFS & ~f.unless[DH_W_SOUND]) << DH_PAIRS_FOR_SOUND;
    LLVMValueRef where = w->fns[w->sites[f.site[0]]].ops[w->site_ops[f.site[0]]].inst;
    count_dropped(w, p.flags, where);
    if (f.flags & DH_PAIRS_AD_HOC)
        p.note =
            "a loop waits for this flag: the program synchronises with it, but nothing orders the accesses";
    for (int i = 0; i < 2; i++)
        p.side[i] =
            (struct dh_pairs_side){s->number[f.site[i]], locks(r, f.locks[i]), entries(r, f.roots[i])};
    for (int i = 0; i < 2; i++)
        p.alike[i] = more_sites(s, &f, i);
    p.variables = dh_pairs_add_list(w->pairs, variables.at, variables.n);
    dh_pairs_add_pair(w->pairs, &p);
}

/* Bundles are not sorted: they come in the order of their classes. */
static void add_bundles(struct sites *s)
{
    struct dh_w_races *r = s->r;
    u64 n[DH_W_STYLES];
    u32 *number = dh_arena_array(&r->w->arena, r->w->n_sites, sizeof *number);
    for (size_t i = 0; i < r->n_found; i++) {
        for (int k = 0; k < 2; k++)
            r->found[i].site[k] = s->first[r->found[i].site[k]];
        add_pair(s, &r->found[i], 1);
    }
    dh_w_table_done(&s->lists);
    for (u32 i = 0; i < r->w->n_sites; i++)
        number[i] = s->number[s->first[i]];
    dh_w_bundle_count(r, number, n);
    dh_pairs_add_counter(r->w->pairs, DH_PAIRS_COUNT_RELAY, n[DH_W_RELAY]);
    dh_pairs_add_counter(r->w->pairs, DH_PAIRS_COUNT_SOUND, n[DH_W_SOUND]);
}

/* ---- who is told ---- */

/* Sites in a pair of the set sound, by their first. */
static bool *sites_of_sound(const struct sites *s)
{
    struct dh_w *w = s->r->w;
    struct dh_w_table seen = {0}; /* bundles share their lists */
    bool *in = dh_arena_array(&w->arena, w->n_sites, sizeof *in);
    for (size_t i = 0; i < s->r->n_found; i++) {
        const struct dh_w_found *f = &s->r->found[i];
        for (int k = 0; k < 2 && (f->flags & DH_PAIRS_SOUND); k++) {
            struct dh_w_key key = DH_W_KEY((u64)(uptr)f->alike[k]);
            in[s->first[f->site[k]]] = true;
            if (f->n_alike[k] == 0 || dh_w_table_get(&seen, key) != DH_W_TABLE_NONE)
                continue;
            dh_w_table_put(&seen, key, 0);
            for (u32 j = 0; j < f->n_alike[k]; j++)
                in[s->first[f->alike[k][j]]] = true;
        }
    }
    dh_w_table_done(&seen);
    return in;
}

static void tell(const struct sites *s, const struct dh_whole_sites *to)
{
    const struct dh_w *w = s->r->w;
    const bool *in = sites_of_sound(s);
    for (u32 i = 0; i < w->n_sites; i++) {
        const struct dh_w_op *op = &w->fns[w->sites[i]].ops[w->site_ops[i]];
        unsigned which = op->kind != DH_W_MEMCPY ? DH_WHOLE_TO | DH_WHOLE_FROM
                         : i == op->site         ? DH_WHOLE_TO
                                                 : DH_WHOLE_FROM;
        if (s->used[i] && in[s->first[i]])
            to->site(to->arg, op->inst, which, which == DH_WHOLE_FROM ? op->access_b : op->access,
                     s->number[s->first[i]]);
    }
}

static void add_pairs(struct sites *s)
{
    struct dh_w_races *r = s->r;
    if (r->found[0].n_alike[0] > 0) {
        add_bundles(s);
        return;
    }
    for (size_t i = 0; i < r->n_found; i++)
        to_source(s, &r->found[i]);
    qsort(r->found, r->n_found, sizeof *r->found, by_sites);
    for (size_t i = 0, end; i < r->n_found; i = end) {
        for (end = i; end < r->n_found && r->found[end].site[0] == r->found[i].site[0] &&
                      r->found[end].site[1] == r->found[i].site[1];)
            end++;
        add_pair(s, &r->found[i], end - i);
    }
}

void dh_w_emit(struct dh_w_races *r, const struct dh_whole_sites *to)
{
    struct sites s = {.r = r};
    add_entries(r);
    if (r->n_found == 0)
        return;
    dh_w_types_find(r);
    dh_w_codes_init(&s.codes, r->w->module);
    find_sources(&s);
    dh_w_codes_done(&s.codes);
    if (to != NULL)
        tell(&s, to);
    add_pairs(&s);
}
