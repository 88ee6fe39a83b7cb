/*
 * test_vclock.c - src/clock/vclock.c.
 */
#include <string.h>

#include "base/pool.h"
#include "clock/vclock.h"
#include "unit/check.h"

/* A clock with these components; frees the array it replaces. */
static void set(struct dh_vclock *v, u32 n, const u32 *c)
{
    u32 *old, cap;
    assert_true(dh_vclock_reserve(v, n, &old, &cap));
    dh_pool_free(old, cap * sizeof(u32));
    memcpy(v->c, c, n * sizeof(u32));
    v->n = n;
}

static void done(struct dh_vclock *v)
{
    dh_pool_free(v->c, v->cap * sizeof(u32));
    *v = (struct dh_vclock){0};
}

#define SET(v, ...) set(v, sizeof((u32[]){__VA_ARGS__}) / sizeof(u32), (u32[]){__VA_ARGS__})

static void assert_clock(const struct dh_vclock *v, u32 n, const u32 *c)
{
    for (u32 i = 0; i < n; i++)
        assert_int_equal(dh_vclock_get(v, dh_slot_from(i)), c[i]);
    for (u32 i = n; i < n + 70; i++)
        assert_int_equal(dh_vclock_get(v, dh_slot_from(i)), 0);
}

#define ASSERT_CLOCK(v, ...) assert_clock(v, sizeof((u32[]){__VA_ARGS__}) / sizeof(u32), (u32[]){__VA_ARGS__})

/* Growing hands the old array back untouched: another thread may be reading it. */
static void reserve(void **state)
{
    (void)state;
    struct dh_vclock v = {0};
    u32 *old = (u32 *)1, cap = 1;
    assert_int_equal(dh_vclock_get(&v, dh_slot_from(0)), 0);
    assert_int_equal(dh_vclock_get(&v, DH_SLOT_NONE), 0);
    assert_true(dh_vclock_reserve(&v, 1, &old, &cap));
    assert_null(old);
    SET(&v, 3, 1, 4);
    u32 *before = v.c, n = v.cap;
    assert_true(dh_vclock_reserve(&v, n, &old, &cap));
    assert_null(old);
    assert_true(dh_vclock_reserve(&v, 1001, &old, &cap));
    assert_ptr_equal(old, before);
    assert_int_equal(cap, n);
    assert_int_equal(old[2], 4);
    assert_true(v.cap > 1000);
    ASSERT_CLOCK(&v, 3, 1, 4);
    dh_pool_free(old, cap * sizeof(u32));
    done(&v);
}

static void join(void **state)
{
    (void)state;
    struct dh_vclock a = {0}, b = {0};
    SET(&a, 5, 1, 0, 7);
    SET(&b, 2, 9, 0, 3, 4);
    struct dh_publish p = {.snap = dh_snap_of(&b), .slot = dh_slot_from(4), .clock = 6};
    assert_int_equal(dh_publish_len(&p), 5);
    assert_false(dh_vclock_knows(&a, &p));
    assert_true(dh_vclock_join(&a, &p));
    ASSERT_CLOCK(&a, 5, 9, 0, 7, 6); /* the releaser's epoch is newer than its component in the snapshot */
    assert_true(dh_vclock_knows(&a, &p));
    assert_false(dh_vclock_join(&a, &p));
    ASSERT_CLOCK(&a, 5, 9, 0, 7, 6);
    dh_publish_clear(&p);
    /* Nothing was released: nothing to learn. */
    assert_true(dh_vclock_knows(&a, &p));
    assert_false(dh_vclock_join(&a, &p));
    assert_int_equal(dh_publish_len(&p), 0);
    done(&a);
    done(&b);
}

/* The epoch of the releaser is beyond the snapshot's end. */
static void join_longer(void **state)
{
    (void)state;
    struct dh_vclock a = {0}, b = {0};
    SET(&a, 1);
    SET(&b, 0, 2);
    struct dh_publish p = {.snap = dh_snap_of(&b), .slot = dh_slot_from(6), .clock = 8};
    assert_int_equal(dh_publish_len(&p), 7);
    assert_true(dh_vclock_join(&a, &p));
    ASSERT_CLOCK(&a, 1, 2, 0, 0, 0, 0, 8);
    dh_publish_clear(&p);
    done(&a);
    done(&b);
}

/* Several releases joined have no single epoch, so the shortcut may never say yes. */
static void no_slot(void **state)
{
    (void)state;
    struct dh_vclock a = {0}, b = {0};
    SET(&a, 9, 9, 9);
    SET(&b, 1, 2, 3);
    struct dh_publish p = {.snap = dh_snap_of(&b), .slot = DH_SLOT_NONE, .clock = UINT32_MAX};
    assert_int_equal(dh_publish_len(&p), 3);
    assert_false(dh_vclock_knows(&a, &p));
    assert_false(dh_vclock_join(&a, &p)); /* full join, but nothing grew */
    ASSERT_CLOCK(&a, 9, 9, 9);
    SET(&a, 0, 9, 0);
    assert_true(dh_vclock_join(&a, &p));
    ASSERT_CLOCK(&a, 1, 9, 3);
    dh_publish_clear(&p);
    done(&a);
    done(&b);
}

