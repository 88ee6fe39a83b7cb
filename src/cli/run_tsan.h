/*
 * run_tsan.h - `deadheat run --tsan-options`: translates TSAN_OPTIONS to our own options.
 */
#ifndef DH_CLI_RUN_TSAN_H
#define DH_CLI_RUN_TSAN_H

#include "util/arena.h"

/* Sets one flag, --name=value, as a user would give it. 0, or an exit status after a message. */
typedef int dh_run_tsan_set(void *ctx, const char *flag);

/* Passes the resulting flags to `set`, in order, and reports what is not supported. Returns what set does. */
int dh_run_tsan(struct dh_arena *arena, const char *text, dh_run_tsan_set *set, void *ctx);

#endif
