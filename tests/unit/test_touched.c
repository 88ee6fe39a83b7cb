/*
 * test_touched.c - the map of what was ever recorded: marks cover whole ranges, and nothing else.
 */
#include "runtime/shadow/touched.h"

#include <string.h>

#include "base/sys.h"
#include "runtime/abi/abi.h"
#include "unit/check.h"

#define BLOCK ((uptr)1 << DH_TOUCHED_SHIFT)

static void marks_what_it_is_told(void **state)
{
    (void)state;
    memset(dh_touched, 0, sizeof(dh_touched));
    uptr at = 1000 * BLOCK;
    assert_false(dh_touched_any(0, (size_t)1 << 40));
    dh_touched_note(at + 16, 8, DH_TOUCHED_READ);
    assert_true(dh_touched_any(at, 1));
    assert_true(dh_touched_any(at + BLOCK - 1, 1));
    assert_false(dh_touched_any(at - 64, 32));
    assert_false(dh_touched_any(at + BLOCK, BLOCK));
    assert_true(dh_touched_any(at - 1, 2));
}

static void marks_across_borders(void **state)
{
    (void)state;
    memset(dh_touched, 0, sizeof(dh_touched));
    uptr at = 2000 * BLOCK;
    dh_touched_note(at + BLOCK - 4, 8, DH_TOUCHED_READ);
    assert_true(dh_touched_any(at, 4) && dh_touched_any(at + BLOCK, 4));
    dh_touched_note(at, 5 * BLOCK, DH_TOUCHED_READ); /* its ends are marked already, or its first block is */
    for (uptr i = 0; i < 5; i++)
        assert_true(dh_touched_any(at + i * BLOCK, 4));
    dh_touched_note(0, (size_t)1 << 46, DH_TOUCHED_READ); /* more than the map has */
    assert_true(dh_touched_any((uptr)1 << 45, 1));
}

static bool resident(uptr addr)
{
    u8 page;
    return dh_sys_resident(addr, 4096, &page) && (page & 1);
}

/* Shadow of a block that nobody has touched, in a program that uses much memory. */
static void gets_the_pages_at_once(void **state)
{
    (void)state;
    const uptr arena = 0x7e0000000000 + BLOCK;
    uptr plane[] = {dh_plane_of(arena, DH_PLANE_READ), dh_plane_of(arena, DH_PLANE_WRITE)};
    for (int i = 0; i < 2; i++)
        assert_int_equal(dh_sys_map_at(plane[i], 2 * BLOCK), 0);
    dh_sys_populate(plane[0] + BLOCK, 4096);
    if (!resident(plane[0] + BLOCK))
        skip(); /* a kernel before 5.14 */
    memset(dh_touched, 0, sizeof(dh_touched));
    for (uptr i = 0; i < 1000; i++) /* a long range sees to its pages itself */
        dh_touched_set(0x1000000 + i * BLOCK, BLOCK, DH_TOUCHED_WRITE);

    dh_touched_note_within(arena + 8, DH_TOUCHED_READ);
    assert_true(resident(plane[0]) && resident(plane[0] + BLOCK - 4096));
    assert_false(resident(plane[1]));
    dh_touched_note_within(arena + 8, DH_TOUCHED_WRITE);
    assert_true(resident(plane[1]) && resident(plane[1] + BLOCK - 4096));
    assert_false(resident(plane[1] + BLOCK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_what_it_is_told),
        cmocka_unit_test(marks_across_borders),
        cmocka_unit_test(gets_the_pages_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
