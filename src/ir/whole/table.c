/*
 * table.c - a hash table from four words to a number: open addressing, at most half full.
 */
#include "ir/whole/table.h"

#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

static struct dh_w_slot *find(const struct dh_w_table *t, const struct dh_w_key *key)
{
    u64 h = 0;
    for (size_t i = 0; i < DH_ARRAY_LEN(key->word); i++)
        h = dh_hash64(h + key->word[i]);
    for (size_t i = h & (t->cap - 1);; i = (i + 1) & (t->cap - 1)) {
        struct dh_w_slot *s = &t->slots[i];
        if (s->value == 0 || memcmp(&s->key, key, sizeof *key) == 0)
            return s;
    }
}

u32 dh_w_table_get(const struct dh_w_table *t, struct dh_w_key key)
{
    return t->cap == 0 ? DH_W_TABLE_NONE : find(t, &key)->value - 1;
}

static void grow(struct dh_w_table *t)
{
    struct dh_w_table bigger = {.cap = t->cap == 0 ? 64 : t->cap * 2, .n = t->n};
    bigger.slots = dh_util_alloc(bigger.cap * sizeof *bigger.slots);
    memset(bigger.slots, 0, bigger.cap * sizeof *bigger.slots);
    for (size_t i = 0; i < t->cap; i++)
        if (t->slots[i].value != 0)
            *find(&bigger, &t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = bigger;
}

void dh_w_table_put(struct dh_w_table *t, struct dh_w_key key, u32 value)
{
    if (t->n * 2 >= t->cap)
        grow(t);
    struct dh_w_slot *s = find(t, &key);
    if (s->value == 0)
        t->n++;
    *s = (struct dh_w_slot){key, value + 1};
}

void dh_w_table_done(struct dh_w_table *t)
{
    free(t->slots);
    *t = (struct dh_w_table){0};
}
