/*
 * table.h - a hash table from four words to a number, for the analysis.
 *
 * Keys are never removed. A number is never DH_W_TABLE_NONE. All zero is a valid, empty table.
 */
#ifndef DH_IR_WHOLE_TABLE_H
#define DH_IR_WHOLE_TABLE_H

#include "base/base.h"

#define DH_W_TABLE_NONE UINT32_MAX

struct dh_w_key {
    u64 word[4];
};

struct dh_w_table {
    struct dh_w_slot {
        struct dh_w_key key;
        u32 value; /* + 1; 0: free */
    } *slots;
    size_t cap, n;
};

u32 dh_w_table_get(const struct dh_w_table *t, struct dh_w_key key); /* DH_W_TABLE_NONE if absent */
void dh_w_table_put(struct dh_w_table *t, struct dh_w_key key, u32 value);
void dh_w_table_done(struct dh_w_table *t);

#define DH_W_KEY(...) ((struct dh_w_key){{__VA_ARGS__}})

#endif
