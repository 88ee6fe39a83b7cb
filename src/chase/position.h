/*
 * position.h - how a user names accesses: FILE:LINE[:COLUMN][:read|write], and pairs of these. A column of *
 * means every access of the line.
 */
#ifndef DH_CHASE_POSITION_H
#define DH_CHASE_POSITION_H

#include "report/pairs.h"
#include "util/arena.h"

struct dh_chase_position {
    const char *file; /* a suffix of a path, in whole components */
    int line;
    int column; /* 0: not given */
    bool all;   /* every column */
    u8 kinds;   /* DH_CONTROL_READ, DH_CONTROL_WRITE or both */
};

/* One position. 0, or -EINVAL with the reason in *ret_why. */
int dh_chase_position_one(struct dh_arena *arena, const char *text, struct dh_chase_position *ret,
                          const char **ret_why);
/* A:B. 0, or -EINVAL with the reason in *ret_why. */
int dh_chase_position_pair(struct dh_arena *arena, const char *text, struct dh_chase_position ret_pair[2],
                           const char **ret_why);
/* The position of a site in a program's table. False: it has no line, or is not a machine access (free). */
bool dh_chase_position_of_site(struct dh_arena *arena, const struct dh_pairs_site *site,
                               struct dh_chase_position *ret);
/* As a user would write it. */
const char *dh_chase_position_text(struct dh_arena *arena, const struct dh_chase_position *p);

#endif
