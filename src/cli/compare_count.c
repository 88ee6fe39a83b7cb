/*
 * compare_count.c - counts what the detectors found, and compares them with each other.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"

void dh_compare_add(struct dh_compare *c, struct dh_compare_row *row, const char *variable, const char *a,
                    bool a_write, const char *b, bool b_write)
{
    struct dh_compare_warning w = {dh_arena_strdup(&c->arena, variable),
                                   {dh_arena_strdup(&c->arena, a), dh_arena_strdup(&c->arena, b)},
                                   {a_write, b_write}};
    if (strcmp(a, b) > 0) {
        const char *site = w.site[0];
        w.site[0] = w.site[1];
        w.site[1] = site;
        w.write[0] = b_write;
        w.write[1] = a_write;
    }
    row->warnings = dh_util_grow(row->warnings, row->n_warnings, &row->cap_warnings, sizeof(w));
    row->warnings[row->n_warnings++] = w;
}

const char *dh_compare_unnamed(struct dh_arena *arena, const char *a, const char *b)
{
    bool first = strcmp(b, "?") == 0 || (strcmp(a, "?") != 0 && strcmp(a, b) < 0);
    return dh_arena_printf(arena, "memory at %s", first ? a : b);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts and removes duplicates. Returns how many are left. */
static size_t distinct(const char **list, size_t n)
{
    size_t kept = 0;
    if (n)
        qsort(list, n, sizeof(*list), by_text);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(list[i], list[kept - 1]) != 0)
            list[kept++] = list[i];
    return kept;
}

bool dh_compare_has(const char *const *list, size_t n, const char *text)
{
    return n > 0 && bsearch(&text, list, n, sizeof(*list), by_text) != NULL;
}

static void count_row(struct dh_compare *c, struct dh_compare_row *row)
{
    row->variables = dh_arena_array(&c->arena, row->n_warnings + 1, sizeof(*row->variables));
    row->pairs = dh_arena_array(&c->arena, row->n_warnings + 1, sizeof(*row->pairs));
    for (size_t i = 0; i < row->n_warnings; i++) {
        const struct dh_compare_warning *w = &row->warnings[i];
        row->variables[i] = w->variable;
        row->pairs[i] = dh_arena_printf(&c->arena, "%s - %s", w->site[0], w->site[1]);
    }
    row->n_variables = distinct(row->variables, row->n_warnings);
    row->n_pairs = distinct(row->pairs, row->n_warnings);
}

static bool elsewhere(const struct dh_compare *c, u32 self, const char *text, bool pair)
{
    for (u32 i = 0; i < c->n; i++) {
        const struct dh_compare_row *r = &c->rows[i];
        if (i != self &&
            dh_compare_has(pair ? r->pairs : r->variables, pair ? r->n_pairs : r->n_variables, text))
            return true;
    }
    return false;
}

void dh_compare_count(struct dh_compare *c)
{
    for (u32 i = 0; i < c->n; i++)
        count_row(c, &c->rows[i]);
    for (u32 i = 0; i < c->n; i++) {
        struct dh_compare_row *r = &c->rows[i];
        r->only = dh_arena_array(&c->arena, r->n_variables + 1, sizeof(*r->only));
        for (size_t k = 0; k < r->n_variables; k++)
            if (!elsewhere(c, i, r->variables[k], false))
                r->only[r->n_only++] = r->variables[k];
        for (size_t k = 0; k < r->n_pairs; k++)
            r->n_only_pairs += !elsewhere(c, i, r->pairs[k], true);
    }
}

double dh_compare_over(const struct dh_compare *c, const struct dh_compare_row *row, const char *name)
{
    for (u32 i = 0; i < c->n; i++) {
        const struct dh_compare_row *r = &c->rows[i];
        if (strcmp(r->name, name) == 0 && !r->error && r->seconds > 0 && !row->error)
            return row->seconds / r->seconds;
    }
    return 0;
}

const char **dh_compare_variables(struct dh_compare *c, size_t *ret_n)
{
    size_t n = 0;
    for (u32 i = 0; i < c->n; i++)
        n += c->rows[i].n_variables;
    const char **all = dh_arena_array(&c->arena, n + 1, sizeof(*all));
    n = 0;
    for (u32 i = 0; i < c->n; i++) {
        memcpy(all + n, c->rows[i].variables, c->rows[i].n_variables * sizeof(*all));
        n += c->rows[i].n_variables;
    }
    *ret_n = distinct(all, n);
    return all;
}
