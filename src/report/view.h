/*
 * view.h - one race with everything named: what suppressions look at, what the fingerprint is made of, and
 * what the text and JSON reports print.
 */
#ifndef DH_REPORT_VIEW_H
#define DH_REPORT_VIEW_H

#include "report/suppress.h"
#include "report/symbol.h"

struct dh_view_lock {
    const struct dh_model_lock *lock;
    const char *name; /* of the global, or M1, M2 ... for others, by address */
    bool named;       /* by a global */
    struct dh_symbol_trace acquired_at;
};

struct dh_view_thread {
    u64 uid;
    const char *label;                  /* "T2 'worker'" */
    const struct dh_model_thread *info; /* NULL: never announced */
    struct dh_symbol_trace created_at;
};

struct dh_view_access {
    const struct dh_model_access *access;
    struct dh_view_thread thread;
    struct dh_symbol_trace stack;
    struct dh_view_lock *locks;
    size_t n_locks;
};

struct dh_view {
    const struct dh_model_race *race;
    struct dh_view_access accesses[2];
    bool has_variable; /* the location is a global, thread-local or stack variable with a known name */
    struct dh_symbol_variable variable;
    struct dh_symbol_trace allocated_at; /* heap */
    struct dh_symbol_trace frame;        /* stack: the function whose frame it is, if known */
    const char *location_thread; /* label of the heap block's allocator, or the stack's owner; or NULL */
};

/* brief: stacks end with the outermost frame that is not in a system library, if they have one. */
struct dh_view *dh_view_new(struct dh_arena *arena, struct dh_symbol *symbols,
                            const struct dh_model_race *race, bool brief);
const char *dh_view_thread_label(struct dh_arena *arena, const struct dh_model_process *process, u64 uid);

/* One of the accesses is a free (or munmap): a race between use and release of the memory. */
bool dh_view_is_free(const struct dh_view *v);
/* Not in a system header or library, as far as can be told. */
bool dh_view_in_project(const struct dh_symbol_frame *f);
/* The frame to point at: the first that is not in a system header or library; NULL for an empty stack. */
const struct dh_symbol_frame *dh_view_top(const struct dh_symbol_trace *trace);
/* Why it is a race, in one sentence. explain.c. */
const char *dh_view_explain(struct dh_arena *arena, const struct dh_view *v);
/* What was raced on: "global `counter`", "a heap block of 40 bytes". */
const char *dh_view_subject(struct dh_arena *arena, const struct dh_view *v);
/* The text that is the race's identity (fingerprint version 1). */
const char *dh_view_fingerprint(struct dh_arena *arena, const struct dh_view *v);
/* The rule that suppresses it, or NULL. */
struct dh_suppress_rule *dh_view_suppressed(const struct dh_view *v, const struct dh_suppress *s);

#endif
