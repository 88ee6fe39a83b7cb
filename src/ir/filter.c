/*
 * filter.c - checks that can be switched off when the program starts (`deadheat cc --dh-filterable`,
 * base/filter.h).
 *
 * A check is preceded by a nop that can be turned into a jump over it. What the check stands for is collected
 * first (dh_ir_filter_begin, _add): its own access, those whose checks it made redundant (sites.c), and those
 * that are tested together with it or before their loop. All of them must be skippable for the check to be.
 */
#include "base/filter.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/ir.h"
#include "ir/whole/whole.h"
#include "report/pairs.h"

struct dh_ir_filter {
    LLVMModuleRef module;
    unsigned sites_kind;    /* of metadata */
    struct dh_pairs *table; /* NULL: nothing is known, and nothing can be switched */
    u32 *words;             /* DH_FILTER_GROUPS */
    size_t n_words, cap_words;
    u32 n_groups;
    /* The check that is about to be inserted: */
    u32 *sites;
    size_t n_sites, cap_sites;
    bool stays;
    unsigned which; /* the sides that count */
};

bool dh_ir_filter_wanted(void)
{
    return getenv("DEADHEAT_FILTERABLE") != NULL;
}

struct dh_ir_filter *dh_ir_filter_new(LLVMModuleRef m)
{
    struct dh_ir_filter *f = dh_util_alloc(sizeof(*f));
    *f = (struct dh_ir_filter){.module = m, .sites_kind = dh_ir_marks_kind(m)};
    return f;
}

void dh_ir_filter_free(struct dh_ir_filter *f)
{
    if (!f)
        return;
    dh_pairs_free(f->table);
    free(f->words);
    free(f->sites);
    free(f);
}

void dh_ir_filter_learn(struct dh_ir_filter *f, const struct dh_ir_analysis *a)
{
    const char *why;
    if (dh_pairs_read(a->bytes, a->n, &f->table, &why) != 0)
        f->table = NULL;
}

bool dh_ir_filter_knows(const struct dh_ir_filter *f)
{
    return f && f->table;
}

/* ---- what a check stands for ---- */

void dh_ir_filter_begin(struct dh_ir *ir)
{
    if (!ir->filter)
        return;
    ir->filter->n_sites = 0;
    ir->filter->stays = false;
}

static void add_site(void *arg, unsigned which, u8 access, u32 site)
{
    struct dh_ir_filter *f = arg;
    (void)access;
    if (!(which & f->which))
        return;
    f->sites = dh_util_grow(f->sites, f->n_sites, &f->cap_sites, sizeof(*f->sites));
    f->sites[f->n_sites++] = site;
}

static void add_access(struct dh_ir *ir, LLVMValueRef inst, unsigned which)
{
    struct dh_ir_filter *f = ir->filter;
    size_t before = f->n_sites;
    f->which = which;
    dh_ir_marks_each(f->sites_kind, inst, add_site, f);
    if (f->n_sites == before && (dh_ir_prune_safe(ir->safe_kind, inst) & which) != which)
        f->stays = true;
}

void dh_ir_filter_add(struct dh_ir *ir, const struct dh_ir_site *site, unsigned which)
{
    for (; ir->filter && site; site = site->also)
        add_access(ir, site->inst, which);
}

void dh_ir_filter_add_chain(struct dh_ir *ir, const struct dh_ir_site *first)
{
    for (; first; first = first->next)
        dh_ir_filter_add(ir, first, DH_WHOLE_TO | DH_WHOLE_FROM);
}

bool dh_ir_filter_is_safe(const struct dh_ir *ir, const struct dh_ir_site *site)
{
    const unsigned both = DH_WHOLE_TO | DH_WHOLE_FROM;
    return ir->filter && dh_ir_prune_safe(ir->safe_kind, site->inst) == both;
}

/* ---- in the code ---- */

static void add_word(struct dh_ir_filter *f, u32 word)
{
    f->words = dh_util_grow(f->words, f->n_words, &f->cap_words, sizeof(*f->words));
    f->words[f->n_words++] = word;
}

static int by_number(const void *a, const void *b)
{
    const u32 *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static u32 add_group(struct dh_ir_filter *f)
{
    size_t head = f->n_words;
    add_word(f, 0);
    if (f->n_sites > 0 && !f->stays)
        qsort(f->sites, f->n_sites, sizeof(*f->sites), by_number);
    for (size_t i = 0; i < f->n_sites && !f->stays; i++)
        if (i == 0 || f->sites[i] != f->sites[i - 1])
            add_word(f, f->sites[i]);
    f->words[head] = (u32)(f->n_words - head - 1) | (f->stays ? DH_FILTER_STAYS : 0);
    return f->n_groups++;
}

LLVMValueRef dh_ir_filter_open(struct dh_ir *ir, LLVMValueRef place)
{
    struct dh_ir_filter *f = ir->filter;
    char text[256];
    if (!f)
        return place;
    u32 group = add_group(f);
    if (f->stays)
        return place; /* it is counted, and needs no nop */
    snprintf(text, sizeof(text), DH_PATCH_ASM_BEGIN(DH_FILTER_POINTS) DH_PATCH_ASM_POINT DH_PATCH_ASM_END,
             group);
    return dh_shim_insert_bypass(place, text);
}

void dh_ir_filter_embed(const struct dh_ir_filter *f)
{
    if (!dh_ir_filter_knows(f))
        return;
    const struct dh_filter_head head = {.version = DH_FILTER_VERSION,
                                        .n_groups = f->n_groups,
                                        .n_sites = (u32)f->table->n_sites,
                                        .n_group_words = (u32)f->n_words};
    u64 *ids = dh_util_alloc((f->table->n_sites + 1) * sizeof(*ids));
    for (size_t i = 0; i < f->table->n_sites; i++)
        ids[i] = f->table->sites[i].id;
    dh_ir_embed_bytes(f->module, DH_FILTER_HEAD, &head, sizeof(head));
    dh_ir_embed_bytes(f->module, DH_FILTER_GROUPS, f->words, f->n_words * sizeof(*f->words));
    dh_ir_embed_bytes(f->module, DH_FILTER_SITES, ids, f->table->n_sites * sizeof(*ids));
    dh_ir_embed_sources(f->module);
    free(ids);
}
