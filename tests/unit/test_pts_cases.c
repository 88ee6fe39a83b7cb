/*
 * test_pts_cases.c - the points-to solver, a case for each constraint and each way an object can get coarser.
 */
#include "unit/check.h"

#include "unit/pts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Functions that flowed into calls, in order, and locations of watched nodes. */
static struct told {
    int call;
    dh_pts_object object;
    uint32_t offset;
} told[16];
static int told_n;
static void (*when_told)(dh_pts_object object);

static void on_flow(void *client, void *call, dh_pts_object object, uint32_t offset)
{
    assert_ptr_equal(client, &told_n);
    assert_true(told_n < 16);
    told[told_n++] = (struct told){(int)(intptr_t)call, object, offset};
    if (when_told)
        when_told(object);
}

/* The array that walks are kept in, of any object; up to 0: none is known. */
static uint32_t walk_start, walk_end;

static bool array(void *client, dh_pts_object object, uint32_t offset, uint32_t stride, uint32_t *ret_start,
                  uint32_t *ret_end)
{
    (void)client, (void)object, (void)offset, (void)stride;
    *ret_start = walk_start;
    *ret_end = walk_end;
    return walk_end > 0;
}

static int begin(void **unused)
{
    (void)unused;
    struct dh_pts_options o = {.max_fields = 8, .on_flow = on_flow, .array = array, .client = &told_n};
    walk_start = walk_end = 0;
    told_n = 0;
    when_told = NULL;
    return dh_pts_new(&o, &p);
}

static int end(void **unused)
{
    (void)unused;
    dh_pts_free(p);
    p = NULL;
    return 0;
}

/* Does the node point to this (canonical) place? */
static bool has(dh_pts_node node, dh_pts_object o, uint32_t offset)
{
    struct dh_pts_iter it = dh_pts_iter(p, node);
    dh_pts_location l;
    while (dh_pts_next(&it, &l)) {
        struct dh_pts_place at = dh_pts_place(p, l);
        if (at.object == o && at.offset == offset)
            return true;
    }
    return false;
}

static void assert_only(dh_pts_node node, dh_pts_object o, uint32_t offset)
{
    assert_true(has(node, o, offset));
    assert_int_equal(dh_pts_count(p, node), 1);
}

static void test_address_and_copy(void **unused)
{
    (void)unused;
    dh_pts_object a = object(8), b = object(8);
    dh_pts_node x = address(a, 0), y = address(b, 0), z = value(), other = value();
    dh_pts_copy(p, z, x);
    dh_pts_copy(p, z, y);
    solve();
    assert_only(x, a, 0);
    assert_int_equal(dh_pts_count(p, z), 2);
    assert_true(has(z, a, 0) && has(z, b, 0));
    assert_int_equal(dh_pts_count(p, other), 0);
    assert_true(dh_pts_may_alias(p, z, x));
    assert_false(dh_pts_may_alias(p, x, y));
}

static void test_load_and_store_keep_fields_apart(void **unused)
{
    (void)unused;
    dh_pts_object s = object(32), a = object(8), b = object(8);
    dh_pts_node q = address(s, 0), x = value(), y = value(), z = value(), end_of = address(s, 32);
    dh_pts_store(p, q, 8, address(a, 0));
    dh_pts_store(p, q, 16, address(b, 0));
    dh_pts_load(p, x, q, 8);
    dh_pts_load(p, y, q, 16);
    dh_pts_load(p, z, end_of, -16);
    solve();
    assert_only(x, a, 0);
    assert_only(y, b, 0);
    assert_only(z, b, 0);
    assert_only(dh_pts_contents(p, dh_pts_find(p, s, 8)), a, 0);
    assert_int_equal(dh_pts_find(p, s, 24), DH_PTS_NONE);
    const dh_pts_location *fields;
    assert_int_equal(dh_pts_fields(p, s, &fields), 4);
    assert_int_equal(dh_pts_place(p, fields[0]).offset, 0);
}

