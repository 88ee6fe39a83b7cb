/*
 * groups.c - one test for several accesses.
 *
 * Each access has a check: on a hit, a few instructions and a branch that is not taken. Accesses of one
 * stretch (sites.c) all happen, with no synchronisation between them, so they can be tested together
 * before the first of them, with one branch: the distances of all their cells or-ed together are below the
 * span of the epoch (same_epoch.h). What the tests have in common (where the read plane is, the first id of
 * the epoch) is loaded once.
 *
 * The slow branch makes the checks of the individual accesses, in order, each with its own size, kind and
 * source position. So reports, recordings and tables of sites are the same as without the group. These checks
 * are not inlined, and they test again: a group misses as a whole although most of its accesses may already
 * have been made in this epoch.
 *
 * Accesses can form a group if their addresses are known at the first of them; usually they are fields of one
 * structure. Groups are kept small, because in a large one some access misses more often.
 */
#include "ir/ir.h"

enum {
    TESTS_MAX = 4, /* in one group */
    OPEN_MAX = 8,  /* groups of one stretch that may still grow */
};

/* A group that accesses may still join. */
struct open {
    struct dh_ir_site *first, *last;
    unsigned tests;
};

static bool is_candidate(const struct dh_ir_site *site, unsigned *ret_tests)
{
    if (site->covered || site->rare || (site->kind != DH_SITE_READ && site->kind != DH_SITE_WRITE))
        return false;
    *ret_tests = dh_ir_emit_count_tests(site->size, site->align);
    return *ret_tests > 0 && *ret_tests <= TESTS_MAX;
}

/* A check that can be switched off is not made to depend on one that may have to stay. */
static bool may_join(const struct dh_ir *ir, const struct open *group, const struct dh_ir_site *site,
                     unsigned tests)
{
    return group->tests + tests <= TESTS_MAX && group->first->range == site->range &&
           dh_ir_filter_is_safe(ir, group->first) == dh_ir_filter_is_safe(ir, site) &&
           dh_shim_is_known_at(site->base, group->first->inst);
}

/* The newest group that the site may join, preferably one with accesses to the same structure; or NULL. */
static struct open *find(const struct dh_ir *ir, struct open *open, size_t count,
                         const struct dh_ir_site *site, unsigned tests)
{
    struct open *found = NULL;
    for (size_t i = count; i-- > 0;) {
        if (!may_join(ir, &open[i], site, tests))
            continue;
        if (open[i].first->base == site->base)
            return &open[i];
        if (!found)
            found = &open[i];
    }
    return found;
}

void dh_ir_groups_plan(const struct dh_ir *ir, struct dh_ir_sites *sites)
{
    struct open open[OPEN_MAX];
    size_t count = 0;
    unsigned stretch = 0;
    for (size_t i = 0; i < sites->count; i++) {
        struct dh_ir_site *site = &sites->at[i];
        unsigned tests;
        if (!is_candidate(site, &tests))
            continue;
        if (site->stretch != stretch)
            count = 0;
        stretch = site->stretch;
        struct open *group = find(ir, open, count, site, tests);
        if (group) {
            group->last->next = site;
            site->joined = true;
            group->last = site;
            group->tests += tests;
            continue;
        }
        if (count == OPEN_MAX) { /* forget the oldest: it is full, or far away */
            for (size_t k = 1; k < count; k++)
                open[k - 1] = open[k];
            count--;
        }
        open[count++] = (struct open){.first = site, .last = site, .tests = tests};
    }
}

/* ---- Inserting ---------------------------------------------------------------------------------- */

/* What the tests of a group share, once it is loaded. */
struct shared {
    LLVMValueRef flip[2]; /* of reads, of writes */
    LLVMValueRef bases;
    LLVMValueRef far; /* the distances so far, or-ed together */
};

static LLVMValueRef address_of(struct dh_ir *ir, const struct dh_ir_site *site)
{
    return dh_ir_emit_shifted(ir, site->base, site->offset + site->shift);
}

static void add_test(struct dh_ir *ir, struct shared *s, bool write, LLVMValueRef ptr,
                     const struct dh_ir_piece *piece)
{
    if (!s->flip[write])
        s->flip[write] = dh_ir_emit_call(ir, write ? DH_IR_FLIP_WRITE : DH_IR_FLIP_READ, NULL);
    if (!s->bases)
        s->bases = dh_ir_emit_call(ir, DH_IR_BASES, NULL);
    LLVMValueRef args[] = {dh_ir_emit_shifted(ir, ptr, (long long)piece->at), s->flip[write], s->bases,
                           dh_ir_emit_u64(ir, piece->size)};
    enum dh_ir_entry e = piece->power < 0 ? DH_IR_FAR_N : (enum dh_ir_entry)(DH_IR_FAR1 + piece->power);
    LLVMValueRef far = dh_ir_emit_call(ir, e, args);
    s->far = s->far ? LLVMBuildOr(ir->builder, s->far, far, "") : far;
}

void dh_ir_groups_emit(struct dh_ir *ir, const struct dh_ir_site *first, LLVMValueRef place)
{
    struct shared shared = {0};
    struct dh_ir_piece pieces[DH_IR_PIECES];
    for (const struct dh_ir_site *site = first; site; site = site->next) {
        LLVMValueRef ptr = address_of(ir, site);
        unsigned n = dh_ir_emit_pieces(site->size, site->align, pieces);
        for (unsigned i = 0; i < n; i++)
            add_test(ir, &shared, site->kind == DH_SITE_WRITE, ptr, &pieces[i]);
    }
    LLVMValueRef farthest = dh_ir_emit_call(ir, DH_IR_FARTHEST, &shared.far);
    LLVMValueRef span = dh_ir_emit_call(ir, DH_IR_SPAN, NULL);
    LLVMValueRef missed = LLVMBuildICmp(ir->builder, LLVMIntUGE, farthest, span, "");
    LLVMPositionBuilderBefore(ir->builder, dh_shim_split_if(missed, place, true));
    for (const struct dh_ir_site *site = first; site; site = site->next) {
        dh_ir_emit_position_of(ir, site->inst);
        dh_ir_emit_rare_check(ir, site->kind == DH_SITE_WRITE, address_of(ir, site), site->size, site->align);
    }
}
