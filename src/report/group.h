/*
 * group.h - groups findings: repetitions, which have the same fingerprint, and variants, which have the same
 * cause.
 *
 * Two races have the same cause if they are on the same variable, or on memory that was allocated at the same
 * place, and have a source line in common; so one bad memcpy is one finding, regardless of who reads what it
 * writes. The relation is transitive: a variant of a variant is a variant. The race that came first is the
 * finding, and the others are listed with it. A suppressed race is never a variant.
 */
#ifndef DH_REPORT_GROUP_H
#define DH_REPORT_GROUP_H

#include "report/finding.h"

/* A distinct race: all occurrences with the same fingerprint. */
struct dh_group {
    struct dh_finding *finding;    /* the first */
    struct dh_suppress_rule *rule; /* that suppresses it; NULL: it is shown */
    struct dh_group *cause;        /* an earlier group with the same cause; NULL: it is the first */
    struct dh_finding **end;       /* of the list of its variants */
    u64 number;                    /* in order of appearance */
    u64 run;                       /* the last run in which it was seen */
    const struct dh_finding *told; /* in the first group of a cause: the race printed for it; or NULL */
    struct dh_group *next;
};

struct dh_groups {
    struct dh_arena *arena;
    bool all; /* report variants as separate findings */
    struct dh_map by_identity, by_cause;
    struct dh_group *first, **end;
    u64 findings, variants, suppressed; /* variants: including the first of each cause */
    u64 repetitions;
};

void dh_groups_init(struct dh_groups *g, struct dh_arena *arena, bool all);
void dh_groups_done(struct dh_groups *g);
/* Returns the race's group. *ret_new: the race is the first in it. */
struct dh_group *dh_groups_add(struct dh_groups *g, struct dh_finding *f, struct dh_suppress_rule *rule,
                               bool *ret_new);
/* The group under which it is reported: itself, or the one it is a variant of. */
struct dh_group *dh_group_cause(struct dh_group *group);
/* To be called once all are added: attaches variants to their findings, and counts. */
void dh_groups_settle(struct dh_groups *g);

#endif