static void test_load_through_a_loaded_pointer(void **unused)
{
    (void)unused;
    dh_pts_object cell = object(8), s = object(16), a = object(8);
    dh_pts_node x = value(), y = value();
    /* The store that fills the field comes through a pointer that is itself loaded. */
    dh_pts_load(p, x, address(cell, 0), 0);
    dh_pts_load(p, y, x, 8);
    dh_pts_store(p, x, 8, address(a, 0));
    dh_pts_store(p, address(cell, 0), 0, address(s, 0));
    solve();
    assert_only(y, a, 0);
}

static void test_offset(void **unused)
{
    (void)unused;
    dh_pts_object s = object(32);
    dh_pts_node q = address(s, 8), up = value(), down = value(), last = value(), out = value(), far = value(),
                any = value();
    dh_pts_offset(p, up, q, 16);
    dh_pts_offset(p, down, up, -24);
    dh_pts_offset(p, last, q, 24);
    dh_pts_offset(p, out, q, 32);
    dh_pts_offset(p, far, q, INT64_MIN);
    dh_pts_any(p, any, q);
    solve();
    assert_only(up, s, 24);
    assert_only(down, s, 0);
    assert_only(last, s, 32);
    assert_int_equal(dh_pts_count(p, out), 0);
    assert_int_equal(dh_pts_count(p, far), 0);
    assert_false(dh_pts_may_alias(p, up, down));
    assert_true(dh_pts_may_alias(p, up, any));
    struct dh_pts_stats stats;
    dh_pts_statistics(p, &stats);
    assert_int_equal(stats.outside, 2);
}

static void test_anywhere_reads_all_and_writes_all(void **unused)
{
    (void)unused;
    dh_pts_object s = object(32), a = object(8), b = object(8), c = object(8);
    dh_pts_node q = address(s, 0), any = value(), all = value(), x = value(), y = value();
    dh_pts_any(p, any, q);
    dh_pts_store(p, q, 0, address(a, 0));
    dh_pts_store(p, q, 8, address(b, 0));
    dh_pts_store(p, any, 0, address(c, 0));
    dh_pts_load(p, all, any, 0);
    dh_pts_load(p, x, q, 0);
    dh_pts_load(p, y, q, 16);
    solve();
    assert_int_equal(dh_pts_count(p, all), 3);
    assert_true(has(x, a, 0) && has(x, c, 0));
    assert_false(has(x, b, 0)); /* the fields do not see each other */
    assert_only(y, c, 0);
}

static void test_declared_arrays(void **unused)
{
    (void)unused;
    /* struct { long n; struct { long k; char *s[4]; } e[3]; char *last; } */
    dh_pts_object s = object(8 + 3 * 40 + 8), a = object(8), b = object(8);
    dh_pts_array(p, s, 8, 120, 40);
    dh_pts_array(p, s, 16, 32, 8);
    dh_pts_node q = address(s, 0), x = value(), y = value(), z = value();
    dh_pts_store(p, q, 8 + 40 + 8 + 16, address(a, 0)); /* e[1].s[2] */
    dh_pts_store(p, q, 128, address(b, 0));             /* last */
    dh_pts_load(p, x, q, 8 + 80 + 8 + 8);               /* e[2].s[1] */
    dh_pts_load(p, y, q, 8 + 80);                       /* e[2].k */
    dh_pts_load(p, z, q, 128);
    solve();
    assert_only(x, a, 0);
    assert_int_equal(dh_pts_count(p, y), 0);
    assert_only(z, b, 0);
    assert_int_equal(dh_pts_canonical(p, s, 8 + 40 + 8 + 16), 16);
    assert_int_equal(dh_pts_canonical(p, s, 8 + 80), 8);
    assert_int_equal(dh_pts_canonical(p, s, 128), 128);
}

