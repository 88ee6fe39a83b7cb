/*
 * held.h - roughly where in memory language-level locks (lard.h) are held, so that moving an object that is
 * not locked need not check every thread.
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
/* Would dh_held_note do nothing? */
DH_INLINE bool dh_held_noted(const struct dh_thread *t, uptr lock)
{
    u32 page = dh_held_page(lock);
    return t->pins[page % DH_PINS] == page + 1;
}
/* t releases a lock with these flags. */
void dh_held_drop(uptr lock, u32 flags);
/* h, which is held, is now at `to`. No other thread uses it meanwhile. */
void dh_held_move(struct dh_held *h, uptr to);
/* False: no language-level lock in [lo, lo + n) is held. */
bool dh_held_maybe(uptr lo, size_t n);
/* t is gone. */
void dh_held_forget(struct dh_thread *t);

#endif
