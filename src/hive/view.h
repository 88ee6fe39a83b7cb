/*
 * view.h - parts of a state as JSON, as the interface and the exports show them. The state must be locked.
 */
#ifndef DH_HIVE_VIEW_H
#define DH_HIVE_VIEW_H

#include "hive/state.h"

/* What is listed. */
struct dh_hive_filter {
    u32 program, build; /* DH_HIVE_NONE: all */
    int verdict;        /* -1: all */
    u64 after, limit;   /* skip so many, then list so many */
};

json_t *dh_hive_view_unit(const struct dh_hive_state *s, u32 unit, u32 build, bool timeline);
/* {"candidates": [...], "next": N or null} */
json_t *dh_hive_view_units(const struct dh_hive_state *s, const struct dh_hive_filter *f);
json_t *dh_hive_view_builds(const struct dh_hive_state *s, u32 program);
json_t *dh_hive_view_users(const struct dh_hive_state *s, const struct dh_hive_filter *f);
/* Table 1 of the paper, for each program. */
json_t *dh_hive_view_status(const struct dh_hive_state *s);
/* A user's task, or null. */
json_t *dh_hive_view_task(const struct dh_hive_state *s, u32 user);

#endif