static void test_elements_make_arrays(void **unused)
{
    (void)unused;
    dh_pts_object heap = object(0), a = object(8), b = object(8);
    dh_pts_node q = address(heap, 0), e = value(), x = value(), y = value();
    dh_pts_element(p, e, q, 0, 24, 0); /* &q[i] */
    dh_pts_store(p, e, 8, address(a, 0));
    dh_pts_store(p, q, 48 + 16, address(b, 0)); /* q[2] */
    dh_pts_load(p, x, q, 24 + 8);               /* q[1] */
    dh_pts_load(p, y, e, 16);
    solve();
    assert_only(x, a, 0);
    assert_only(y, b, 0);
    assert_int_equal(dh_pts_canonical(p, heap, 24 * 7 + 16), 16);
    struct dh_pts_stats s;
    dh_pts_statistics(p, &s);
    assert_int_equal(s.folded, 1);
    assert_int_equal(s.collapsed, 0);
}

static void test_an_array_learnt_late(void **unused)
{
    (void)unused;
    /* Two fields with contents turn out to be one: whoever reads either reads both. */
    dh_pts_object heap = object(0), a = object(8), b = object(8);
    dh_pts_node q = address(heap, 0), x = value(), y = value(), e = value();
    dh_pts_store(p, q, 8, address(a, 0));
    dh_pts_load(p, x, q, 8);
    dh_pts_store(p, q, 24, address(b, 0));
    dh_pts_load(p, y, q, 24);
    solve();
    assert_only(x, a, 0);
    assert_only(y, b, 0);
    dh_pts_element(p, e, q, 0, 16, 0);
    solve();
    assert_true(has(x, a, 0) && has(x, b, 0) && has(y, a, 0) && has(y, b, 0));
}

static void test_elements_of_an_array_in_a_structure(void **unused)
{
    (void)unused;
    /* struct { void *head; void *a[]; } on the heap */
    dh_pts_object heap = object(0), a = object(8), b = object(8);
    dh_pts_node q = address(heap, 0), e = value(), x = value(), h = value();
    dh_pts_element(p, e, q, 8, 8, DH_PTS_ANY);
    dh_pts_store(p, q, 0, address(b, 0));
    dh_pts_store(p, e, 0, address(a, 0));
    dh_pts_load(p, x, q, 40);
    dh_pts_load(p, h, q, 0);
    solve();
    assert_only(x, a, 0);
    assert_only(h, b, 0);
}

static void test_bytes_do_not_make_arrays(void **unused)
{
    (void)unused;
    dh_pts_object s = object(32);
    dh_pts_node q = address(s, 8), byte = value();
    dh_pts_element(p, byte, q, 0, 1, 0);
    solve();
    assert_only(byte, s, DH_PTS_ANY);
    assert_int_equal(dh_pts_canonical(p, s, 24), 24);
}

static void test_a_walking_pointer_makes_an_array(void **unused)
{
    (void)unused;
    /* for (e = q; ...; e++) e->second = &a; with 16-byte elements, through two copies */
    dh_pts_object heap = object(160), a = object(8);
    dh_pts_node q = address(heap, 0), e = value(), f = value(), g = value(), x = value(), y = value();
    dh_pts_copy(p, e, q);
    dh_pts_offset(p, f, e, 8);
    dh_pts_offset(p, g, f, 8);
    dh_pts_copy(p, e, g);
    dh_pts_store(p, e, 8, address(a, 0));
    dh_pts_load(p, x, q, 16 * 5 + 8);
    dh_pts_load(p, y, q, 16 * 5);
    solve();
    assert_only(e, heap, 0);
    assert_only(f, heap, 8);
    assert_only(x, a, 0);
    assert_int_equal(dh_pts_count(p, y), 0);
    struct dh_pts_stats s;
    dh_pts_statistics(p, &s);
    assert_int_equal(s.strided_cycles, 1);
}

