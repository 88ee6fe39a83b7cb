/*
 * view_list.c - which units are listed, and the list of the page: see view.h.
 */
#include <stdlib.h>
#include <string.h>

#include "hive/view.h"

/* ---- Searching ---- */

enum { TEXTS = 8 };

/* What is searched: names and places of both accesses, the variable, and the id. */
static size_t texts_of(const struct dh_hive_state *s, u32 unit, u32 build, char id[17],
                       const char *ret[TEXTS])
{
    const struct dh_hive_unit *u = &s->units[unit];
    u32 slot = dh_hive_find_slot(s, build, unit);
    size_t n = 0, n_variables;
    ret[n++] = dh_hive_id_text(u->id, id);
    if (slot == DH_HIVE_NONE)
        return n;
    const struct dh_pairs *t = s->builds[build].table;
    for (int side = 0; side < 2; side++) {
        u32 site = dh_pairs_find_site(t, u->sites[side]);
        if (site == DH_PAIRS_NONE)
            continue;
        ret[n++] = t->sites[site].function;
        ret[n++] = t->sites[site].at.file;
    }
    const u32 *variables =
        dh_pairs_items(t, t->pairs[s->builds[build].slots[slot].pair].variables, &n_variables);
    if (n_variables) {
        ret[n++] = t->variables[variables[0]].name;
        ret[n++] = t->variables[variables[0]].path;
        ret[n++] = t->variables[variables[0]].type;
    }
    return n;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool occurs(const char *word, size_t len, const char *text)
{
    for (; *text; text++) {
        size_t i = 0;
        while (i < len && lower(text[i]) == lower(word[i]) && text[i])
            i++;
        if (i == len)
            return true;
    }
    return false;
}

/* C++ names are searched in mangled form, so the parts between colons are separate words. */
static bool is_found(const struct dh_hive_state *s, u32 unit, u32 build, const char *search)
{
    static const char between[] = " \t:";
    const struct dh_hive_unit *u = &s->units[unit];
    const char *texts[TEXTS];
    char id[17];
    u32 in = build != DH_HIVE_NONE ? build : u->n_in ? u->in[u->n_in - 1].build : DH_HIVE_NONE;
    size_t n = in == DH_HIVE_NONE ? 0 : texts_of(s, unit, in, id, texts), len;
    for (search += strspn(search, between); *search; search += strspn(search, between)) {
        bool found = false;
        len = strcspn(search, between);
        for (size_t i = 0; i < n && !found; i++)
            found = occurs(search, len, texts[i]);
        if (!found)
            return false;
        search += len;
    }
    return true;
}

/* ---- Listing ---- */

static bool is_meant(const struct dh_hive_state *s, u32 unit, const struct dh_hive_filter *f)
{
    const struct dh_hive_unit *u = &s->units[unit];
    return (f->program == DH_HIVE_NONE || u->program == f->program) &&
           (f->build == DH_HIVE_NONE || dh_hive_find_slot(s, f->build, unit) != DH_HIVE_NONE) &&
           (!f->search || is_found(s, unit, f->build, f->search));
}

static bool is_of_kind(const struct dh_hive_unit *u, const struct dh_hive_filter *f)
{
    return (f->kind == DH_HIVE_ANY || (f->kind == DH_HIVE_BUNDLES) == u->bundle) &&
           (f->verdict < 0 || (!u->bundle && (int)dh_hive_judge(&u->tally).verdict == f->verdict));
}

bool dh_hive_view_lists(const struct dh_hive_state *s, u32 unit, const struct dh_hive_filter *f)
{
    return is_of_kind(&s->units[unit], f) && is_meant(s, unit, f);
}

struct ranked {
    u32 unit;
    u32 rank; /* less comes first */
};

static u32 rank_of(const struct dh_hive_unit *u)
{
    struct dh_hive_judgement j = dh_hive_judge(&u->tally);
    if (u->bundle)
        return 9;
    if (j.verdict == DH_HIVE_TRUE_RACE)
        return j.crash ? 0 : j.hang ? 1 : j.both_orders ? 2 : 3;
    return j.verdict == DH_HIVE_UNKNOWN ? 4 : 5;
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->unit > y->unit) - (x->unit < y->unit);
}

json_t *dh_hive_view_ranked(const struct dh_hive_state *s, const struct dh_hive_filter *f)
{
    struct ranked *all = NULL;
    size_t n = 0, cap = 0;
    json_int_t verdicts[DH_HIVE_VERDICTS] = {0}, bundles = 0;
    for (u32 i = 0; i < s->n_units; i++) {
        const struct dh_hive_unit *u = &s->units[i];
        if (!is_meant(s, i, f))
            continue;
        if (u->bundle)
            bundles++;
        else
            verdicts[dh_hive_judge(&u->tally).verdict]++;
        if (!is_of_kind(u, f))
            continue;
        all = dh_util_grow(all, n, &cap, sizeof(*all));
        all[n++] = (struct ranked){i, rank_of(u)};
    }
    if (n)
        qsort(all, n, sizeof(*all), by_rank);
    json_t *list = json_array(), *counts = json_object();
    u64 end = f->after < n && f->limit < n - f->after ? f->after + f->limit : n;
    for (u64 i = f->after; i < end; i++) {
        json_t *unit = dh_hive_view_unit(s, all[i].unit, f->build);
        dh_hive_view_describe(s, all[i].unit, f->build, unit);
        json_array_append_new(list, unit);
    }
    free(all);
    for (int i = 0; i < DH_HIVE_VERDICTS; i++)
        json_object_set_new(counts, dh_hive_verdicts[i], json_integer(verdicts[i]));
    json_object_set_new(counts, "bundles", json_integer(bundles));
    json_t *o = json_pack("{s:o, s:I, s:o}", "candidates", list, "total", (json_int_t)n, "counts", counts);
    if (!o)
        dh_util_no_memory();
    return o;
}
