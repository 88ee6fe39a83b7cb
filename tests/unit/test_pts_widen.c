/*
 * test_pts_widen.c - the points-to solver when sets get huge: all of them are one, and what used one before is
 * told what it gets by that.
 */
#include "unit/check.h"

#include "unit/pts.h"

#include <stdbool.h>
#include <stdlib.h>

enum { HUGE_SET = 3, OBJECTS = 6, SIZE = 64 };

static dh_pts_object at[OBJECTS]; /* what huge sets lead to */
static int told;

static void on_flow(void *client, void *call, dh_pts_object object, uint32_t offset)
{
    (void)client, (void)call, (void)object, (void)offset;
    told++;
}

static int begin(void **unused)
{
    (void)unused;
    struct dh_pts_options o = {.huge = HUGE_SET, .on_flow = on_flow};
    told = 0;
    if (dh_pts_new(&o, &p))
        return -1;
    for (int i = 0; i < OBJECTS; i++)
        at[i] = dh_pts_object_add(p, SIZE, 0);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    dh_pts_free(p);
    return 0;
}

/* A pointer to three of the objects: huge as soon as it is looked at. */
static dh_pts_node huge(int first)
{
    dh_pts_node v = value();
    for (int i = first; i < first + HUGE_SET; i++)
        dh_pts_address(p, v, at[i], 0);
    return v;
}

static bool leads_to(dh_pts_node node, dh_pts_object o)
{
    struct dh_pts_iter it = dh_pts_iter(p, node);
    dh_pts_location l;
    while (dh_pts_next(&it, &l))
        if (dh_pts_place(p, l).object == o)
            return true;
    return false;
}

static uint64_t widened(void)
{
    struct dh_pts_stats s;
    dh_pts_statistics(p, &s);
    return s.widened;
}

static void test_one_less_is_not_huge(void **unused)
{
    (void)unused;
    dh_pts_node small = value(), large = huge(0);
    for (int i = 0; i < HUGE_SET - 1; i++)
        dh_pts_address(p, small, at[3 + i], 0);
    solve();
    assert_int_equal(dh_pts_count(p, small), HUGE_SET - 1);
    assert_false(leads_to(large, at[3]));
    assert_int_equal(widened(), 1);
    dh_pts_address(p, small, at[5], 0);
    solve();
    assert_int_equal(widened(), 2);
    assert_int_equal(dh_pts_representative(p, small), dh_pts_representative(p, large));
}

/* What one of them had led to already when they became one, the loads, stores, copies and watches of the other have to hear. */
static void test_both_hear_of_what_the_other_had(void **unused)
{
    (void)unused;
    dh_pts_object cell = object(8), kept = object(8);
    dh_pts_node x = huge(0), y = value(), copy = value(), loaded = value(), field = value();
    dh_pts_store(p, address(at[0], 0), 8, address(cell, 0)); /* only x leads there ... */
    dh_pts_copy(p, copy, y);                                 /* ... and only y is used */
    dh_pts_load(p, loaded, y, 8);
    dh_pts_store(p, y, 16, address(kept, 0));
    dh_pts_load(p, field, address(at[0], 0), 16);
    dh_pts_watch(p, y, NULL);
    solve();
    assert_int_equal(dh_pts_count(p, copy) + dh_pts_count(p, loaded) + dh_pts_count(p, field), 0);
    assert_int_equal(told, 0);
    for (int i = 3; i < OBJECTS; i++)
        dh_pts_address(p, y, at[i], 0);
    solve();
    for (int i = 0; i < OBJECTS; i++)
        assert_true(leads_to(copy, at[i]) && leads_to(x, at[i]));
    assert_true(leads_to(loaded, cell));
    assert_true(leads_to(field, kept));
    assert_int_equal(told, dh_pts_count(p, x)); /* of each, once */
    /* From then on they have their edges and uses in common. */
    dh_pts_object late = object(8);
    dh_pts_address(p, x, late, 0);
    solve();
    assert_true(leads_to(copy, late));
}

/* And the other way round: the first one's uses hear of the newcomer's members. */
static void test_the_first_hears_of_newcomers(void **unused)
{
    (void)unused;
    dh_pts_node x = huge(0), copy = value(), other = value(), moved = value();
    dh_pts_copy(p, copy, x);
    dh_pts_offset(p, moved, x, 24);
    solve();
    dh_pts_address(p, other, at[3], 0);
    dh_pts_address(p, other, at[4], 0);
    dh_pts_address(p, other, at[5], 0);
    solve();
    assert_true(leads_to(copy, at[5]));
    assert_true(leads_to(moved, at[5]));
}

/* A copy of memory from wherever a huge set leads, made before it got huge and after. */
static void test_copies_from_anywhere(void **unused)
{
    (void)unused;
    dh_pts_object cell = object(8), before = object(16), after = object(16);
    dh_pts_node x = value(), got[2] = {value(), value()};
    dh_pts_memcpy(p, address(before, 0), x, 16);
    dh_pts_load(p, got[0], address(before, 0), 8);
    solve();
    dh_pts_copy(p, x, huge(0));
    dh_pts_store(p, address(at[0], 0), 40, address(cell, 0)); /* in the part that "anywhere" reaches */
    solve();
    dh_pts_memcpy(p, address(after, 0), x, 16);
    dh_pts_load(p, got[1], address(after, 0), 8);
    dh_pts_copy(p, x, huge(3));
    solve();
    assert_true(leads_to(got[0], cell));
    assert_true(leads_to(got[1], cell));
    /* What is stored later arrives as well. */
    dh_pts_object late = object(8);
    dh_pts_store(p, address(at[5], 0), 8, address(late, 0));
    solve();
    assert_true(leads_to(got[0], late));
    assert_true(leads_to(got[1], late));
}