static void test_there_and_back_is_no_array(void **unused)
{
    (void)unused;
    dh_pts_object s = object(64);
    dh_pts_node a = address(s, 0), b = value();
    dh_pts_offset(p, b, a, 24);
    dh_pts_offset(p, a, b, -24);
    solve();
    assert_only(a, s, 0);
    assert_only(b, s, 24);
    assert_int_equal(dh_pts_canonical(p, s, 48), 48);
}

static void test_memcpy(void **unused)
{
    (void)unused;
    dh_pts_object from = object(32), to = object(64), a = object(8), b = object(8);
    dh_pts_node f = address(from, 0), t = address(to, 16), x = value(), y = value(), z = value();
    dh_pts_memcpy(p, t, f, 16);
    dh_pts_load(p, x, address(to, 0), 16 + 8);
    dh_pts_load(p, y, address(to, 0), 16 + 16);
    dh_pts_load(p, z, address(to, 0), 0);
    dh_pts_store(p, f, 8, address(a, 0));
    dh_pts_store(p, f, 16, address(b, 0)); /* beyond the 16 bytes */
    solve();
    assert_only(x, a, 0);
    assert_int_equal(dh_pts_count(p, y), 0);
    assert_int_equal(dh_pts_count(p, z), 0);
}

static void test_memcpy_of_an_array_copies_each_element(void **unused)
{
    (void)unused;
    dh_pts_object from = object(64), to = object(0), a = object(8);
    dh_pts_node e = value(), x = value();
    dh_pts_memcpy(p, address(to, 0), address(from, 0), 64);
    dh_pts_element(p, e, address(from, 0), 0, 8, 0);
    dh_pts_store(p, e, 0, address(a, 0));
    dh_pts_load(p, x, address(to, 0), 24);
    solve();
    assert_only(x, a, 0);
}

static void test_memcpy_among_many(void **unused)
{
    (void)unused;
    /* Enough of them to go through what all copies from one set, and to one set, share. */
    dh_pts_object from[6], to[6], a[6];
    dh_pts_node src = value(), dst = value(), again = value(), x[6], y = value();
    for (int i = 0; i < 6; i++) {
        from[i] = object(32);
        to[i] = object(32);
        a[i] = object(8);
        dh_pts_address(p, src, from[i], 8);
        dh_pts_address(p, dst, to[i], 0);
        dh_pts_store(p, address(from[i], 0), 16, address(a[i], 0));
        x[i] = value();
        dh_pts_load(p, x[i], address(to[i], 0), 8);
    }
    dh_pts_load(p, y, dst, 8);
    dh_pts_memcpy(p, dst, src, 16);
    dh_pts_memcpy(p, again, src, 16);
    dh_pts_copy(p, again, dst);
    solve();
    for (int i = 0; i < 6; i++)
        assert_int_equal(dh_pts_count(p, x[i]), 6);
    assert_int_equal(dh_pts_count(p, y), 6);
}

static void test_an_offset_is_looked_at_again(void **unused)
{
    (void)unused;
    /* First &s->a[0] - 16 is the structure; then a turns out to be an array, and it may be any element. */
    dh_pts_object s = object(64);
    dh_pts_node q = address(s, 16), back = value(), e = value();
    dh_pts_offset(p, back, q, -16);
    solve();
    assert_only(back, s, 0);
    dh_pts_element(p, e, q, 0, 8, 32);
    solve();
    assert_true(has(back, s, DH_PTS_ANY));
}

static void test_too_many_fields_collapse(void **unused)
{
    (void)unused;
    dh_pts_object s = object(1024), a = object(8), b = object(8);
    dh_pts_node q = address(s, 0), x = value();
    dh_pts_store(p, q, 8, address(a, 0));
    for (int i = 2; i < 12; i++)
        dh_pts_store(p, q, i * 8, address(b, 0));
    dh_pts_load(p, x, q, 512);
    solve();
    assert_true(dh_pts_collapsed(p, s));
    assert_int_equal(dh_pts_count(p, x), 2);
    assert_only(q, s, DH_PTS_ANY);
    const dh_pts_location *fields;
    assert_int_equal(dh_pts_fields(p, s, &fields), 1);
}

