/*
 * analyze_group.c - which of the races to be listed are the same: those at the same places, and those with
 * the same cause (report/group.h).
 *
 * Afterwards a detector's list holds each pair of places once. It begins with one race for each cause, in the
 * order in which they were found; their variants follow, chained to them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/analyze.h"
#include "report/group.h"

/* What identifies a race: two with the same key say the same. */
struct key {
    u32 cell, sites[2], writes[2];
};

static struct key key_of(const struct dh_race *r)
{
    return (struct key){r->cell, {r->now.site, r->earlier.site}, {r->now.write, r->earlier.write}};
}

/* Leaves one race for each key, and adds the others to its count. */
static void count_repetitions(struct dh_analyze_found *f)
{
    struct dh_arena arena = {0};
    struct dh_map known; /* struct key -> the index of the race, plus 1 */
    size_t n = 0;
    dh_map_init(&known, &arena);
    for (size_t k = 0; k < f->n; k++) {
        struct key key = key_of(&f->races[k].race);
        size_t at = (size_t)dh_map_get(&known, &key, sizeof(key));
        if (at) {
            f->races[at - 1].count++;
            free((void *)f->races[k].race.witness);
            continue;
        }
        f->races[n] = f->races[k];
        f->races[n].count = 1;
        dh_map_put(&known, &key, sizeof(key), (void *)++n);
    }
    f->n = n;
    dh_map_done(&known);
    dh_arena_done(&arena);
}

/* Moves one race of each cause to the front. groups[k] is the group of race k. */
static void sort_by_cause(struct dh_analyze_found *f, struct dh_group **groups)
{
    struct dh_analyze_race *sorted = dh_util_alloc(f->n * sizeof(*sorted));
    size_t *place = dh_util_alloc(f->n * sizeof(*place)), *last = dh_util_alloc(f->n * sizeof(*last));
    f->n_causes = 0;
    for (size_t k = 0; k < f->n; k++)
        if (!groups[k]->cause)
            place[k] = f->n_causes++;
    size_t next = f->n_causes;
    for (size_t k = 0; k < f->n; k++) {
        if (groups[k]->cause)
            place[k] = next++;
        sorted[place[k]] = f->races[k];
        last[place[k]] = place[k];
    }
    for (size_t k = 0; k < f->n; k++) {
        size_t cause = place[dh_group_cause(groups[k])->number];
        if (!groups[k]->cause)
            continue;
        sorted[last[cause]].variant = place[k];
        last[cause] = place[k];
    }
    free(last);
    free(place);
    free(f->races);
    f->races = sorted;
    f->cap = f->n;
}

/* Two places may have one name: then their races are one, too. */
static void join_causes(struct dh_analyze *a, u32 i)
{
    struct dh_analyze_found *f = &a->found[i];
    struct dh_arena arena = {0};
    struct dh_groups all;
    struct dh_group **groups = dh_arena_array(&arena, f->n, sizeof(*groups));
    size_t n = 0;
    dh_groups_init(&all, &arena, a->all);
    for (size_t k = 0; k < f->n; k++) {
        bool is_new;
        struct dh_group *group =
            dh_groups_add(&all, dh_analyze_finding(a, &arena, i, &f->races[k]), NULL, &is_new);
        if (is_new) {
            f->races[n] = f->races[k];
            groups[n++] = group;
        } else {
            f->races[group->number].count += f->races[k].count;
            free((void *)f->races[k].race.witness);
        }
    }
    f->n = n;
    sort_by_cause(f, groups);
    dh_groups_done(&all);
    dh_arena_done(&arena);
}

/* Drops the races that match a rule. All races are still there, whatever is to be listed: the first race of a
 * variable may be suppressed, and others not. */
static void suppress(struct dh_analyze *a, u32 i)
{
    struct dh_analyze_found *f = &a->found[i];
    struct dh_arena arena = {0};
    struct dh_map known;
    size_t n = 0;
    dh_map_init(&known, &arena);
    for (size_t k = 0; k < f->n; k++) {
        struct dh_arena scratch = {0};
        struct key key = key_of(&f->races[k].race);
        struct dh_suppress_rule *rule =
            dh_finding_suppressed(dh_analyze_finding(a, &scratch, i, &f->races[k]), &a->rules);
        dh_arena_done(&scratch);
        if (!rule) {
            f->races[n++] = f->races[k];
            continue;
        }
        dh_map_put(&known, &key, sizeof(key), rule);
        free((void *)f->races[k].race.witness);
    }
    f->n = n;
    f->suppressed = known.n;
    dh_map_done(&known);
    dh_arena_done(&arena);
}

/* Moves the findings that are in the baseline after those that are not. */
static void compare(struct dh_analyze *a, u32 i)
{
    struct dh_analyze_found *f = &a->found[i];
    struct dh_analyze_race *known = dh_util_alloc((f->n_causes + 1) * sizeof(*known));
    size_t n = 0;
    for (size_t k = 0; k < f->n_causes; k++) {
        struct dh_arena scratch = {0};
        const struct dh_finding *told = dh_analyze_finding_of_cause(a, &scratch, i, &f->races[k]);
        if (told->baseline == DH_FINDING_KNOWN)
            known[f->n_known++] = f->races[k];
        else
            f->races[n++] = f->races[k];
        dh_arena_done(&scratch);
    }
    for (size_t k = 0; k < f->n_known; k++)
        f->races[n + k] = known[k];
    f->raced = n > 0;
    free(known);
}

/* Keeps the first race of each variable, or none, unless they have to be compared first. */
static void shorten(struct dh_analyze *a, struct dh_analyze_found *f)
{
    size_t n = 0;
    for (size_t k = 0; k < f->n; k++) {
        u8 *seen = dh_table_at(&f->seen, f->races[k].race.cell);
        if (!seen)
            dh_util_no_memory();
        if ((a->list == DH_LIST_VARIABLES || a->baseline) && !*seen)
            f->races[n++] = f->races[k];
        else
            free((void *)f->races[k].race.witness);
        *seen = 1;
    }
    f->n = n;
}

static void drop_all(struct dh_analyze_found *f)
{
    for (size_t k = 0; k < f->n; k++)
        free((void *)f->races[k].race.witness);
    f->n = f->n_causes = f->n_known = 0;
}

void dh_analyze_group(struct dh_analyze *a)
{
    for (u32 i = 0; i < a->n; i++) {
        struct dh_analyze_found *f = &a->found[i];
        if (a->rules.rules)
            suppress(a, i);
        f->raced = f->n > 0;
        if (a->rules.rules && a->list != DH_LIST_EVENTS)
            shorten(a, f);
        f->n_causes = f->n;
        /* In a trace without code a variable is identified by its name, and only one race of it is listed. In
         * a recording several variables may be one: the elements of an array. */
        bool one_by_one = a->all && a->list == DH_LIST_EVENTS;
        if (f->n && !one_by_one && (a->symbols || (!a->all && a->list == DH_LIST_EVENTS))) {
            count_repetitions(f);
            join_causes(a, i);
        }
        if (a->baseline)
            compare(a, i);
        if (a->list == DH_LIST_NONE)
            drop_all(f);
    }
}
