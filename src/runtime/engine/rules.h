/*
 * rules.h - counts how often each rule of the engine applied, and why an access took the slow path; for
 * --stats.
 *
 * Each thread counts for itself, behind one branch on a flag that is set before the program starts: see
 * docs/design/engine.md, "Counting", for the reasons and the cost. Hits of the inlined check are not counted:
 * counting would cost more than the check.
 */
#ifndef DH_RUNTIME_ENGINE_RULES_H
#define DH_RUNTIME_ENGINE_RULES_H

#include "runtime/threads/thread.h"

struct dh_access_now; /* engine.h */

extern bool dh_rules_on;

/* c: DH_RULES_FIRST or later. A signal handler on this thread may lose a count. */
DH_INLINE void dh_rule(const struct dh_thread *t, enum dh_counter c)
{
    if (DH_UNLIKELY(dh_rules_on))
        ((struct dh_thread *)t)->rules[c - DH_RULES_FIRST]++;
}

/* The same as the last operand of a condition. */
DH_INLINE bool dh_rule_yes(const struct dh_thread *t, enum dh_counter c)
{
    dh_rule(t, c);
    return true;
}

/* Count why quick.c leaves an access to engine.c. */
void dh_rules_miss(struct dh_thread *t, uptr addr, u32 size, u32 kind);
/* engine.c has put access a in place of `old`, which is now `cell`. */
void dh_rules_put(const struct dh_access_now *a, dh_cell_t old, dh_cell_t cell);

/* At the start, once. */
void dh_rules_init(bool on);
/* A thread has ended; its counts outlive it. Under dh_threads_lock. */
void dh_rules_give(const struct dh_thread *t);
/* Of all threads, including ended ones. Takes dh_threads_lock. */
u64 dh_rules_total(enum dh_counter c);
/* The child of a fork counts from 0. Under dh_threads_lock. */
void dh_rules_fork_child(void);

#endif