static void test_cycles_are_merged(void **unused)
{
    (void)unused;
    dh_pts_object a = object(8), cell = object(8);
    dh_pts_node v[6];
    for (int i = 0; i < 6; i++)
        v[i] = value();
    for (int i = 0; i < 5; i++)
        dh_pts_copy(p, v[i + 1], v[i]);
    /* The edge back is there only once the sets are known. */
    dh_pts_store(p, address(cell, 0), 0, v[5]);
    dh_pts_load(p, v[0], address(cell, 0), 0);
    dh_pts_address(p, v[3], a, 0);
    solve();
    for (int i = 0; i < 6; i++) {
        assert_only(v[i], a, 0);
        assert_int_equal(dh_pts_representative(p, v[i]), dh_pts_representative(p, v[0]));
    }
    struct dh_pts_stats s;
    dh_pts_statistics(p, &s);
    assert_true(s.merged >= 6);
}

static dh_pts_node parameter, argument;
static dh_pts_object first_function, made_later;
static dh_pts_node later;

/* A pointer that goes round adding 16 makes an array of the part that the client says, or of the whole
 * object. */
static dh_pts_object walked(void)
{
    dh_pts_object o = dh_pts_object_add(p, 64, 0);
    dh_pts_node at = address(o, 8);
    dh_pts_offset(p, at, at, 16);
    assert_int_equal(dh_pts_solve(p), 0);
    return o;
}

static void test_a_walk_in_an_object(void **unused)
{
    (void)unused;
    dh_pts_object o = walked();
    assert_int_equal(dh_pts_canonical(p, o, 24), 8);
    assert_int_equal(dh_pts_canonical(p, o, 56), 8);
}

static void test_a_walk_stays_in_a_member(void **unused)
{
    (void)unused;
    walk_start = 8;
    walk_end = 40;
    dh_pts_object o = walked();
    assert_int_equal(dh_pts_canonical(p, o, 24), 8);
    assert_int_equal(dh_pts_canonical(p, o, 56), 56);
    struct dh_pts_stats s;
    dh_pts_statistics(p, &s);
    assert_int_equal(s.confined, 1);
}

/* The body of a function: only now known to be reached. */
static void add_body(dh_pts_object f)
{
    if (f != first_function)
        return;
    dh_pts_copy(p, parameter, argument);
    made_later = dh_pts_object_add(p, 8, 0);
    later = value();
    dh_pts_address(p, later, made_later, 0);
    dh_pts_store(p, argument, 0, later);
}

static void test_calls_on_the_fly(void **unused)
{
    (void)unused;
    dh_pts_object table = object(16), data = object(8);
    dh_pts_object f = dh_pts_object_add(p, 1, DH_PTS_FUNCTION), g = dh_pts_object_add(p, 1, DH_PTS_FUNCTION);
    dh_pts_node callee = value(), x = value(), t = address(table, 0);
    first_function = f;
    when_told = add_body;
    parameter = value();
    argument = address(data, 0);
    dh_pts_load(p, callee, t, 8);
    dh_pts_call(p, callee, (void *)(intptr_t)7);
    dh_pts_store(p, t, 8, address(f, 0));
    dh_pts_store(p, t, 0, address(g, 0));    /* the other entry of the table */
    dh_pts_store(p, t, 8, address(data, 0)); /* not code: not told */
    dh_pts_load(p, x, parameter, 0);
    solve();
    assert_int_equal(told_n, 1);
    assert_int_equal(told[0].call, 7);
    assert_int_equal(told[0].object, f);
    assert_only(parameter, data, 0);
    assert_only(x, made_later, 0);
}

