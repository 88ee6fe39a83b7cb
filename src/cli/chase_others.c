/*
 * chase_others.c - for when the kernel refuses hardware watchpoints: breakpoints at other accesses of the
 * program replace them. They only see code that has lines, and a window costs as much as there are
 * breakpoints to set, so only some can be set: those most likely to access the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "chase/watch.h"
#include "cli/chase.h"
#include "cli/cmd.h"

enum {
    MAX_OTHERS = 512,   /* a millisecond to set, and another to clear */
    MAX_LOOKED = 20000, /* if there are more, this many are drawn */
};

struct other {
    const struct dh_chase_module *module;
    const struct dh_chase_access *access;
    u32 rank; /* the smaller, the more similar to one of the first side */
    u64 random;
};

static bool is_fixed(const struct dh_control_operand *o)
{
    return o->base >= DH_CONTROL_RIP && o->index == DH_CONTROL_NONE;
}

/* For two operands: the same variable; apparently the same member of a structure; the same size; neither, or
 * two different variables. */
static u32 rank_of(const struct dh_chase_access *a, const struct dh_control_operand *x,
                   const struct dh_chase_access *b, const struct dh_control_operand *y)
{
    bool both_fixed = is_fixed(x) && is_fixed(y);
    u64 at = (u64)x->displacement + (x->base == DH_CONTROL_RIP ? a->address + a->code.length : 0);
    u64 to = (u64)y->displacement + (y->base == DH_CONTROL_RIP ? b->address + b->code.length : 0);
    if (both_fixed && at < to + y->size && to < at + x->size)
        return 0;
    if (!both_fixed && x->displacement == y->displacement && x->size == y->size)
        return 1;
    return both_fixed ? 3 : x->size == y->size ? 2 : 3;
}

static u32 rank_among(const struct dh_chase_sites *sites, const struct dh_chase_access *b)
{
    u32 best = 3;
    for (size_t i = 0; i < sites->n; i++) {
        const struct dh_chase_access *a = sites->at[i].access;
        for (u8 x = 0; x < a->code.n_operands; x++) {
            for (u8 y = 0; y < b->code.n_operands; y++) {
                u32 rank = rank_of(a, &a->code.operands[x], b, &b->code.operands[y]);
                best = rank < best ? rank : best;
            }
        }
    }
    return best;
}

static int by_rank(const void *a, const void *b)
{
    const struct other *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->random > y->random) - (x->random < y->random);
}

static size_t add(struct dh_chase_request *q, const struct other *o, u8 sides)
{
    for (size_t i = 0; i < q->sites.n; i++) {
        struct dh_chase_site *site = &q->sites.at[i];
        if (site->module == o->module && site->access->address == o->access->address) {
            site->sides |= sides;
            return 0;
        }
    }
    if (q->sites.n < DH_CONTROL_SITES)
        q->sites.at[q->sites.n++] = (struct dh_chase_site){o->access, o->module, sides, 0};
    return 1;
}

/* Some of the others: examining all of them would take too long in a large program. */
static size_t find(struct dh_chase_request *q, bool named, struct other **ret)
{
    struct other *others = NULL;
    size_t n = 0, cap = 0, total = 0;
    u64 random = q->seed ? q->seed : dh_hash64(dh_chase_now_us());
    for (size_t m = 0; m < q->n_modules; m++)
        total += q->pools[m].spots.n;
    for (size_t m = 0; m < q->n_modules; m++) {
        for (size_t i = 0; i < q->pools[m].spots.n; i++) {
            u64 drawn = dh_hash64(random++);
            if (drawn % total >= MAX_LOOKED)
                continue;
            const struct dh_chase_access *a = dh_chase_lines_at(q->modules[m].file, &q->pools[m].spots.at[i]);
            others = dh_util_grow(others, n, &cap, sizeof(*others));
            others[n++] = (struct other){&q->modules[m], a, named ? rank_among(&q->sites, a) : 0, drawn};
        }
    }
    if (n)
        qsort(others, n, sizeof(*others), by_rank);
    *ret = others;
    return n;
}

int dh_chase_check_watchpoints(struct dh_chase_request *q)
{
    struct other *others;
    const bool named = q->sites.n > 0; /* of the first side */
    const u8 sides = named ? DH_CONTROL_SECOND : DH_CONTROL_FIRST | DH_CONTROL_SECOND;
    size_t set = 0;
    int refused = dh_chase_watch_probe(), rc = 0;
    if (!refused)
        return 0;
    q->unwatched = true;
    if (!q->pools[0].module)
        rc = dh_chase_find_all(q);
    if (rc)
        return rc;
    size_t n = find(q, named, &others);
    for (size_t i = 0; i < n && set < MAX_OTHERS; i++)
        set += add(q, &others[i], sides);
    free(others);
    dh_cli_warn("chase",
                "the kernel refuses hardware watchpoints (perf_event_open: %s); breakpoints at %zu accesses "
                "of the program are used instead, and other code is not seen",
                strerror(-refused), set);
    return 0;
}
