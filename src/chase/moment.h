/*
 * moment.h - two threads stopped at two accesses: what is copied while they wait, and what is made of it
 * later.
 *
 * They wait only while their stacks are copied. Unwinding, which may have to read large files, is done on
 * the copies.
 */
#ifndef DH_CHASE_MOMENT_H
#define DH_CHASE_MOMENT_H

#include "chase/target.h"

enum { DH_CHASE_MOMENT_FRAMES = 256 };

struct dh_chase_moment;

/* While both threads wait. */
struct dh_chase_moment *dh_chase_moment_new(const struct dh_chase_target *t);
void dh_chase_moment_free(struct dh_chase_moment *m);

/* Each line of the race record (docs/design/race-record.md), without its newline. */
typedef void dh_chase_line(void *ctx, const char *text, size_t len);

/* The lines of a race: modules and threads it refers to, and itself. `process` is 32 hex digits. */
void dh_chase_moment_tell(struct dh_chase_moment *m, const char *process, dh_chase_line *line, void *ctx);

#endif
