/*
 * names.c - see names.h.
 */
#include "event/names.h"

#include <string.h>

#include "base/pool.h"

enum { SHORT = 7 };

void dh_names_done(struct dh_names *t)
{
    dh_pool_free(t->slots, t->cap * sizeof(*t->slots));
    dh_pool_free(t->order, t->cap * sizeof(*t->order));
    dh_pool_free(t->text, t->text_cap);
    *t = (struct dh_names){0};
}

static u64 long_key(const char *s, size_t len)
{
    u64 key = 0;
    for (; len >= 8; s += 8, len -= 8) {
        u64 word;
        memcpy(&word, s, 8);
        key = dh_hash64(key ^ word);
    }
    for (size_t i = 0; i < len; i++)
        key = key * 31 + (u8)s[i];
    return dh_hash64(key ^ len);
}

/* Of a short name: its text and, above it, its length. A long one's may look the same: `len` tells them
 * apart. */
static u64 short_key(u64 text, size_t len)
{
    return (len ? text & UINT64_MAX >> (64 - 8 * len) : 0) | (u64)len << 56;
}

static u64 key_of(const char *s, size_t len)
{
    u64 text = 0;
    if (len > SHORT)
        return long_key(s, len);
    for (size_t i = 0; i < len; i++)
        text |= (u64)(u8)s[i] << (8 * i);
    return short_key(text, len);
}

static u32 place_of(u64 key, u32 cap)
{
    return (u32)((key * 0x9E3779B97F4A7C15ull) >> 32) & (cap - 1);
}

static bool grow(struct dh_names *t)
{
    u32 cap = t->cap ? t->cap * 2 : 1024;
    if (cap == 0)
        return false;
    struct dh_name *slots = dh_pool_alloc(cap * sizeof(*slots));
    u64 *order = dh_pool_alloc(cap * sizeof(*order));
    if (!slots || !order) {
        dh_pool_free(slots, cap * sizeof(*slots));
        dh_pool_free(order, cap * sizeof(*order));
        return false;
    }
    for (u32 i = 0; i < t->cap; i++) {
        if (!t->slots[i].number)
            continue;
        u32 at = place_of(t->slots[i].key, cap);
        while (slots[at].number)
            at = (at + 1) & (cap - 1);
        slots[at] = t->slots[i];
    }
    if (t->n)
        memcpy(order, t->order, t->n * sizeof(*order));
    dh_pool_free(t->slots, t->cap * sizeof(*slots));
    dh_pool_free(t->order, t->cap * sizeof(*order));
    t->slots = slots;
    t->order = order;
    t->cap = cap;
    return true;
}

static bool append(struct dh_names *t, const char *s, size_t len, u64 *ret_offset)
{
    if (t->text_len + len + 1 > t->text_cap) {
        u64 cap = t->text_cap ? t->text_cap * 2 : 4096;
        while (cap < t->text_len + len + 1)
            cap *= 2;
        char *text = dh_pool_alloc(cap);
        if (!text)
            return false;
        if (t->text_len)
            memcpy(text, t->text, t->text_len);
        dh_pool_free(t->text, t->text_cap);
        t->text = text;
        t->text_cap = cap;
    }
    *ret_offset = t->text_len;
    memcpy(t->text + t->text_len, s, len);
    t->text[t->text_len + len] = '\0';
    t->text_len += len + 1;
    return true;
}

/* The slot of the name, or the empty one where it belongs. The table has an empty slot. */
static struct dh_name *look(const struct dh_names *t, const char *s, size_t len, u64 key)
{
    for (u32 at = place_of(key, t->cap);; at = (at + 1) & (t->cap - 1)) {
        struct dh_name *slot = &t->slots[at];
        if (!slot->number)
            return slot;
        if (slot->key == key && slot->len == len &&
            (len <= SHORT || memcmp(t->text + t->order[slot->number - 1], s, len) == 0))
            return slot;
    }
}

u64 dh_names_soon(const struct dh_names *t, const char *s, size_t len)
{
    u64 key, text;
    memcpy(&text, s, sizeof(text));
    key = DH_LIKELY(len <= SHORT) ? short_key(text, len) : long_key(s, len);
    if (t->cap)
        __builtin_prefetch(&t->slots[place_of(key, t->cap)]);
    return key;
}

u32 dh_names_intern(struct dh_names *t, const char *s, size_t len)
{
    return dh_names_intern_key(t, s, len, key_of(s, len));
}

u32 dh_names_intern_key(struct dh_names *t, const char *s, size_t len, u64 key)
{
    u64 offset;
    if (t->n * 2 >= t->cap && !grow(t))
        return UINT32_MAX;
    struct dh_name *slot = look(t, s, len, key);
    if (slot->number)
        return slot->number - 1;
    if (len > UINT32_MAX || !append(t, s, len, &offset))
        return UINT32_MAX;
    t->order[t->n++] = offset;
    *slot = (struct dh_name){.key = key, .number = t->n, .len = (u32)len};
    return t->n - 1;
}

u32 dh_names_find(const struct dh_names *t, const char *s, size_t len)
{
    return t->cap ? look(t, s, len, key_of(s, len))->number - 1 : UINT32_MAX;
}

const char *dh_names_get(const struct dh_names *t, u32 number)
{
    return number < t->n ? t->text + t->order[number] : "?";
}
