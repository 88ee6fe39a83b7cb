/*
 * decide.h - what is asked of a hive, turned into events: the choices that apply.c does not make.
 *
 * A batch is a state and the events that have been added to it and are not in the log yet. No input and
 * output: the caller says what time it is and what random numbers are, appends the events and answers.
 */
#ifndef DH_HIVE_DECIDE_H
#define DH_HIVE_DECIDE_H

#include "hive/policy.h"

/* What became of a request; the numbers are those of HTTP. */
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

/* Each returns what became of it; on failure *ret_why is a sentence that lives as long as the program. */

/* The program, if there is none of this name. */
enum dh_hive_status dh_hive_add_program(struct dh_hive_batch *b, const char *name, const char **ret_why);
enum dh_hive_status dh_hive_add_key(struct dh_hive_batch *b, const char *program, const char *hash,
                                    u32 *ret_number, const char **ret_why);
enum dh_hive_status dh_hive_revoke_key(struct dh_hive_batch *b, const char *program, u32 number,
                                       const char **ret_why);
/* The build with its table of pairs as bytes. style: which of them are candidates, "relay" or "sound"; NULL:
 * as it was, or relay. OK: it was there already; CREATED: it is new. */
enum dh_hive_status dh_hive_add_build(struct dh_hive_batch *b, const char *program, const char *build,
                                      const char *style, const void *table, size_t len, const char **ret_why);

/* Lines of the source of a build (source.h). OK: these very lines are there already. */
enum dh_hive_status dh_hive_add_source(struct dh_hive_batch *b, const char *build, const void *bytes,
                                       size_t len, const char **ret_why);

/* Names of the code of a build (stacks.h), for the stacks of its races. OK: these very ones are there. */
enum dh_hive_status dh_hive_add_symbols(struct dh_hive_batch *b, const char *build, const void *bytes,
                                        size_t len, const char **ret_why);

/* The user says which build runs, and may get a task: dh_hive_user's `task` has it then. */
enum dh_hive_status dh_hive_poll(struct dh_hive_batch *b, u32 program, const char *user, const char *build,
                                 u32 *ret_user, const char **ret_why);
/* Would that change anything? If not, it can be answered from the state as it is. *user_at is where the user
 * was found the last time, or DH_HIVE_NONE, and then where it is, or DH_HIVE_NONE if it runs something else.
 */
bool dh_hive_poll_changes(const struct dh_hive_state *s, u32 program, const char *user, const char *build,
                          u64 now_us, u32 *user_at);
/* A result, as the interface has it. OK: it was there already; CREATED: it is new. */
enum dh_hive_status dh_hive_add_result(struct dh_hive_batch *b, u32 program, const char *user,
                                       const json_t *result, const char **ret_why);

/* One of these: a unit (of the program), a build, a user's hash; the others NULL. */
enum dh_hive_status dh_hive_forget(struct dh_hive_batch *b, const char *program, const char *unit,
                                   const char *build, const char *user, const char **ret_why);

#endif
