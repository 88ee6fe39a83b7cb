/*
 * group.c - see group.h. Causes are merged as in a union-find structure, always into the older one.
 */
#include "report/group.h"

#include <string.h>

void dh_groups_init(struct dh_groups *g, struct dh_arena *arena, bool all)
{
    *g = (struct dh_groups){.arena = arena, .all = all};
    g->end = &g->first;
    dh_map_init(&g->by_identity, arena);
    dh_map_init(&g->by_cause, arena);
}

void dh_groups_done(struct dh_groups *g)
{
    dh_map_done(&g->by_identity);
    dh_map_done(&g->by_cause);
}

struct dh_group *dh_group_cause(struct dh_group *group)
{
    while (group->cause) {
        if (group->cause->cause)
            group->cause = group->cause->cause;
        group = group->cause;
    }
    return group;
}

/* Joins the group with those that were at the same line before, on the same memory. */
static void join(struct dh_groups *g, struct dh_group *group)
{
    const struct dh_finding *f = group->finding;
    for (int i = 0; i < 2; i++) {
        const char *line = dh_finding_line(g->arena, &f->accesses[i]);
        if (!line)
            continue;
        const char *key = dh_arena_printf(g->arena, "%s\n%s", f->memory, line);
        struct dh_group *known = dh_map_get(&g->by_cause, key, strlen(key));
        if (!known) {
            dh_map_put(&g->by_cause, key, strlen(key), group);
            continue;
        }
        struct dh_group *a = dh_group_cause(known), *b = dh_group_cause(group);
        if (a == b)
            continue;
        struct dh_group *older = a->number < b->number ? a : b, *younger = older == a ? b : a;
        younger->cause = older;
        older->told = older->told ? older->told : younger->told;
    }
}

/* How bad a consequence is; a run that the user has interrupted shows none. */
static int severity(const char *consequence)
{
    static const char *const words[] = {"interrupted", "none", "failure", "hang", "crash"};
    for (size_t i = 0; consequence && i < DH_ARRAY_LEN(words); i++)
        if (strcmp(consequence, words[i]) == 0)
            return (int)i + 1;
    return 0;
}

static bool is_alike(struct dh_arena *arena, const struct dh_finding_access *a,
                     const struct dh_finding_access *b)
{
    const char *one = dh_finding_line(arena, a), *other = dh_finding_line(arena, b);
    return a->kind == b->kind && (one && other ? strcmp(one, other) == 0 : one == other);
}

/* The order in which the accesses met, in terms of those of another finding of the same race: which is called
 * the earlier one may differ. */
static enum dh_model_order order_as_in(struct dh_arena *arena, const struct dh_finding *f,
                                       const struct dh_finding *shown)
{
    static const enum dh_model_order swapped[] = {[DH_MODEL_ORDER_UNKNOWN] = DH_MODEL_ORDER_UNKNOWN,
                                                  [DH_MODEL_AS_SHOWN] = DH_MODEL_REVERSED,
                                                  [DH_MODEL_REVERSED] = DH_MODEL_AS_SHOWN,
                                                  [DH_MODEL_BOTH] = DH_MODEL_BOTH};
    bool swap = !is_alike(arena, &f->accesses[0], &shown->accesses[0]) &&
                is_alike(arena, &f->accesses[0], &shown->accesses[1]);
    return swap ? swapped[f->confirmed.order] : f->confirmed.order;
}

/* What was confirmed once stays so, and what each time adds to it counts. The order is that of the worst
 * consequence: it is the one to replay. */
static void confirm(struct dh_arena *arena, struct dh_finding *first, const struct dh_finding *again)
{
    struct dh_model_confirmed *known = &first->confirmed;
    const struct dh_model_confirmed *more = &again->confirmed;
    /* Whoever observes a race knows which accesses are atomic. */
    if (first->provenance != DH_FINDING_CONFIRMED || again->provenance != DH_FINDING_CONFIRMED)
        known->maybe_atomic = false;
    if (again->provenance != DH_FINDING_CONFIRMED)
        return;
    /* Two that were caught at once were not ordered either. */
    if (first->provenance != DH_FINDING_CONFIRMED || !more->analysis)
        known->analysis = more->analysis;
    first->provenance = DH_FINDING_CONFIRMED;
    const enum dh_model_order order = order_as_in(arena, again, first);
    const int worse = severity(more->consequence) - severity(known->consequence);
    if (worse > 0) {
        known->consequence = more->consequence;
        known->detail = more->detail;
    }
    if (!known->order || (worse > 0 && order))
        known->order = order;
    else if (worse == 0 && order && known->order != order)
        known->order = DH_MODEL_BOTH;
}

struct dh_group *dh_groups_add(struct dh_groups *g, struct dh_finding *f, struct dh_suppress_rule *rule,
                               bool *ret_new)
{
    const char *key = dh_arena_printf(g->arena, "%c%s", rule ? '-' : '+', f->fingerprint.identity);
    struct dh_group *group = dh_map_get(&g->by_identity, key, strlen(key));
    *ret_new = group == NULL;
    if (group) {
        group->finding->count++;
        confirm(g->arena, group->finding, f);
        return group;
    }
    group = dh_arena_alloc(g->arena, sizeof(*group));
    *group = (struct dh_group){.finding = f, .rule = rule, .number = g->by_identity.n};
    group->end = &f->variants;
    f->count = 1;
    dh_map_put(&g->by_identity, key, strlen(key), group);
    *g->end = group;
    g->end = &group->next;
    if (!rule && !g->all && f->memory)
        join(g, group);
    return group;
}

void dh_groups_settle(struct dh_groups *g)
{
    for (struct dh_group *group = g->first; group; group = group->next) {
        struct dh_group *cause = dh_group_cause(group);
        if (group->rule) {
            g->suppressed++;
            continue;
        }
        g->variants++;
        g->repetitions += group->finding->count - 1;
        if (cause == group) {
            g->findings++;
            continue;
        }
        *cause->end = group->finding;
        cause->end = &group->finding->next;
    }
}