static void test_watch_tells_each_location_once(void **unused)
{
    (void)unused;
    dh_pts_object s = object(32);
    dh_pts_node a = address(s, 8), b = value();
    dh_pts_watch(p, b, (void *)(intptr_t)1);
    dh_pts_copy(p, b, a);
    solve();
    dh_pts_address(p, a, s, 16);
    dh_pts_copy(p, a, b);
    solve();
    assert_int_equal(told_n, 2);
    assert_int_equal(told[0].offset, 8);
    assert_int_equal(told[1].offset, 16);
}

static void test_constraints_after_solving(void **unused)
{
    (void)unused;
    dh_pts_object s = object(16), a = object(8);
    dh_pts_node q = address(s, 0), x = value(), y = value();
    dh_pts_copy(p, x, q);
    solve();
    /* x has told its set already. */
    dh_pts_store(p, x, 8, address(a, 0));
    dh_pts_load(p, y, x, 8);
    solve();
    assert_only(y, a, 0);
}

static void test_overlap_counts_bytes(void **unused)
{
    (void)unused;
    dh_pts_object s = object(64), other = object(64);
    dh_pts_node a = address(s, 8), b = address(s, 12), c = address(s, 32), d = address(other, 8), e = value();
    dh_pts_object where = DH_PTS_NONE;
    dh_pts_any(p, e, c);
    solve();
    assert_false(dh_pts_may_overlap(p, a, 4, b, 4, NULL));
    assert_true(dh_pts_may_overlap(p, a, 8, b, 4, &where));
    assert_int_equal(where, s);
    assert_true(dh_pts_may_overlap(p, b, 1, a, 5, NULL));
    assert_false(dh_pts_may_overlap(p, a, 8, c, 8, NULL));
    assert_true(dh_pts_may_overlap(p, a, DH_PTS_ANY, c, 8, NULL));
    assert_false(dh_pts_may_overlap(p, a, 8, d, 8, NULL));
    assert_true(dh_pts_may_overlap(p, a, 8, e, 1, NULL));
}

static void test_overlap_in_arrays(void **unused)
{
    (void)unused;
    /* struct { int x, y; } a[8] at 16, and whatever is before and behind it */
    dh_pts_object s = object(96);
    dh_pts_array(p, s, 16, 64, 8);
    dh_pts_node before = address(s, 0), x = address(s, 16 + 24), y = address(s, 16 + 36),
                behind = address(s, 80);
    solve();
    assert_false(dh_pts_may_overlap(p, x, 4, y, 4, NULL));
    assert_true(dh_pts_may_overlap(p, x, 8, y, 4, NULL));
    assert_true(dh_pts_may_overlap(p, y, 8, x, 4, NULL)); /* into the next element */
    assert_false(dh_pts_may_overlap(p, before, 16, y, 4, NULL));
    assert_true(dh_pts_may_overlap(p, before, 24, y, 4, NULL));
    assert_false(dh_pts_may_overlap(p, behind, 16, y, 4, NULL));
}

/* Two pointers that lead to too much become one, small ones and named fields stay as they are. */
static void test_huge_sets_are_one(void **unused)
{
    end(unused);
    struct dh_pts_options o = {.huge = 3};
    assert_int_equal(dh_pts_new(&o, &p), 0);
    dh_pts_object at[6];
    dh_pts_node x = value(), y = value(), small = value(), walk = value();
    for (int i = 0; i < 6; i++) {
        at[i] = dh_pts_object_add(p, 32, 0);
        dh_pts_address(p, i < 3 ? x : y, at[i], 0);
    }
    dh_pts_address(p, small, at[0], 0);
    dh_pts_address(p, small, at[5], 8);
    dh_pts_offset(p, walk, x, 8); /* huge too */
    dh_pts_copy(p, x, walk);
    dh_pts_node first = address(at[0], 0), second = address(at[0], 8);
    solve();
    struct dh_pts_stats stats;
    dh_pts_statistics(p, &stats);
    assert_int_equal(stats.widened, 3);
    assert_int_equal(dh_pts_representative(p, x), dh_pts_representative(p, y));
    assert_int_equal(dh_pts_representative(p, x), dh_pts_representative(p, walk));
    assert_true(dh_pts_points_to(p, x, dh_pts_find(p, at[5], DH_PTS_ANY)));
    assert_int_equal(dh_pts_count(p, small), 2);
    assert_false(dh_pts_may_overlap(p, first, 8, second, 8, NULL));
    assert_true(dh_pts_may_overlap(p, y, 8, second, 8, NULL));
    assert_int_equal(stats.folded + stats.collapsed, 0);
}

