/*
 * loaded.h - what a program has loaded: libraries whose own synchronisation is invisible, and code that sets
 * signals by itself.
 */
#ifndef DH_CHASE_LOADED_H
#define DH_CHASE_LOADED_H

#include "chase/target.h"
#include "util/map.h"

struct dh_chase_loaded {
    struct dh_arena *arena;
    const char *program;        /* its path; the program itself is checked elsewhere (follow.h) */
    const char *const *trusted; /* names of files that, according to the user, order no threads */
    size_t n_trusted;
    struct dh_map known;  /* paths of libraries already checked and found harmless */
    struct dh_map silent; /* paths of files in which no code sets signals by itself */
};

void dh_chase_loaded_init(struct dh_chase_loaded *l, struct dh_arena *arena);
void dh_chase_loaded_done(struct dh_chase_loaded *l);
bool dh_chase_loaded_is_trusted(const struct dh_chase_loaded *l, const char *path);
/* Checks libraries loaded since the last call. NULL, or a sentence about what may order threads unseen. */
const char *dh_chase_loaded_check(struct dh_chase_loaded *l, const struct dh_chase_target *t);
/* The same for code, also of the program, that may set the action or the mask of a signal by a direct system
 * call. */
const char *dh_chase_loaded_signals(struct dh_chase_loaded *l, const struct dh_chase_target *t);

#endif
