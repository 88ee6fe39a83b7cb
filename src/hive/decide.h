/*
 * decide.h - turns requests to a hive into events: the decisions that apply.c does not make.
 *
 * A batch is a state and the events that have been applied to it but are not in the log yet. There is no
 * input or output: the caller provides the time and the random numbers, appends the events and answers.
 */
#ifndef DH_HIVE_DECIDE_H
#define DH_HIVE_DECIDE_H

#include "hive/policy.h"

/* The outcome of a request; the numbers are those of HTTP. */
enum dh_hive_status {
    DH_HIVE_OK = 200,
    DH_HIVE_CREATED = 201,
    DH_HIVE_BAD = 400,
    DH_HIVE_FORBIDDEN = 403,
    DH_HIVE_NOT_FOUND = 404,
    DH_HIVE_CONFLICT = 409,
    DH_HIVE_UNPROCESSABLE = 422,
};

struct dh_hive_batch {
    struct dh_hive_state *state;
    const struct dh_hive_policy *policy;
    u64 now_us;
    u64 random;
    struct dh_arena arena; /* holds the events */
    struct dh_store_event *events;
    size_t n_events, cap_events;
};

void dh_hive_batch_done(struct dh_hive_batch *b);
void dh_hive_batch_clear(struct dh_hive_batch *b); /* the events are in the log */

/* Each returns the outcome; on failure *ret_why is a message that lives as long as the program. */

/* Adds the program, if there is none of this name. */
enum dh_hive_status dh_hive_add_program(struct dh_hive_batch *b, const char *name, const char **ret_why);
enum dh_hive_status dh_hive_add_key(struct dh_hive_batch *b, const char *program, const char *hash,
                                    u32 *ret_number, const char **ret_why);
enum dh_hive_status dh_hive_revoke_key(struct dh_hive_batch *b, const char *program, u32 number,
                                       const char **ret_why);
/* Adds the build, with its table of pairs as bytes. style: which of them are candidates, "relay" or "sound";
 * NULL: as before, or relay. OK: it was there already; CREATED: it is new. */
enum dh_hive_status dh_hive_add_build(struct dh_hive_batch *b, const char *program, const char *build,
                                      const char *style, const void *table, size_t len, const char **ret_why);

/* Adds source lines of a build (source.h). OK: these very lines are there already. */
enum dh_hive_status dh_hive_add_source(struct dh_hive_batch *b, const char *build, const void *bytes,
                                       size_t len, const char **ret_why);

/* Adds symbols of a build's code (stacks.h), for the stacks of its races. OK: these very ones are there. */
enum dh_hive_status dh_hive_add_symbols(struct dh_hive_batch *b, const char *build, const void *bytes,
                                        size_t len, const char **ret_why);

/* The user says which build it runs, and may get a task, in dh_hive_user's `task`. */
enum dh_hive_status dh_hive_poll(struct dh_hive_batch *b, u32 program, const char *user, const char *build,
                                 u32 *ret_user, const char **ret_why);
/* Would that change anything? If not, it can be answered from the state as it is. *user_at: on entry where
 * the user was found last, or DH_HIVE_NONE; on return where it is, or DH_HIVE_NONE if it runs something
 * else. */
bool dh_hive_poll_changes(const struct dh_hive_state *s, u32 program, const char *user, const char *build,
                          u64 now_us, u32 *user_at);
/* Adds a result, in the format of the interface. OK: it was there already; CREATED: it is new. */
enum dh_hive_status dh_hive_add_result(struct dh_hive_batch *b, u32 program, const char *user,
                                       const json_t *result, const char **ret_why);

/* Forgets one of these: a unit (of the program), a build, a user by hash; the others are NULL. */
enum dh_hive_status dh_hive_forget(struct dh_hive_batch *b, const char *program, const char *unit,
                                   const char *build, const char *user, const char **ret_why);

#endif
