/*
 * test_touched.c - the map of what was ever recorded: marks cover whole ranges, and nothing else.
 */
#include "runtime/touched.h"

#include <string.h>

#include "unit/check.h"

#define MEGABYTE ((uptr)1 << DH_TOUCHED_SHIFT)

static void marks_what_it_is_told(void **state)
{
    (void)state;
    memset(dh_touched, 0, sizeof(dh_touched));
    uptr at = 1000 * MEGABYTE;
    assert_false(dh_touched_any(0, (size_t)1 << 40));
    dh_touched_note(at + 16, 8);
    assert_true(dh_touched_any(at, 1));
    assert_true(dh_touched_any(at + MEGABYTE - 1, 1));
    assert_false(dh_touched_any(at - 64, 32));
    assert_false(dh_touched_any(at + MEGABYTE, MEGABYTE));
    assert_true(dh_touched_any(at - 1, 2));
}

static void marks_across_borders(void **state)
{
    (void)state;
    memset(dh_touched, 0, sizeof(dh_touched));
    uptr at = 2000 * MEGABYTE;
    dh_touched_note(at + MEGABYTE - 4, 8);
    assert_true(dh_touched_any(at, 4) && dh_touched_any(at + MEGABYTE, 4));
    dh_touched_note(at, 5 * MEGABYTE); /* its ends are marked already, or its first megabyte is */
    for (uptr i = 0; i < 5; i++)
        assert_true(dh_touched_any(at + i * MEGABYTE, 4));
    dh_touched_note(0, (size_t)1 << 46); /* more than the map has */
    assert_true(dh_touched_any((uptr)1 << 45, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_what_it_is_told),
        cmocka_unit_test(marks_across_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
