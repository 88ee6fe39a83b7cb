/*
 * follow.h - which instructions of a field build may order threads, so that happens-before can be followed
 * (docs/design/field.md): those that the compiler has noted as atomic, and all accesses of code of which
 * nothing is known.
 */
#ifndef DH_CHASE_FOLLOW_H
#define DH_CHASE_FOLLOW_H

#include "chase/lines.h"

/* They have no positions. trusted: code that deadheat has not compiled orders no threads, the user says. 0,
 * or -ENOTSUP with a sentence. */
int dh_chase_follow_find(struct dh_arena *arena, struct dh_chase_file *file, bool trusted,
                         struct dh_chase_accesses *ret, const char **ret_why);

#endif
