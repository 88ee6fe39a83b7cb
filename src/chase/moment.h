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

/* While both threads wait. changed: the bytes are not what they were when the first began to wait, which
 * helps to tell what the second has done, if a watchpoint told of it. swapped: who waited is named first. */
struct dh_chase_moment *dh_chase_moment_new(const struct dh_chase_target *t, bool changed, bool swapped);
/* The same in two steps, for a first thread that does not wait for the second: while the first waits, and
 * while the second does. */
struct dh_chase_moment *dh_chase_moment_begin(const struct dh_chase_target *t, bool swapped);
void dh_chase_moment_meet(struct dh_chase_moment *m, const struct dh_chase_target *t, bool changed);
void dh_chase_moment_free(struct dh_chase_moment *m);

/* Where an access is in the source. */
struct dh_chase_place {
    const char *file; /* as long as the module's file is open; NULL: not known */
    int line, column;
    u8 kinds;
    bool outside; /* it is made by other code, which was called there */
    bool plain;   /* it is certainly not atomic */
};

/* The accesses of who waited and of the other, each at the innermost line of these modules. False if both are
 * atomic. */
bool dh_chase_moment_places(struct dh_chase_moment *m, const struct dh_chase_module *modules, size_t n,
                            struct dh_chase_place ret[2]);

/* The stack of who waited, or of the other: offsets in the file of the module that the first access is in, as
 * return addresses, innermost first. 0 stands for frames of other modules; none of these is the last. */
size_t dh_chase_moment_offsets(struct dh_chase_moment *m, bool waited, u64 *ret, size_t most);

/* The stream of race records (docs/design/race-record.md) of one process. */
struct dh_chase_stream {
    const char *process; /* 32 hex digits */
    /* Each line, without its newline. */
    void (*line)(void *ctx, const char *text, size_t len);
    void *ctx;
    int modules, races; /* told so far */
    const char *order;  /* in which the accesses were made: "shown", the earlier one first, or "reversed";
                           NULL: not known */
    const char *consequence, *detail; /* NULL: not known */
    const char *analysis;             /* "litehb" or "fullhb"; NULL: the two were caught at once */
};

/* The lines of a race: modules and threads it refers to, and itself. False, and nothing is told, if it turns
 * out that both accesses are atomic. */
bool dh_chase_moment_tell(struct dh_chase_moment *m, struct dh_chase_stream *to);

#endif