static void snap_join(void **state)
{
    (void)state;
    struct dh_vclock a = {0}, b = {0};
    SET(&a, 1, 5);
    SET(&b, 4, 0, 2);
    struct dh_publish p = {.snap = dh_snap_of(&b), .slot = dh_slot_from(3), .clock = 7};
    struct dh_snap *s = dh_snap_join(&p, &a);
    assert_int_equal(s->n, 4);
    assert_int_equal(s->refs, 1);
    assert_memory_equal(s->c, ((u32[]){4, 5, 2, 7}), 16);
    dh_snap_unref(s);
    dh_publish_clear(&p);
    s = dh_snap_join(&p, &a); /* with nothing: the clock itself */
    assert_int_equal(s->n, 2);
    assert_memory_equal(s->c, ((u32[]){1, 5}), 8);
    dh_snap_unref(s);
    struct dh_vclock empty = {0};
    s = dh_snap_join(&p, &empty);
    assert_int_equal(s->n, 0);
    dh_snap_unref(s);
    done(&a);
    done(&b);
}

/* The last reference frees; a copy keeps; copying over oneself is harmless. */
static void references(void **state)
{
    (void)state;
    struct dh_vclock a = {0};
    SET(&a, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    struct dh_publish p = {.snap = dh_snap_of(&a), .slot = dh_slot_from(0), .clock = 1}, q = {0};
    struct dh_snap *s = p.snap;
    dh_publish_copy(&q, &p);
    assert_ptr_equal(q.snap, s);
    assert_int_equal(s->refs, 2);
    dh_publish_copy(&q, &q);
    assert_int_equal(s->refs, 2);
    dh_publish_clear(&p);
    assert_null(p.snap);
    assert_int_equal(s->refs, 1);
    assert_int_equal(s->c[8], 9);
    struct dh_publish none = {0};
    dh_publish_copy(&q, &none);
    assert_null(q.snap);
    /* Freed: the pool hands the same block out again. */
    struct dh_snap *again = dh_snap_of(&a);
    assert_ptr_equal(again, s);
    dh_snap_ref(again);
    dh_snap_unref(again);
    assert_int_equal(again->refs, 1);
    dh_snap_unref(again);
    dh_snap_unref(NULL);
    done(&a);
}

/* A publication that holds its snapshot alone is written over in place; one that shares it, or has no room, is
 * left as it was. */
static void rewriting(void **state)
{
    (void)state;
    struct dh_vclock a = {0}, b = {0};
    SET(&a, 1, 5, 2);
    SET(&b, 4, 3, 0, 7, 9);
    struct dh_publish p = {0}, q = {0};
    assert_false(dh_publish_rewrite(&p, &a, dh_slot_from(1), 4));
    assert_false(dh_publish_raise(&p, &a));
    p = (struct dh_publish){.snap = dh_snap_of(&a), .slot = dh_slot_from(2), .clock = 6};

    dh_publish_copy(&q, &p);
    assert_false(dh_publish_rewrite(&p, &b, dh_slot_from(3), 6));
    assert_false(dh_publish_raise(&p, &b));
    assert_int_equal(p.snap->n, 3);
    dh_publish_clear(&q);

    const struct dh_snap *same = p.snap;
    assert_true(dh_publish_raise(&p, &b)); /* what slot 2 had published beside the snapshot is kept */
    assert_ptr_equal(p.snap, same);
    assert_true(dh_slot_is_none(p.slot));
    const u32 joined[] = {4, 5, 6, 7, 9};
    for (u32 i = 0; i < 5; i++)
        assert_int_equal(p.snap->c[i], joined[i]);

    assert_true(dh_publish_rewrite(&p, &a, dh_slot_from(1), 4)); /* with its owner at an earlier epoch */
    assert_int_equal(p.snap->n, 3);
    assert_int_equal(dh_slot_raw(p.slot), 1);
    assert_int_equal(p.clock, 4);
    const u32 copied[] = {1, 4, 2};
    for (u32 i = 0; i < 3; i++)
        assert_int_equal(p.snap->c[i], copied[i]);
    assert_true(dh_publish_raise(&p, &b)); /* nothing of the longer one is left */
    const u32 again[] = {4, 4, 2, 7, 9};
    for (u32 i = 0; i < 5; i++)
        assert_int_equal(p.snap->c[i], again[i]);

    struct dh_vclock longer = {0};
    u32 *old, cap;
    assert_true(dh_vclock_reserve(&longer, p.snap->cap + 1, &old, &cap));
    longer.n = p.snap->cap + 1;
    assert_false(dh_publish_rewrite(&p, &longer, dh_slot_from(0), 1));
    dh_publish_clear(&p);
    done(&longer);
    done(&a);
    done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserve),   cmocka_unit_test(join),      cmocka_unit_test(join_longer),
        cmocka_unit_test(no_slot),   cmocka_unit_test(snap_join), cmocka_unit_test(references),
        cmocka_unit_test(rewriting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
