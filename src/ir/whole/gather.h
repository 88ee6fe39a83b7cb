/*
 * gather.h - what race.c and row.c share: accesses in classes, classes in groups.
 */
#ifndef DH_IR_WHOLE_GATHER_H
#define DH_IR_WHOLE_GATHER_H

#include "ir/whole/bundle.h"
#include "ir/whole/cover.h"
#include "ir/whole/judged.h"

/* Classes [first, end) have the same type, covers, member and kind of access. */
struct dh_w_group {
    u32 first, end;
    u32 type, member, cover, own_cover;
    u32 conduct; /* 2: it writes, 1: it is atomic; nothing else decides about conflicts */
};

/* What is asked of a class again and again. */
struct dh_w_brief {
    u32 context; /* all that guard.c looks at */
    u32 aspect;  /* and all else that is said of its pairs but where they are */
    u32 sites;   /* how many */
    u8 root, marks;
};

struct dh_w_gather {
    struct dh_w_races *r;
    struct dh_w_covers covers;
    bool many[DH_W_MAX_ROOTS];
    struct dh_w_pool classes;
    struct dh_w_pool contexts, aspects;
    struct dh_w_table used;
    struct dh_w_use {
        u32 class, site;
    } *uses;
    size_t n_uses, cap_uses;
    u32 *sites_of;              /* by class: its first use */
    u32 *order;                 /* classes by type, covers, member and kind of access */
    struct dh_w_brief *brief;   /* in that order */
    struct dh_w_group *groups;  /* in that order */
    u32 n_groups, *type_groups; /* by type: its first group */
    u32 *at[2]; /* by cover: where it meets that of one group; shared with other roots, and with its own */
    u32 at_cover[2];           /* the covers of that group */
    struct dh_w_judged judged; /* by two contexts: a verdict */
    struct dh_w_pool verdicts; /* struct dh_w_verdict: few are different */
    struct dh_w_met {
        u32 a, b;    /* classes */
        u32 verdict; /* see dh_w_gather_judge */
        dh_pts_location at;
        bool apart; /* their members are */
    } *met;
    size_t n_met, cap_met;
    u64 pairs;       /* of sites, those that several classes lead to counted each time */
    u64 compared[3]; /* groups, classes, contexts */
};

DH_INLINE bool dh_w_conflict(u32 conduct_a, u32 conduct_b)
{
    return ((conduct_a | conduct_b) & 2) != 0 && (conduct_a & conduct_b & 1) == 0;
}
/* Fills `at` for a group. */
void dh_w_gather_meet(struct dh_w_gather *g, const struct dh_w_group *x);
/* What guard.c says about two classes, by their places in the order; asked once for each two contexts: twice
 * the verdict's number, plus 1 if it is told from the other side. */
u32 dh_w_gather_judge(struct dh_w_gather *g, u32 i, u32 j);
struct dh_w_verdict dh_w_gather_verdict(const struct dh_w_gather *g, u32 judged, bool apart);
/* What is not handed over is not owned by one thread at a time. */
void dh_w_gather_not_owned(struct dh_w_verdict *v);
/* All that is known of two classes that may race, but the sites. */
struct dh_w_found dh_w_gather_detail(const struct dh_w_gather *g, u32 i, u32 j, const struct dh_w_verdict *v);

/* row.c */
struct dh_w_bundles *dh_w_rows(struct dh_w_gather *g);

#endif
