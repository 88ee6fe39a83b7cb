/*
 * moment.h - two threads stopped at two accesses: what is copied while they wait, and what is derived from it
 * later.
 *
 * They wait only while their stacks are copied. Unwinding, which may have to read large files, uses the
 * copies.
 */
#ifndef DH_CHASE_MOMENT_H
#define DH_CHASE_MOMENT_H

#include "chase/target.h"

enum { DH_CHASE_MOMENT_FRAMES = 256 };

struct dh_chase_moment;

/* Called while both threads wait. changed: the bytes differ from when the first thread began to wait, which
 * helps to find out what the second one did if a watchpoint caught it. swapped: the waiting thread is named
 * first. */
struct dh_chase_moment *dh_chase_moment_new(const struct dh_chase_target *t, bool changed, bool swapped);
/* The same in two steps, when the first thread does not wait for the second: one called while the first
 * waits, the other while the second does. */
struct dh_chase_moment *dh_chase_moment_begin(const struct dh_chase_target *t, bool swapped);
void dh_chase_moment_meet(struct dh_chase_moment *m, const struct dh_chase_target *t, bool changed);
void dh_chase_moment_free(struct dh_chase_moment *m);

/* Where an access is in the source. */
struct dh_chase_place {
    const char *file; /* valid while the module's file is open; NULL: not known */
    int line, column;
    u8 kinds;
    bool outside; /* the access is in other code, called from there */
    bool plain;   /* it is certainly not atomic */
};

/* The accesses of the waiting thread and of the other one, each at the innermost line in these modules. False
 * if both are atomic. */
bool dh_chase_moment_places(struct dh_chase_moment *m, const struct dh_chase_module *modules, size_t n,
                            struct dh_chase_place ret[2]);

/* The waiting thread and the other one. */
void dh_chase_moment_tids(const struct dh_chase_moment *m, u32 ret[2]);

/* The stack of the waiting thread, or of the other one: return addresses as offsets in the file of the
 * module that contains the first access, innermost first. 0 stands for a frame in another module, and is
 * never last. */
size_t dh_chase_moment_offsets(struct dh_chase_moment *m, bool waited, u64 *ret, size_t most);

/* One process's stream of race records (docs/design/race-record.md). */
struct dh_chase_stream {
    const char *process; /* 32 hex digits */
    /* Called with each line, without its newline. */
    void (*line)(void *ctx, const char *text, size_t len);
    void *ctx;
    int modules, races; /* written so far */
    const char *order;  /* of the accesses: "shown" if the earlier one comes first, or "reversed"; NULL:
                         * not known */
    const char *consequence, *detail; /* NULL: not known */
    const char *analysis;             /* "litehb" or "fullhb"; NULL: the two were caught at the same time */
};

/* Writes the lines of a race: the modules and threads it refers to, and the race itself. Returns false, and
 * writes nothing, if both accesses turn out to be atomic. */
bool dh_chase_moment_tell(struct dh_chase_moment *m, struct dh_chase_stream *to);

#endif
