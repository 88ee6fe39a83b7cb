/*
 * known.h - which races have been reported already. All under DH_RANK_REPORT.
 */
#ifndef DH_RUNTIME_REPORT_KNOWN_H
#define DH_RUNTIME_REPORT_KNOWN_H

#include "runtime/shadow/cell.h"

/* Access `id` raced with `other` at addr: the number of a new race, counted from 1; or 0 after counting a
 * repetition or a loss. */
u32 dh_known_race(dh_id_t id, dh_id_t other, uptr addr);
u32 dh_known_count(void); /* of new races so far */
void dh_known_each_repeat(void (*fn)(u32 race, u32 count));
void dh_known_forget(void); /* a forked child starts anew */

#endif
