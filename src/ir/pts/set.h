/*
 * set.h - sets of 32-bit numbers: up to five in place, more in a CRoaring bitmap.
 *
 * Most sets of a points-to analysis have one or two members, and a bitmap costs some 150 bytes and four
 * allocations before its first member; a solver has three sets per node. Hence the small form. It is sorted,
 * so both forms iterate in ascending order. All zero is the empty set. A set never turns small again.
 */
#ifndef DH_IR_PTS_SET_H
#define DH_IR_PTS_SET_H

#include <roaring/roaring.h>
#include <stdbool.h>
#include <stdint.h>

enum { DH_SET_SMALL = 5 };
#define DH_SET_BIG UINT32_MAX

struct dh_set {
    union {
        struct {
            uint32_t n; /* members, or DH_SET_BIG */
            uint32_t small[DH_SET_SMALL];
        };
        struct {
            uint32_t tag; /* n */
            roaring_bitmap_t *big;
        };
    };
};

void dh_set_done(struct dh_set *s);
static inline bool dh_set_empty(const struct dh_set *s)
{
    return s->n == 0 || (s->n == DH_SET_BIG && roaring_bitmap_is_empty(s->big));
}
uint32_t dh_set_count(const struct dh_set *s);
bool dh_set_has(const struct dh_set *s, uint32_t x);
/* 1: added, 0: was there, -ENOMEM. */
int dh_set_add(struct dh_set *s, uint32_t x);
/* s := s + other. 0 or -ENOMEM. */
int dh_set_join(struct dh_set *s, const struct dh_set *other);
/* *ret := a - b; *ret is empty before. 0 or -ENOMEM. */
int dh_set_minus(const struct dh_set *a, const struct dh_set *b, struct dh_set *ret);
bool dh_set_within(const struct dh_set *a, const struct dh_set *b); /* is each member of a in b? */
bool dh_set_meet(const struct dh_set *a, const struct dh_set *b);   /* is there a common member? */
uint64_t dh_set_bytes(const struct dh_set *s);                      /* beyond the struct itself */
/* The members in ascending order into list, which has room for dh_set_count of them. */
void dh_set_list(const struct dh_set *s, uint32_t *list);

struct dh_set_iter {
    const struct dh_set *set;
    uint32_t at;
    roaring_uint32_iterator_t big;
};

static inline void dh_set_iter_init(struct dh_set_iter *it, const struct dh_set *s)
{
    it->set = s;
    it->at = 0;
    if (s->n == DH_SET_BIG)
        roaring_init_iterator(s->big, &it->big);
}

static inline bool dh_set_next(struct dh_set_iter *it, uint32_t *ret)
{
    if (it->set->n != DH_SET_BIG) {
        if (it->at >= it->set->n)
            return false;
        *ret = it->set->small[it->at++];
        return true;
    }
    if (!it->big.has_value)
        return false;
    *ret = it->big.current_value;
    roaring_advance_uint32_iterator(&it->big);
    return true;
}

#endif
