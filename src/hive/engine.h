/*
 * engine.h - a state and its store: one writing thread, any number of readers.
 *
 * Requests that change something are jobs. Those that wait while the log is being written go into one
 * transaction together (group commit): work() is called for each with the state locked and up to date with
 * the log; then all events are committed; then done() is called for each. What was not stored has not
 * happened.
 *
 * Readers see events a moment before they are committed. Only what is acknowledged is promised.
 */
#ifndef DH_HIVE_ENGINE_H
#define DH_HIVE_ENGINE_H

#include "hive/decide.h"

struct dh_hive_engine;

struct dh_hive_job {
    void (*work)(struct dh_hive_batch *b, void *ctx);
    void (*done)(void *ctx, bool stored); /* called in the writing thread; must not submit and wait */
    void *ctx;
    struct dh_hive_job *next; /* the engine's own */
};

struct dh_hive_engine_stats {
    u64 batches, events, failures; /* commits; events in them; those that failed */
    u64 snapshot;                  /* the number of the last event covered by the last one, or 0 */
    bool ready; /* the store responds and takes what is written, and the state is that of the log */
};

/* Reads the log. changed(ctx) is called in the writing thread when the state may have changed, and a few
 * times a second; it may be NULL. A snapshot is written at the start and at the end, if the last one is this
 * many events behind; 0: never. 0, or a negative errno and a message from malloc. */
int dh_hive_engine_start(const char *where, bool create, const struct dh_hive_policy *policy,
                         u64 snapshot_events, void (*changed)(void *ctx), void *ctx,
                         struct dh_hive_engine **ret, char **ret_why);
/* Finishes what was submitted. */
void dh_hive_engine_stop(struct dh_hive_engine *e);
void dh_hive_engine_free(struct dh_hive_engine *e);

/* False after a stop: then nothing is called. */
bool dh_hive_engine_submit(struct dh_hive_engine *e, struct dh_hive_job *job);
/* The same, and waits. False if it was not stored. */
bool dh_hive_engine_run(struct dh_hive_engine *e, void (*work)(struct dh_hive_batch *b, void *ctx),
                        void *ctx);

const struct dh_hive_state *dh_hive_engine_lock(struct dh_hive_engine *e);
void dh_hive_engine_unlock(struct dh_hive_engine *e);
/* The time that an event would have now. It never goes back, and goes on even while the machine's clock is
 * behind the log. Call with the state locked. */
u64 dh_hive_engine_now(const struct dh_hive_engine *e);
void dh_hive_engine_stats(struct dh_hive_engine *e, struct dh_hive_engine_stats *ret);
/* Copies an embedded store; otherwise a negative errno and a message from malloc. */
int dh_hive_engine_backup(const char *where, const char *path, char **ret_why);
u64 dh_hive_now_us(void);   /* since 1970 */
u64 dh_hive_ticks_us(void); /* for time limits: goes on evenly when the clock is set */

#endif
