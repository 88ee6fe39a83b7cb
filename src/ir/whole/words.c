/*
 * words.c - see words.h. Open addressing over the numbers; the table is at most half full.
 */
#include "ir/whole/words.h"

#include <stdlib.h>
#include <string.h>

static u64 hash_of(const u32 *words, u32 n)
{
    u64 h = n;
    for (u32 i = 0; i < n; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

static void enlarge(struct dh_w_words *w)
{
    size_t n = w->slots_n == 0 ? 1024 : w->slots_n * 2;
    free(w->slots);
    w->slots = dh_util_alloc(n * sizeof *w->slots);
    memset(w->slots, 0, n * sizeof *w->slots);
    w->slots_n = n;
    for (u32 k = 0; k < w->n; k++) {
        size_t at = w->hash[k] & (n - 1);
        while (w->slots[at] != 0)
            at = (at + 1) & (n - 1);
        w->slots[at] = k + 1;
    }
}

u32 dh_w_words_add(struct dh_w_words *w, const u32 *words, u32 n)
{
    u64 hash = hash_of(words, n);
    if (w->n * 2 >= w->slots_n)
        enlarge(w);
    size_t at = hash & (w->slots_n - 1);
    for (u32 k; (k = w->slots[at]) != 0; at = (at + 1) & (w->slots_n - 1))
        if (w->hash[k - 1] == hash && w->len[k - 1] == n &&
            memcmp(w->item[k - 1], words, n * sizeof *words) == 0)
            return k - 1;
    u32 *copy = dh_arena_alloc(w->arena, n * sizeof *copy);
    memcpy(copy, words, n * sizeof *copy);
    w->item = dh_util_grow(w->item, w->n, &w->cap_item, sizeof *w->item);
    w->len = dh_util_grow(w->len, w->n, &w->cap_len, sizeof *w->len);
    w->hash = dh_util_grow(w->hash, w->n, &w->cap_hash, sizeof *w->hash);
    w->item[w->n] = copy;
    w->len[w->n] = n;
    w->hash[w->n] = hash;
    w->slots[at] = (u32)w->n + 1;
    return (u32)w->n++;
}

void dh_w_words_done(struct dh_w_words *w)
{
    free(w->item);
    free(w->len);
    free(w->hash);
    free(w->slots);
}
