/*
 * loaded.h - what a program that is followed has loaded: libraries whose own synchronisation nobody sees.
 */
#ifndef DH_CHASE_LOADED_H
#define DH_CHASE_LOADED_H

#include "chase/target.h"
#include "util/map.h"

struct dh_chase_loaded {
    struct dh_arena *arena;
    const char *program;        /* the path of it, which is looked at otherwise (follow.h) */
    const char *const *trusted; /* names of files that order no threads, the user says */
    size_t n_trusted;
    struct dh_map known; /* paths of what was looked at, and is as it should be */
};

void dh_chase_loaded_init(struct dh_chase_loaded *l, struct dh_arena *arena);
void dh_chase_loaded_done(struct dh_chase_loaded *l);
bool dh_chase_loaded_is_trusted(const struct dh_chase_loaded *l, const char *path);
/* Looks at what is loaded now and was not before. NULL, or a sentence about what may order threads unseen. */
const char *dh_chase_loaded_check(struct dh_chase_loaded *l, const struct dh_chase_target *t);

#endif
