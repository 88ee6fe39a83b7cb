/*
 * predict_states.c - see predict_states.h.
 */
#include "detect/predict_states.h"

#include <string.h>

static u32 slot_of(const struct dh_states *s, u64 key)
{
    u32 at = (u32)dh_hash64(key) & (s->cap_index - 1);
    while (s->index[at] && s->items[s->index[at] - 1].key != key)
        at = (at + 1) & (s->cap_index - 1);
    return at;
}

static bool grow_index(struct dh_states *s)
{
    struct dh_detector *d = s->p->d;
    u32 cap = s->cap_index ? s->cap_index * 2 : 64;
    u32 *index = dh_detect_alloc(d, (size_t)cap * sizeof(*index));
    if (!index)
        return false;
    dh_detect_free(d, s->index, (size_t)s->cap_index * sizeof(*index));
    s->index = index;
    s->cap_index = cap;
    for (u32 i = 0; i < s->n; i++) {
        s->items[i].slot = slot_of(s, s->items[i].key);
        s->index[s->items[i].slot] = i + 1;
    }
    return true;
}

/* An item for the key, with an empty cut. */
static bool add(struct dh_states *s, u64 key, u32 slot)
{
    struct dh_detector *d = s->p->d;
    size_t size = ((size_t)s->p->threads + 1) * sizeof(u32);
    if (s->n == s->cap && !dh_mem_grow(&d->mem, (void **)&s->items, s->n, &s->cap, sizeof(*s->items)))
        return false;
    struct dh_state *item = &s->items[s->n];
    u32 *cut = s->n < s->made ? memset(item->cut, 0, size) : dh_detect_alloc(d, size);
    if (!cut)
        return false;
    *item = (struct dh_state){.key = key, .failed = DH_NONE, .known = DH_NONE, .slot = slot, .cut = cut};
    s->index[slot] = ++s->n;
    s->made = s->n > s->made ? s->n : s->made;
    return true;
}

struct dh_state *dh_states_at(struct dh_states *s, u64 key)
{
    if (s->n * 2 >= s->cap_index && !grow_index(s))
        return NULL;
    u32 slot = slot_of(s, key);
    if (!s->index[slot] && !add(s, key, slot)) {
        s->p->d->failed = true;
        return NULL;
    }
    return &s->items[s->index[slot] - 1];
}

void dh_states_clear(struct dh_states *s)
{
    for (u32 i = 0; i < s->n; i++)
        s->index[s->items[i].slot] = 0;
    s->n = 0;
}
