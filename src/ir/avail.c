/*
 * avail.c - drops checks that a check in another block makes redundant.
 *
 * A site is covered by an earlier one with the same address (or more bytes) and at least its strength that
 * lies on every path from the function's entry to it, if nothing between the two can synchronise on any of
 * these paths. This is the rule of windows (sites.c) without their limit to one block, and sound for the same
 * reason: both accesses lie between the same two synchronisation operations of the thread.
 *
 * The same value means the same address although a loop may compute it anew: the earlier site uses it, so it
 * comes after the computation, and it dominates the later site, so it has happened again after the last
 * computation.
 *
 * A forward data-flow problem over bit sets: a block begins with the facts with which all its predecessors
 * end. Facts are the sites whose base occurs more than once; a break ends them all.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

typedef u64 word;
enum {
    WORD_BITS = 64,
    WORDS_MAX = 4 << 20, /* for all blocks of a function together; larger ones keep their checks */
};

struct known {
    LLVMBasicBlockRef bb;
    size_t index;
};

struct avail {
    struct dh_ir_sites *sites;
    struct dh_ir_site **fact; /* sorted by base */
    size_t fact_count, words;
    word *in, *gen;      /* for each block: what holds at its entry; what its last window adds */
    struct known *known; /* sorted: the index of a block */
};

static int compare_sites(const void *a, const void *b)
{
    const struct dh_ir_site *x = *(struct dh_ir_site *const *)a, *y = *(struct dh_ir_site *const *)b;
    if (x->base != y->base)
        return (uptr)x->base < (uptr)y->base ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int compare_known(const void *a, const void *b)
{
    uptr x = (uptr)((const struct known *)a)->bb, y = (uptr)((const struct known *)b)->bb;
    return x < y ? -1 : x > y;
}

static void find_facts(struct avail *a)
{
    struct dh_ir_sites *sites = a->sites;
    size_t n = 0, kept = 0;
    a->fact = calloc(sites->count + 1, sizeof(struct dh_ir_site *));
    for (size_t i = 0; i < sites->count; i++) {
        struct dh_ir_site *s = &sites->at[i];
        if (!s->covered && (s->kind == DH_SITE_READ || s->kind == DH_SITE_WRITE))
            a->fact[n++] = s;
    }
    qsort(a->fact, n, sizeof(struct dh_ir_site *), compare_sites);
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        while (end < n && a->fact[end]->base == a->fact[i]->base)
            end++;
        if (end - i > 1)
            for (size_t k = i; k < end; k++)
                a->fact[kept++] = a->fact[k];
        i = end;
    }
    a->fact_count = kept;
    a->words = (kept + WORD_BITS - 1) / WORD_BITS;
}

static struct dh_ir_block *block_of(struct avail *a, const struct dh_ir_site *site)
{
    size_t index = (size_t)(site - a->sites->at), low = 0, high = a->sites->block_count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (a->sites->blocks[mid].first <= index)
            low = mid;
        else
            high = mid;
    }
    return &a->sites->blocks[low];
}

/* Blocks know each other by handle; everything here goes by their index. */
static size_t index_of(const struct avail *a, LLVMBasicBlockRef bb)
{
    struct known key = {.bb = bb};
    const struct known *found =
        bsearch(&key, a->known, a->sites->block_count, sizeof(*a->known), compare_known);
    return found->index;
}

static void prepare(struct avail *a)
{
    struct dh_ir_sites *sites = a->sites;
    size_t all = sites->block_count * a->words;
    a->in = malloc(all * sizeof(word));
    a->gen = calloc(all, sizeof(word));
    a->known = malloc(sites->block_count * sizeof(*a->known));
    memset(a->in, 0xff, all * sizeof(word)); /* everything, until a way is found that lacks it */
    memset(a->in, 0, a->words * sizeof(word));
    for (size_t i = 0; i < sites->block_count; i++)
        a->known[i] = (struct known){.bb = sites->blocks[i].bb, .index = i};
    qsort(a->known, sites->block_count, sizeof(*a->known), compare_known);
    for (size_t i = 0; i < a->fact_count; i++) {
        struct dh_ir_block *block = block_of(a, a->fact[i]);
        if (a->fact[i]->window == block->last_window)
            a->gen[(size_t)(block - sites->blocks) * a->words + i / WORD_BITS] |= 1ull << i % WORD_BITS;
    }
}

/* Takes from the successors of a block what it does not end with; true: something was taken. */
static bool flow(struct avail *a, size_t from)
{
    const struct dh_ir_block *block = &a->sites->blocks[from];
    const word *in = &a->in[from * a->words], *gen = &a->gen[from * a->words];
    bool passes = block->first_window == block->last_window, changed = false;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block->bb);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
        word *to = &a->in[index_of(a, LLVMGetSuccessor(end, k)) * a->words];
        for (size_t w = 0; w < a->words; w++) {
            word left = to[w] & (gen[w] | (passes ? in[w] : 0));
            changed |= left != to[w];
            to[w] = left;
        }
    }
    return changed;
}

/* Facts of one base are neighbours; i is the site's own. */
static bool is_covered(const struct avail *a, size_t i, const word *in)
{
    const struct dh_ir_site *site = a->fact[i];
    size_t first = i;
    while (first > 0 && a->fact[first - 1]->base == site->base)
        first--;
    for (size_t k = first; k < a->fact_count && a->fact[k]->base == site->base; k++)
        if (k != i && in[k / WORD_BITS] >> k % WORD_BITS & 1 && dh_ir_sites_covers(a->fact[k], site))
            return true;
    return false;
}

void dh_ir_avail_prune(struct dh_ir_sites *sites)
{
    struct avail a = {.sites = sites};
    find_facts(&a);
    if (a.fact_count > 0 && sites->block_count > 1 && sites->block_count * a.words <= WORDS_MAX) {
        prepare(&a);
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t i = 0; i < sites->block_count; i++)
                changed |= flow(&a, i);
        }
        for (size_t i = 0; i < a.fact_count; i++) {
            struct dh_ir_block *block = block_of(&a, a.fact[i]);
            if (a.fact[i]->window == block->first_window)
                a.fact[i]->covered = is_covered(&a, i, &a.in[(size_t)(block - sites->blocks) * a.words]);
        }
        free(a.in);
        free(a.gen);
        free(a.known);
    }
    free(a.fact);
}