static void test_copies_to_anywhere(void **unused)
{
    (void)unused;
    dh_pts_object cell = object(8), from = object(16);
    dh_pts_node x = value(), got[2] = {value(), value()}, back = value();
    dh_pts_memcpy(p, x, address(from, 0), 16);
    dh_pts_store(p, address(from, 0), 8, address(cell, 0));
    dh_pts_load(p, got[0], address(at[0], 0), 8);
    dh_pts_load(p, got[1], address(at[4], 0), 48);
    dh_pts_load(p, back, address(from, 0), 0);
    solve();
    dh_pts_copy(p, x, huge(0));
    solve();
    assert_true(leads_to(got[0], cell));
    dh_pts_copy(p, x, huge(3));
    solve();
    assert_true(leads_to(got[1], cell));
    assert_false(leads_to(back, cell)); /* what is copied from keeps its fields */
}

/* From one huge set to another: what is in any of the objects comes to any of them. */
static void test_copies_among_them(void **unused)
{
    (void)unused;
    dh_pts_object cell = object(8);
    dh_pts_node x = huge(0), y = huge(3), got = value();
    dh_pts_memcpy(p, x, y, 24);
    dh_pts_store(p, address(at[5], 0), 16, address(cell, 0));
    dh_pts_load(p, got, address(at[0], 0), 8);
    solve();
    assert_true(leads_to(got, cell));
}

/* Copies go by way of "anywhere": they make no field in one object for each field of another. */
static void test_copies_make_no_fields(void **unused)
{
    (void)unused;
    dh_pts_object cell = object(8), from = object(SIZE), to = object(SIZE);
    const dh_pts_location *fields;
    for (int i = 1; i < SIZE / 8; i++) {
        dh_pts_store(p, address(at[0], 0), i * 8, address(cell, 0));
        dh_pts_store(p, address(from, 0), i * 8, address(cell, 0));
    }
    dh_pts_memcpy(p, huge(3), address(from, 0), SIZE);
    dh_pts_memcpy(p, address(to, 0), huge(0), DH_PTS_ANY);
    dh_pts_memcpy(p, huge(3), huge(0), SIZE);
    solve();
    assert_true(dh_pts_fields(p, at[0], &fields) >= SIZE / 8);
    assert_true(dh_pts_fields(p, at[5], &fields) <= 2);
    assert_true(dh_pts_fields(p, to, &fields) <= 2);
    assert_true(leads_to(dh_pts_contents(p, dh_pts_find(p, at[5], DH_PTS_ANY)), cell));
    assert_true(leads_to(dh_pts_contents(p, dh_pts_find(p, to, DH_PTS_ANY)), cell));
}

/* Offsets among huge sets do not make one field after another, nor a cycle an array. */
static void test_offsets_among_them(void **unused)
{
    (void)unused;
    dh_pts_node x = huge(0), walk = value(), other = value();
    dh_pts_offset(p, walk, x, 8);
    dh_pts_copy(p, x, walk);
    dh_pts_element(p, other, walk, 8, 16, 0);
    dh_pts_copy(p, x, other);
    solve();
    struct dh_pts_stats s;
    dh_pts_statistics(p, &s);
    assert_int_equal(s.folded + s.collapsed + s.strided_cycles, 0);
    for (int i = 0; i < HUGE_SET; i++) {
        const dh_pts_location *fields;
        assert_true(dh_pts_points_to(p, x, dh_pts_find(p, at[i], DH_PTS_ANY)));
        assert_true(dh_pts_fields(p, at[i], &fields) < SIZE / 8 / 2);
    }
    /* Uses that are added behind those that were dropped count. */
    dh_pts_object cell = object(8);
    dh_pts_node got = value();
    dh_pts_store(p, address(at[0], 0), 16, address(cell, 0));
    dh_pts_load(p, got, x, 0);
    solve();
    assert_true(leads_to(got, cell));
}

/* An offset out of a huge set is one like any other. */
static void test_offsets_out_of_them(void **unused)
{
    (void)unused;
    dh_pts_node x = huge(0), out = value(), any = value();
    dh_pts_object only = object(32);
    dh_pts_address(p, x, only, 0);
    dh_pts_offset(p, out, x, SIZE - 8); /* outside of the small one; still huge */
    dh_pts_any(p, any, address(only, 0));
    solve();
    assert_true(leads_to(out, at[0]));
    assert_true(leads_to(out, at[2]));
    assert_int_equal(dh_pts_count(p, any), 1); /* not huge, though its object is in the crowd */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_one_less_is_not_huge),         CASE(test_both_hear_of_what_the_other_had),
        CASE(test_the_first_hears_of_newcomers), CASE(test_copies_from_anywhere),
        CASE(test_copies_to_anywhere),           CASE(test_copies_among_them),
        CASE(test_copies_make_no_fields),        CASE(test_offsets_among_them),
        CASE(test_offsets_out_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
