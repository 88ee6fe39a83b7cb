/*
 * run_tsan.h - `deadheat run --tsan-options`: what TSAN_OPTIONS says, as options of ours.
 */
#ifndef DH_CLI_RUN_TSAN_H
#define DH_CLI_RUN_TSAN_H

#include "util/arena.h"

/* Takes one flag, --name=value, as a user gives it. 0, or an exit status after a sentence. */
typedef int dh_run_tsan_set(void *ctx, const char *flag);

/* Hands what the text comes to to `set`, in its order, and says what is not supported. Returns what set does.
 */
int dh_run_tsan(struct dh_arena *arena, const char *text, dh_run_tsan_set *set, void *ctx);

#endif
