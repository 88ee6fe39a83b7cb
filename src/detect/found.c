/*
 * found.c - see found.h.
 *
 * Racy events are counted as they come: a streaming detector reports all races of one event together. A
 * whole-trace detector must report in the order of the later events, or the same event counts twice.
 */
#include "detect/found.h"

#include "base/pool.h"

void dh_found_init(struct dh_found *f)
{
    *f = (struct dh_found){.first_event = DH_NO_EVENT, .last_event = DH_NO_EVENT, .seen.size = 1};
}

void dh_found_done(struct dh_found *f)
{
    dh_table_done(&f->seen);
    dh_pool_free(f->pairs.slots, f->pairs.cap * sizeof(u64));
    dh_pool_free(f->places.slots, f->places.cap * sizeof(u64));
}

/* The slot of a number, or the empty one where it belongs. */
static u64 *look(u64 *slots, u64 cap, u64 stored)
{
    u64 i = dh_hash64(stored) & (cap - 1);
    while (slots[i] && slots[i] != stored)
        i = (i + 1) & (cap - 1);
    return &slots[i];
}

static bool grow(struct dh_found_set *s)
{
    u64 cap = s->cap ? s->cap * 2 : 64;
    u64 *slots = dh_pool_alloc(cap * sizeof(*slots));
    if (!slots)
        return false;
    for (u64 i = 0; i < s->cap; i++) {
        if (s->slots[i])
            *look(slots, cap, s->slots[i]) = s->slots[i];
    }
    dh_pool_free(s->slots, s->cap * sizeof(*slots));
    s->slots = slots;
    s->cap = cap;
    return true;
}

static bool add(struct dh_found_set *s, u64 number)
{
    u64 stored = number + 1;
    if (stored == s->last)
        return true;
    if (s->n * 2 >= s->cap && !grow(s))
        return false;
    u64 *slot = look(s->slots, s->cap, stored);
    s->n += *slot == 0;
    *slot = stored;
    s->last = stored;
    return true;
}

bool dh_found_add(struct dh_found *f, const struct dh_race *race)
{
    f->reports++;
    if (race->now.event != f->last_event) {
        f->racy_events++;
        f->last_event = race->now.event;
    }
    if (race->now.event < f->first_event) /* DH_NO_EVENT is the largest number */
        f->first_event = race->now.event;
    u8 *seen = dh_table_at(&f->seen, race->cell);
    if (!seen)
        return false;
    f->variables += !*seen;
    *seen = 1;
    u64 a = race->now.site, b = race->earlier.thread == DH_UNKNOWN ? UINT32_MAX - 1 : race->earlier.site;
    u64 pair = a < b ? a << 32 | b : b << 32 | a;
    if (pair == UINT64_MAX)
        pair = 1ull << 32; /* no other pair has its larger site in the high half */
    return add(&f->pairs, pair) && add(&f->places, a);
}
