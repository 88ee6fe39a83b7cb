/*
 * state_impl.h - how apply.c changes a state; for nobody else.
 */
#ifndef DH_HIVE_STATE_IMPL_H
#define DH_HIVE_STATE_IMPL_H

#include "hive/state.h"

void dh_hive_index_put(struct dh_map *m, const void *key, size_t len, u32 index);
struct dh_hive_tried *dh_hive_tried_new(struct dh_hive_state *s, u32 user, u32 unit);

u32 dh_hive_unit_new(struct dh_hive_state *s, u32 program, u64 id, bool bundle, const u64 sites[2],
                     u32 parent);
/* The build has it, by this pair of its table. */
void dh_hive_unit_join(struct dh_hive_state *s, u32 unit, u32 build, u32 pair);
/* Its verdict, its tasks or its builds have changed: put its slots where they belong. */
void dh_hive_unit_settle(struct dh_hive_state *s, u32 unit);
u32 dh_hive_site_of(struct dh_hive_state *s, u32 program, u64 id);
/* A result has come to this access, or not; other units with it are put where they belong then. */
void dh_hive_site_tell(struct dh_hive_state *s, u32 site, bool reached);
/* A build has no instruction for it: as if enough results had not come to it. */
void dh_hive_site_lacks(struct dh_hive_state *s, u32 site);
/* Ends all of its tasks. */
void dh_hive_unit_withdraw(struct dh_hive_state *s, u32 unit, u64 seq);

u32 dh_hive_task_new(struct dh_hive_state *s, const struct dh_hive_task *t, u64 seq);
void dh_hive_task_end(struct dh_hive_state *s, u32 task, enum dh_hive_task_state state, u64 seq);

/* A task that takes too long has gone to somebody else as well: it waits once more. */
void dh_hive_queue_requeue(struct dh_hive_state *s, u32 build, u32 task, u64 now_us);
/* Drops what has ended from the front. */
void dh_hive_queue_trim(struct dh_hive_state *s, u32 build);

#endif
