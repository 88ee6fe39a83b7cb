/*
 * wcp_marks.c - see wcp_marks.h.
 */
#include "detect/wcp_marks.h"

#include <string.h>

enum { MARK = 2 * sizeof(u32) + sizeof(struct dh_wcp_place), FIRST = 32 };
_Static_assert(MARK == 20, "nothing is lost to alignment");

static u32 *clocks_of(const struct dh_wcp_marks *m)
{
    return m->items + m->cap;
}

static struct dh_wcp_place *places_of(const struct dh_wcp_marks *m)
{
    return (struct dh_wcp_place *)(m->items + 2 * (size_t)m->cap);
}

/* As many as there is room for in the next power of two, which is what memory comes in. */
static u32 next_cap(u32 cap)
{
    u64 bytes = FIRST;
    while (bytes / MARK <= cap)
        bytes *= 2;
    return (u32)(bytes / MARK);
}

/* The first mark of this thread or a later one. */
static u32 place_of(const struct dh_wcp_marks *m, u32 tid)
{
    u32 low = 0, high = m->n;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (m->items[mid] < tid)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Moves the marks from `at` on to where `to` has them, `by` places further. */
static void move(struct dh_wcp_marks *to, const struct dh_wcp_marks *from, u32 at, u32 n, u32 by)
{
    if (n == 0) /* of no marks there is no memory */
        return;
    memmove(to->items + at + by, from->items + at, n * sizeof(u32));
    memmove(clocks_of(to) + at + by, clocks_of(from) + at, n * sizeof(u32));
    memmove(places_of(to) + at + by, places_of(from) + at, n * sizeof(struct dh_wcp_place));
}

/* Room for a mark before mark `at`. False: no memory, nothing changed. */
static bool insert(struct dh_detector *d, struct dh_wcp_marks *m, u32 at)
{
    if (m->n < m->cap) {
        move(m, m, at, m->n - at, 1);
        m->n++;
        return true;
    }
    struct dh_wcp_marks more = {.n = m->n + 1, .cap = next_cap(m->cap), .all = m->all};
    more.items = dh_detect_alloc(d, (size_t)more.cap * MARK);
    if (!more.items)
        return false;
    if (m->n) {
        move(&more, m, 0, at, 0);
        move(&more, m, at, m->n - at, 1);
    }
    dh_detect_free(d, m->items, (size_t)m->cap * MARK);
    *m = more;
    return true;
}

void dh_wcp_marks_set(struct dh_detector *d, struct dh_wcp_marks *m, u32 tid, u32 clock, u32 site)
{
    u32 at = place_of(m, tid);
    if ((at == m->n || m->items[at] != tid) && !insert(d, m, at))
        return;
    m->items[at] = tid;
    clocks_of(m)[at] = clock;
    places_of(m)[at] =
        (struct dh_wcp_place){.event_low = (u32)d->event, .event_high = (u32)(d->event >> 32), .site = site};
}

u32 dh_wcp_marks_outside(const struct dh_wcp_marks *m, u32 from, const struct dh_vc *c)
{
    while (from < m->n && clocks_of(m)[from] <= dh_vc_get(c, m->items[from]))
        from++;
    return from;
}

struct dh_wcp_mark dh_wcp_marks_at(const struct dh_wcp_marks *m, u32 i)
{
    DH_ASSERT(i < m->n);
    const struct dh_wcp_place *place = &places_of(m)[i];
    return (struct dh_wcp_mark){
        .thread = m->items[i],
        .clock = clocks_of(m)[i],
        .site = place->site,
        .event = (u64)place->event_high << 32 | place->event_low,
    };
}

void dh_wcp_marks_copy(struct dh_detector *d, struct dh_wcp_marks *to, const struct dh_wcp_marks *from)
{
    u32 *items = dh_detect_dup(d, from->items, (size_t)from->cap * MARK);
    if (!items)
        return;
    *to = *from;
    to->items = items;
}

void dh_wcp_marks_drop(struct dh_detector *d, struct dh_wcp_marks *m)
{
    dh_detect_free(d, m->items, (size_t)m->cap * MARK);
    *m = (struct dh_wcp_marks){0};
}
