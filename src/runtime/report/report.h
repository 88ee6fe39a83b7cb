/*
 * report.h - from a race found by the engine to a line of docs/design/race-record.md.
 */
#ifndef DH_RUNTIME_REPORT_REPORT_H
#define DH_RUNTIME_REPORT_REPORT_H

#include "runtime/engine/engine.h"

/* Access a races with the earlier access `id`, known to cover [addr, addr + size); `at` is the first byte
 * they share. */
void dh_report_race(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size, uptr at);
/* Do stacks show a call that returns to pc? Not those by which the runtime calls program code. */
bool dh_report_shows(uptr pc);
/* The process starts: tell the gatherer, if there is one, that it runs. */
void dh_report_announce(void);
/* The process starts: with an output file, its stream begins. */
void dh_report_begin(void);
/* The stream ends: repetitions, counters, verdict. True if a race was reported and not suppressed. */
bool dh_report_finish(void);
/* The process ends: the same, and an output file records it even if it has nothing from this process yet. */
bool dh_report_end(void);
/* The process, which had races, ends and has chosen its status: `status` because of its races; 0: its own,
 * despite them. Tell the gatherer, if there is one. */
void dh_report_exits(int status);
void dh_report_fork_child(void);
void dh_report_each_lock(dh_lock_fn *fn);

#endif
