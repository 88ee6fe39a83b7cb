/*
 * init.h - start, degradation and the state of the runtime as a whole.
 */
#ifndef DH_RUNTIME_INIT_H
#define DH_RUNTIME_INIT_H

#include "base/options.h"
#include "runtime/runtime.h"

extern struct dh_options dh_opts;
/* The environment's entry "DEADHEAT_OPTIONS=..." as it was at the start; NULL if there was none. */
extern char *dh_options_env;
/* Suppressions built into the program; NULL: none. */
extern char *dh_suppressions_env;

/* Detection has stopped for good (no memory). Read on every slow path. */
extern bool dh_runtime_off;

/* Something that detection depends on is unavailable: stop detecting, say so once, let the program
 * continue. */
void dh_runtime_degrade(const char *why);

/* Instrumented code cannot run without the shadow of what it touches: say so and end the process. */
_Noreturn void dh_runtime_no_shadow(void);

/* ---- secure.c: a program with more privileges than the user who started it ---- */

extern bool dh_runtime_secure; /* it is one; set at the start */
void dh_runtime_secure_init(char **envp);
/* Reset the options that are not allowed in such a program. No effect in any other. */
void dh_runtime_secure_options(struct dh_options *o);

bool dh_runtime_has_membarrier(void);
void dh_runtime_lose_membarrier(void);
u64 dh_runtime_counter(enum dh_counter c);
const char *dh_runtime_counter_name(enum dh_counter c);

#endif
