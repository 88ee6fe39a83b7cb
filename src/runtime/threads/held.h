/*
 * held.h - where in memory locks of the language (lard.h) are held, roughly, so that moving an object that
 * nobody has locked need not ask every thread.
 */
#ifndef DH_RUNTIME_THREADS_HELD_H
#define DH_RUNTIME_THREADS_HELD_H

#include "runtime/threads/thread.h"

enum { DH_HELD_SHIFT = 12, DH_HELD_PAGES = 1024 };

DH_INLINE u32 dh_held_page(uptr lock)
{
    return (u32)(lock >> DH_HELD_SHIFT) % DH_HELD_PAGES;
}

/* t has taken the lock h, the last of its held ones. */
void dh_held_note(struct dh_thread *t, struct dh_held *h);
/* Would that do nothing? */
DH_INLINE bool dh_held_noted(const struct dh_thread *t, uptr lock)
{
    u32 page = dh_held_page(lock);
    return t->pins[page % DH_PINS] == page + 1;
}
/* t lets go of a lock with these flags. */
void dh_held_drop(uptr lock, u32 flags);
/* h, which t holds, is now at `to`. Nobody else does anything with it meanwhile. */
void dh_held_move(struct dh_held *h, uptr to);
/* False: nobody holds a lock of the language in [lo, lo + n). */
bool dh_held_maybe(uptr lo, size_t n);
/* t is gone. */
void dh_held_forget(struct dh_thread *t);

#endif
