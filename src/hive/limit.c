/*
 * limit.c - see limit.h.
 */
#include "hive/limit.h"

bool dh_hive_limit_ask(struct dh_hive_limit *l, u64 who, u64 now_us)
{
    __typeof__(&l->entries[0]) e = &l->entries[who % DH_HIVE_LIMIT_ENTRIES];
    if (e->who != who) {
        e->who = who;
        e->left = l->burst;
        e->last_us = now_us;
    }
    if (now_us > e->last_us) {
        e->left += (double)(now_us - e->last_us) / 1e6 * l->per_second;
        e->left = e->left > l->burst ? l->burst : e->left;
        e->last_us = now_us;
    }
    if (e->left < 1)
        return false;
    e->left -= 1;
    return true;
}
