/*
 * discipline.h - the locking discipline of a place in the code, as far as the engine remembers it: how many
 * of the accesses recorded there were made under which lock. It explains a race ("14 of 15 accesses held this
 * lock") and is asked for only when one is reported.
 */
#ifndef DH_RUNTIME_REPORT_DISCIPLINE_H
#define DH_RUNTIME_REPORT_DISCIPLINE_H

#include "base/base.h"

struct dh_discipline {
    u32 accesses; /* recorded at this place: one for each epoch, calling context and set of locks */
    /* The lock that most of them held; with held == 0: none. */
    uptr lock;
    u32 held;
    /* The call by which most of them took a lock, one of many perhaps; a return address. */
    uptr taken_at;
    u32 held_from;
};

/* Of the accesses at the program counters `pc` and `other`, which may be equal, together. */
void dh_discipline_find(uptr pc, uptr other, struct dh_discipline *ret);

#endif
