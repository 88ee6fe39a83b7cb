/*
 * alias.c - which accesses may overlap according to their types (strict aliasing).
 *
 * The tags of LLVM's type-based alias information are numbered, and each pair is compared once. Accesses
 * without a tag (all library calls, and all code compiled without optimisation or with -fno-strict-aliasing)
 * have number 0, which overlaps everything.
 */
#include <stdlib.h>

#include "ir/whole/model.h"
#include "ir/whole/shim_whole.h"

static u32 number(struct dh_w *w, struct dh_w_table *known, const void *tag)
{
    if (tag == NULL)
        return 0;
    struct dh_w_key key = DH_W_KEY((u64)(uptr)tag);
    u32 n = dh_w_table_get(known, key);
    if (n != DH_W_TABLE_NONE)
        return n;
    w->types = dh_util_grow(w->types, w->n_types, &w->cap_types, sizeof *w->types);
    w->types[w->n_types] = tag;
    dh_w_table_put(known, key, (u32)w->n_types);
    return (u32)w->n_types++;
}

void dh_w_alias_find(struct dh_w *w)
{
    struct dh_w_table known = {0};
    w->types = dh_util_grow(w->types, w->n_types, &w->cap_types, sizeof *w->types);
    w->types[w->n_types++] = NULL;
    for (size_t f = 0; f < w->n_fns; f++)
        for (size_t o = 0; o < w->fns[f].n_ops; o++)
            w->fns[f].ops[o].type = number(w, &known, dh_shim_access_type(w->fns[f].ops[o].inst));
    w->overlap = calloc(w->n_types * w->n_types / 8 + 1, 1);
    if (w->overlap == NULL)
        dh_util_no_memory();
    dh_shim_types_compare(w->module, w->types, w->n_types, w->overlap);
    dh_w_table_done(&known);
}

bool dh_w_alias(const struct dh_w *w, u32 a, u32 b)
{
    size_t bit = (size_t)a * w->n_types + b;
    return w->overlap[bit / 8] >> bit % 8 & 1;
}
