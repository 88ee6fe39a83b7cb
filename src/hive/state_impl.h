/*
 * state_impl.h - how apply.c changes a state; private to it.
 */
#ifndef DH_HIVE_STATE_IMPL_H
#define DH_HIVE_STATE_IMPL_H

#include "hive/state.h"

void dh_hive_index_put(struct dh_map *m, const void *key, size_t len, u32 index);
struct dh_hive_tried *dh_hive_tried_new(struct dh_hive_state *s, u32 user, u32 unit);

/* A version of this pair or bundle, the newest one so far. */
u32 dh_hive_unit_new(struct dh_hive_state *s, u32 program, u64 pair, u64 evidence, bool bundle,
                     const u64 sites[2], u32 parent);
/* Adds the unit to the build, for this pair of its table. */
void dh_hive_unit_join(struct dh_hive_state *s, u32 unit, u32 build, u32 pair);
/* Its verdict, tasks or builds have changed: moves its slots to the right lists. */
void dh_hive_unit_settle(struct dh_hive_state *s, u32 unit);
u32 dh_hive_site_of(struct dh_hive_state *s, u32 program, u64 id);
/* A result reached this access, or did not; moves other units with it to the right lists. */
void dh_hive_site_tell(struct dh_hive_state *s, u32 site, bool reached);
/* A build has no instruction for it: counts as enough results that did not reach it. */
void dh_hive_site_lacks(struct dh_hive_state *s, u32 site);
/* Ends all of its tasks. */
void dh_hive_unit_withdraw(struct dh_hive_state *s, u32 unit, u64 seq);

/* ---- carry.c ---- */

/* A new build gets its units: of its table, and those that users of earlier builds have found. */
void dh_hive_carry_join(struct dh_hive_state *s, u32 build);
/* The candidate of a build that consists of these two accesses, which a user saw in the pair or bundle
 * `examined` or, if they have met, anywhere; or DH_HIVE_NONE. */
u32 dh_hive_carry_candidate(struct dh_hive_state *s, u32 build, u32 examined, const u64 sites[2], bool met);
/* What a new version of a pair will be called: as the pair, unless another one is. */
u64 dh_hive_carry_id(const struct dh_hive_state *s, u32 program, u64 pair, u64 evidence);
bool dh_hive_side_has(const struct dh_pairs *table, const struct dh_pairs_pair *pair, int side, u32 site);

u32 dh_hive_task_new(struct dh_hive_state *s, const struct dh_hive_task *t, u64 seq);
void dh_hive_task_end(struct dh_hive_state *s, u32 task, enum dh_hive_task_state state, u64 seq);

/* A task that takes too long was also given to another user: it waits once more. */
void dh_hive_queue_requeue(struct dh_hive_state *s, u32 build, u32 task, u64 now_us);
/* Drops ended tasks: at the front, and, now and then, all. */
void dh_hive_queue_trim(struct dh_hive_state *s, u32 build);

#endif
