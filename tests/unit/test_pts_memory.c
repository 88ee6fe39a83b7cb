/*
 * test_pts_memory.c - the points-to solver when memory runs out: -ENOMEM, whichever allocation it was, and
 * nothing lost or freed twice. The linker sends the solver's own allocations here (--wrap); those of CRoaring
 * stay what they are.
 */
#include "unit/check.h"

#include "ir/pts/pts.h"

#include <errno.h>
#include <stdlib.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);

static long left = -1; /* allocations before the one that fails; negative: none fails */

static int allowed(void)
{
    return left < 0 || left-- > 0;
}

void *__wrap_malloc(size_t n)
{
    return allowed() ? __real_malloc(n) : NULL;
}

void *__wrap_calloc(size_t count, size_t n)
{
    return allowed() ? __real_calloc(count, n) : NULL;
}

void *__wrap_realloc(void *p, size_t n)
{
    return allowed() ? __real_realloc(p, n) : NULL;
}

/* Something that needs every table. */
static int work(void)
{
    struct dh_pts *p;
    struct dh_pts_options o = {.max_fields = 20};
    int r = dh_pts_new(&o, &p);
    if (r)
        return r;
    dh_pts_node last = dh_pts_value(p), round = dh_pts_value(p);
    for (int i = 0; i < 100; i++) {
        dh_pts_object s = dh_pts_object_add(p, 0, 0), f = dh_pts_object_add(p, 1, DH_PTS_FUNCTION);
        dh_pts_node x = dh_pts_value(p), y = dh_pts_value(p);
        dh_pts_array(p, s, 64, 64, 8);
        dh_pts_address(p, x, s, 0);
        dh_pts_address(p, y, f, 0);
        dh_pts_element(p, round, x, 0, 16, 0);
        dh_pts_offset(p, last, last, 24);
        dh_pts_store(p, x, 8 * i, y);
        dh_pts_load(p, last, round, 8);
        dh_pts_memcpy(p, round, last, 32);
        dh_pts_copy(p, last, x);
        dh_pts_copy(p, x, last);
        dh_pts_call(p, last, NULL);
    }
    r = dh_pts_solve(p);
    dh_pts_free(p);
    return r;
}

static void test_every_allocation_may_fail(void **unused)
{
    (void)unused;
    left = 1000000;
    assert_int_equal(work(), 0);
    long n = 1000000 - left;
    long without = 0;
    for (long i = 0; i < n; i++) {
        left = i;
        int r = work();
        if (r != -ENOMEM && r != 0)
            fail_msg("allocation %ld of %ld failed, and the answer is %d", i, n, r);
        without += r == 0;
    }
    left = -1;
    /* A larger cache is all that it can do without. */
    assert_true(without <= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
