/*
 * group.h - findings that are one: repetitions, which have one fingerprint, and variants, which have one
 * cause.
 *
 * Two races have one cause if they are on the same variable, or on memory that was allocated at the same
 * place, and one line of the source is in both; so one bad memcpy is one finding, whoever reads what it
 * writes. Chains count: what is a variant of a variant is one. Whichever came first is the finding, the
 * others are listed with it. A suppressed race is no variant of anything.
 */
#ifndef DH_REPORT_GROUP_H
#define DH_REPORT_GROUP_H

#include "report/finding.h"

/* A distinct race: all with one fingerprint. */
struct dh_group {
    struct dh_finding *finding;    /* the first */
    struct dh_suppress_rule *rule; /* why it is not shown; NULL: it is */
    struct dh_group *cause;        /* one with the same cause that came before; NULL: it is the first */
    struct dh_finding **end;       /* of the list of its variants */
    u64 number;                    /* in order of appearance */
    u64 run;                       /* the last one in which it was seen */
    const struct dh_finding *told; /* of the first of a cause: which race with it was printed; NULL: none */
    struct dh_group *next;
};

struct dh_groups {
    struct dh_arena *arena;
    bool all; /* variants are findings of their own */
    struct dh_map by_identity, by_cause;
    struct dh_group *first, **end;
    u64 findings, variants, suppressed; /* variants: with the first of each */
    u64 repetitions;
};

void dh_groups_init(struct dh_groups *g, struct dh_arena *arena, bool all);
void dh_groups_done(struct dh_groups *g);
/* The race's group. *ret_new: it is the first of it. */
struct dh_group *dh_groups_add(struct dh_groups *g, struct dh_finding *f, struct dh_suppress_rule *rule,
                               bool *ret_new);
/* The group that tells of it: itself, or that of which it is a variant. */
struct dh_group *dh_group_cause(struct dh_group *group);
/* When all are there: lists variants with their findings, and counts. */
void dh_groups_settle(struct dh_groups *g);

#endif