/* Each time round the array is 8 bytes longer, and the objects have no end. */
static void test_shifted_copies_in_a_circle(void **unused)
{
    (void)unused;
    struct dh_pts_stats stats;
    dh_pts_object a = dh_pts_object_add(p, 0, 0), b = dh_pts_object_add(p, 0, 0),
                  x = dh_pts_object_add(p, 8, 0);
    dh_pts_node there = address(a, 0), here = address(b, 8), far = address(b, 8000), loaded = value();
    dh_pts_array(p, a, 0, 16, 8);
    dh_pts_memcpy(p, here, there, DH_PTS_ANY);
    dh_pts_memcpy(p, there, address(b, 0), DH_PTS_ANY);
    dh_pts_store(p, there, 0, address(x, 0));
    dh_pts_load(p, loaded, far, 0);
    solve();
    dh_pts_statistics(p, &stats);
    assert_true(stats.stretched > 0);
    assert_true(stats.folded < 1000);
    assert_true(dh_pts_points_to(p, loaded, dh_pts_find(p, x, 0)));
}

static void test_nothing_is_taken_and_ignored(void **unused)
{
    (void)unused;
    dh_pts_node x = value();
    dh_pts_copy(p, DH_PTS_NONE, x);
    dh_pts_load(p, x, DH_PTS_NONE, 0);
    dh_pts_address(p, x, DH_PTS_NONE, 0);
    dh_pts_memcpy(p, x, DH_PTS_NONE, 8);
    dh_pts_call(p, DH_PTS_NONE, NULL);
    solve();
    assert_int_equal(dh_pts_count(p, x), 0);
    assert_int_equal(dh_pts_count(p, DH_PTS_NONE), 0);
    dh_pts_free(NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_address_and_copy),
        CASE(test_load_and_store_keep_fields_apart),
        CASE(test_load_through_a_loaded_pointer),
        CASE(test_offset),
        CASE(test_anywhere_reads_all_and_writes_all),
        CASE(test_declared_arrays),
        CASE(test_elements_make_arrays),
        CASE(test_an_array_learnt_late),
        CASE(test_elements_of_an_array_in_a_structure),
        CASE(test_bytes_do_not_make_arrays),
        CASE(test_a_walking_pointer_makes_an_array),
        CASE(test_a_walk_in_an_object),
        CASE(test_a_walk_stays_in_a_member),
        CASE(test_there_and_back_is_no_array),
        CASE(test_memcpy),
        CASE(test_memcpy_of_an_array_copies_each_element),
        CASE(test_memcpy_among_many),
        CASE(test_an_offset_is_looked_at_again),
        CASE(test_too_many_fields_collapse),
        CASE(test_cycles_are_merged),
        CASE(test_calls_on_the_fly),
        CASE(test_watch_tells_each_location_once),
        CASE(test_constraints_after_solving),
        CASE(test_overlap_counts_bytes),
        CASE(test_overlap_in_arrays),
        CASE(test_huge_sets_are_one),
        CASE(test_shifted_copies_in_a_circle),
        CASE(test_nothing_is_taken_and_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
