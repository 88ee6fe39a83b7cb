/*
 * words.h - interned arrays of numbers, numbered from 0 in order of arrival. Like dh_w_pool, but with one
 * copy of each and no header: for those that make up most of the memory for a large program.
 */
#ifndef DH_IR_WHOLE_WORDS_H
#define DH_IR_WHOLE_WORDS_H

#include "util/arena.h"

struct dh_w_words {
    struct dh_arena *arena; /* has the copies */
    const u32 **item;
    u32 *len;
    u64 *hash;
    u32 *slots; /* hash to 1 + number */
    size_t n, cap_item, cap_len, cap_hash, slots_n;
};

/* Its number; the next one, if there was none like it. All zero but for the arena is empty. */
u32 dh_w_words_add(struct dh_w_words *w, const u32 *words, u32 n);
void dh_w_words_done(struct dh_w_words *w);

#endif
