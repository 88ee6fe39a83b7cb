/*
 * pages.h - which pages of an address space were seen, numbered in order of appearance.
 *
 * Freestanding; the caller serialises all use.
 */
#ifndef DH_EVENT_PAGES_H
#define DH_EVENT_PAGES_H

#include "base/base.h"

enum { DH_PAGE_SHIFT = 12, DH_PAGE = 1 << DH_PAGE_SHIFT };
#define DH_PAGES_NONE UINT32_MAX

/* All zero is a valid start. */
struct dh_pages {
    u64 *keys;  /* by number: address >> DH_PAGE_SHIFT */
    u32 *slots; /* open addressing: number + 1; 0: empty */
    u32 n;
    u32 cap; /* of keys; there are twice as many slots */
};

void dh_pages_done(struct dh_pages *p);
/* The number of the page with this key; DH_PAGES_NONE: it was never seen. */
u32 dh_pages_find(const struct dh_pages *p, u64 key);
/* The same, numbering it if it is new. DH_PAGES_NONE: no memory. */
u32 dh_pages_add(struct dh_pages *p, u64 key);

#endif
