/*
 * follow.h - which instructions of a field build may order threads, so that happens-before can be tracked
 * (docs/design/field.md): those that the compiler recorded as atomic, and all accesses in code about which
 * nothing is known.
 */
#ifndef DH_CHASE_FOLLOW_H
#define DH_CHASE_FOLLOW_H

#include "chase/lines.h"

/* The sites have no positions. trusted: the user says that code not compiled by deadheat orders no threads.
 * 0, or -ENOTSUP with a message. */
int dh_chase_follow_find(struct dh_arena *arena, struct dh_chase_file *file, bool trusted,
                         struct dh_chase_accesses *ret, const char **ret_why);

#endif
