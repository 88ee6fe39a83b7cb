/*
 * report.h - from a race found by the engine to a line of docs/design/race-record.md.
 */
#ifndef DH_RUNTIME_REPORT_REPORT_H
#define DH_RUNTIME_REPORT_REPORT_H

#include "runtime/engine/engine.h"

/* Access a races with the earlier access `id`, of which [addr, addr + size) is known; `at` is the first byte
 * they share. */
void dh_report_race(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size, uptr at);
/* Do stacks show a call that returns to pc? Not those by which the runtime calls the program. */
bool dh_report_shows(uptr pc);
/* The process starts: whoever gathers for a whole command is told that it runs. */
void dh_report_announce(void);
/* The process starts: with an output file, its stream begins. */
void dh_report_begin(void);
/* The stream ends: repetitions, counters, verdict. True if a race was reported and not suppressed. */
bool dh_report_finish(void);
/* The process ends: the same, and an output file is told even if it holds nothing of this process yet. */
bool dh_report_end(void);
/* The process, which raced, ends and has decided on its status: `status` because of its races; 0: its own, in
 * spite of them. Whoever gathers for a whole command is told. */
void dh_report_exits(int status);
void dh_report_fork_child(void);
void dh_report_each_lock(dh_lock_fn *fn);

#endif
