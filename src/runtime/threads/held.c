/*
 * held.c - see held.h.
 *
 * Held locks are counted by page, modulo DH_HELD_PAGES. Counting is an atomic operation on memory that all
 * threads share; so a thread keeps its count for a page (a pin) after releasing the lock, since it will
 * usually return, and drops the pin when it needs the slot for another page. A lock that finds no free pin is
 * counted individually (DH_LOCK_COUNTED).
 *
 * Invariant: the page of every held language-level lock is counted.
 */
#include "runtime/threads/held.h"

static u32 counts[DH_HELD_PAGES]; /* atomic */
_Static_assert(DH_HELD_PAGES + 1 <= UINT16_MAX, "a pin is a page + 1, in 16 bits");

static void count(u32 page, u32 more)
{
    u32 was = __atomic_fetch_add(&counts[page], more, __ATOMIC_RELAXED);
    DH_ASSERT(more == 1 || was > 0);
    (void)was;
}

void dh_held_note(struct dh_thread *t, struct dh_held *h)
{
    u32 page = dh_held_page(h->lock);
    u16 *pin = &t->pins[page % DH_PINS];
    if (DH_LIKELY(*pin == page + 1))
        return;
    count(page, 1);
    if (*pin && t->locks.n > 1) { /* another lock may need that pin */
        h->flags |= DH_LOCK_COUNTED;
        return;
    }
    if (*pin)
        count(*pin - 1u, -1u);
    *pin = (u16)(page + 1);
}

void dh_held_drop(uptr lock, u32 flags)
{
    if (DH_UNLIKELY(flags & DH_LOCK_COUNTED))
        count(dh_held_page(lock), -1u);
}

void dh_held_move(struct dh_held *h, uptr to)
{
    count(dh_held_page(to), 1);
    dh_held_drop(h->lock, h->flags);
    h->flags |= DH_LOCK_COUNTED;
    h->lock = to;
}

bool dh_held_maybe(uptr lo, size_t n)
{
    uptr first = lo >> DH_HELD_SHIFT, last = (lo + n - 1) >> DH_HELD_SHIFT;
    for (uptr page = first; page <= last && page < first + DH_HELD_PAGES; page++)
        if (__atomic_load_n(&counts[page % DH_HELD_PAGES], __ATOMIC_RELAXED))
            return true;
    return false;
}

void dh_held_forget(struct dh_thread *t)
{
    for (u32 i = 0; i < DH_PINS; i++)
        if (t->pins[i])
            count(t->pins[i] - 1u, -1u);
    for (u32 i = 0; i < t->locks.n; i++)
        dh_held_drop(t->held[i].lock, t->held[i].flags);
}
