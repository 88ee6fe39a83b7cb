/*
 * view.h - parts of a state as JSON, as in the interface and the exports. The state must be locked.
 */
#ifndef DH_HIVE_VIEW_H
#define DH_HIVE_VIEW_H

#include "hive/state.h"

enum dh_hive_kind { DH_HIVE_ANY, DH_HIVE_CANDIDATES, DH_HIVE_BUNDLES };

/* What to list. */
struct dh_hive_filter {
    u32 program, build; /* DH_HIVE_NONE: all */
    int verdict;        /* -1: all */
    u64 after, limit;   /* how many to skip, then how many to list */
    u8 kind;            /* enum dh_hive_kind */
    const char *search; /* words that must each occur in a name, a place or an id; NULL: all */
};

/* Names in tables may be any bytes: invalid UTF-8 is replaced. */
json_t *dh_hive_view_name(const char *text);
json_t *dh_hive_view_unit(const struct dh_hive_state *s, u32 unit, u32 build);
/* {"candidates": [...], "next": N or null} */
json_t *dh_hive_view_units(const struct dh_hive_state *s, const struct dh_hive_filter *f);
/* view_race.c: the same with everything that the table, the uploaded source and the results say about it, in
 * that build or, DH_HIVE_NONE, in the newest one that has it. Its timeline has the newest `most` results. */
json_t *dh_hive_view_race(const struct dh_hive_state *s, u32 unit, u32 build, u64 most);
/* Adds to a unit what the table says about its accesses and its variable, in words. */
void dh_hive_view_describe(const struct dh_hive_state *s, u32 unit, u32 build, json_t *to);

/* view_list.c */
bool dh_hive_view_lists(const struct dh_hive_state *s, u32 unit, const struct dh_hive_filter *f);
/* For the page: those listed, the worst first, in words. In addition to "candidates": their "total", and
 * "counts" by verdict and of bundles, whatever verdict and kind the filter names. */
json_t *dh_hive_view_ranked(const struct dh_hive_state *s, const struct dh_hive_filter *f);

json_t *dh_hive_view_builds(const struct dh_hive_state *s, u32 program);
json_t *dh_hive_view_users(const struct dh_hive_state *s, const struct dh_hive_filter *f);
/* Table 1 of the paper, for each program. */
json_t *dh_hive_view_status(const struct dh_hive_state *s);
/* A user's task, or null. */
json_t *dh_hive_view_task(const struct dh_hive_state *s, u32 user);

/* The stacks of its races as seen by users, by order, with names from what the builds have uploaded. */
json_t *dh_hive_view_stacks(const struct dh_hive_state *s, u32 unit);

#endif
