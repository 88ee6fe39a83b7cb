/*
 * discipline.h - the locking discipline of two places in the code, as far as the engine remembers it: how
 * many of the accesses recorded there were made under which lock, and what ordered them if no lock was held.
 * It explains a race ("14 of 15 accesses held this lock") and is computed only when one is reported.
 */
#ifndef DH_RUNTIME_REPORT_DISCIPLINE_H
#define DH_RUNTIME_REPORT_DISCIPLINE_H

#include "runtime/threads/thread.h"

struct dh_discipline {
    u32 accesses; /* recorded at this place: one for each epoch, calling context and lockset */
    /* The lock that most of them held; with held == 0: none. */
    uptr lock;
    u32 held;
    /* The call by which most of them took a lock, possibly one of many; a return address. */
    uptr taken_at;
    u32 held_from;
    /* Accesses of the thread that found the race, at its own place, one for each epoch; and how many of them
     * directly followed an acquisition, from the object at `order`, of an access at the other place. ordered
     * == 0: there is no such object. */
    u32 observations;
    u32 ordered;
    uptr order;
};

/* For a race that t, the calling thread, found at `here` with an earlier access at `there`: program counters,
 * which may be equal. */
void dh_discipline_find(const struct dh_thread *t, uptr here, uptr there, struct dh_discipline *ret);

#endif
