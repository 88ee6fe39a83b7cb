/*
 * set.c - see set.h.
 */
#include "ir/pts/set.h"

#include <errno.h>
#include <string.h>

void dh_set_done(struct dh_set *s)
{
    if (s->n == DH_SET_BIG)
        roaring_bitmap_free(s->big);
    s->n = 0;
}

uint32_t dh_set_count(const struct dh_set *s)
{
    return s->n == DH_SET_BIG ? (uint32_t)roaring_bitmap_get_cardinality(s->big) : s->n;
}

bool dh_set_has(const struct dh_set *s, uint32_t x)
{
    if (s->n == DH_SET_BIG)
        return roaring_bitmap_contains(s->big, x);
    for (uint32_t i = 0; i < s->n; i++)
        if (s->small[i] == x)
            return true;
    return false;
}

/* Replace the small form by a bitmap with the same members. */
static int enlarge(struct dh_set *s)
{
    roaring_bitmap_t *b = roaring_bitmap_create();
    if (!b)
        return -ENOMEM;
    roaring_bitmap_add_many(b, s->n, s->small);
    s->big = b;
    s->tag = DH_SET_BIG;
    return 0;
}

int dh_set_add(struct dh_set *s, uint32_t x)
{
    if (s->n == DH_SET_BIG)
        return roaring_bitmap_add_checked(s->big, x);
    uint32_t i = s->n;
    while (i && s->small[i - 1] > x)
        i--;
    if (i && s->small[i - 1] == x)
        return 0;
    if (s->n == DH_SET_SMALL) {
        int r = enlarge(s);
        if (r)
            return r;
        roaring_bitmap_add(s->big, x);
        return 1;
    }
    memmove(&s->small[i + 1], &s->small[i], (s->n - i) * sizeof s->small[0]);
    s->small[i] = x;
    s->n++;
    return 1;
}

int dh_set_join(struct dh_set *s, const struct dh_set *other)
{
    if (other->n != DH_SET_BIG) {
        for (uint32_t i = 0; i < other->n; i++)
            if (dh_set_add(s, other->small[i]) < 0)
                return -ENOMEM;
        return 0;
    }
    if (s->n == 0) {
        roaring_bitmap_t *copy = roaring_bitmap_copy(other->big);
        if (!copy)
            return -ENOMEM;
        s->big = copy;
        s->tag = DH_SET_BIG;
        return 0;
    }
    if (s->n != DH_SET_BIG && enlarge(s))
        return -ENOMEM;
    roaring_bitmap_or_inplace(s->big, other->big);
    return 0;
}

int dh_set_minus(const struct dh_set *a, const struct dh_set *b, struct dh_set *ret)
{
    if (a->n == DH_SET_BIG && b->n == DH_SET_BIG) {
        roaring_bitmap_t *d = roaring_bitmap_andnot(a->big, b->big);
        if (!d)
            return -ENOMEM;
        ret->big = d;
        ret->tag = DH_SET_BIG;
        return 0;
    }
    if (a->n == DH_SET_BIG) {
        int r = dh_set_join(ret, a);
        for (uint32_t i = 0; !r && i < b->n; i++)
            roaring_bitmap_remove(ret->big, b->small[i]);
        return r;
    }
    for (uint32_t i = 0; i < a->n; i++)
        if (!dh_set_has(b, a->small[i]) && dh_set_add(ret, a->small[i]) < 0)
            return -ENOMEM;
    return 0;
}

bool dh_set_within(const struct dh_set *a, const struct dh_set *b)
{
    if (a->n == DH_SET_BIG && b->n == DH_SET_BIG)
        return roaring_bitmap_is_subset(a->big, b->big);
    if (a->n == DH_SET_BIG && dh_set_count(a) > b->n)
        return false;
    struct dh_set_iter it;
    uint32_t x;
    dh_set_iter_init(&it, a);
    while (dh_set_next(&it, &x))
        if (!dh_set_has(b, x))
            return false;
    return true;
}

bool dh_set_meet(const struct dh_set *a, const struct dh_set *b)
{
    if (a->n == DH_SET_BIG && b->n == DH_SET_BIG)
        return roaring_bitmap_intersect(a->big, b->big);
    const struct dh_set *small = a->n == DH_SET_BIG ? b : a;
    const struct dh_set *other = small == a ? b : a;
    for (uint32_t i = 0; i < small->n; i++)
        if (dh_set_has(other, small->small[i]))
            return true;
    return false;
}

uint64_t dh_set_bytes(const struct dh_set *s)
{
    return s->n == DH_SET_BIG ? sizeof *s->big + roaring_bitmap_size_in_bytes(s->big) : 0;
}

void dh_set_list(const struct dh_set *s, uint32_t *list)
{
    if (s->n == DH_SET_BIG)
        roaring_bitmap_to_uint32_array(s->big, list);
    else if (s->n)
        memcpy(list, s->small, s->n * sizeof *list);
}
