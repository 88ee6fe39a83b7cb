/*
 * test_touched.c - the map of what was ever recorded: marks cover whole ranges, and nothing else.
 */
#include "runtime/shadow/touched.h"

#include <string.h>

#include "base/sys.h"
#include "runtime/shadow/region.h"
#include "unit/check.h"

#define BLOCK ((uptr)1 << DH_TOUCHED_SHIFT)

_Thread_local struct dh_hot __dh_hot = DH_HOT_NONE;

bool dh_region_get_plane(uptr addr, u32 plane)
{
    (void)addr, (void)plane;
    return true;
}

void dh_runtime_lose_membarrier(void)
{
}

void dh_runtime_count(enum dh_counter c)
{
    fail_msg("counter %d", (int)c);
}

static void forget(void)
{
    for (u32 i = 0; i < DH_TOUCHED_LEAVES; i++)
        if (dh_touched[i])
            memset(dh_touched[i], 0, sizeof(u32) << DH_TOUCHED_LEAF_SHIFT);
}

static void marks_what_it_is_told(void **state)
{
    (void)state;
    forget();
    uptr at = 1000 * BLOCK;
    assert_false(dh_touched_any(0, (size_t)1 << 40));
    dh_touched_note(at + 16, 8, DH_TOUCHED_BY_READ(3));
    assert_true(dh_touched_any(at, 1));
    assert_true(dh_touched_any(at + BLOCK - 1, 1));
    assert_false(dh_touched_any(at - 64, 32));
    assert_false(dh_touched_any(at + BLOCK, BLOCK));
    assert_true(dh_touched_any(at - 1, 2));
}

/* What a read and a write mark: a write must look where others have read, not where they have written. */
static void tells_readers_from_writers(void **state)
{
    (void)state;
    forget();
    uptr at = 3000 * BLOCK;
    for (u32 c = 0; c < DH_READ_CLASSES; c++) {
        dh_touched_note_within(at, DH_TOUCHED_BY_WRITE(c));
        assert_int_equal(dh_touched_mark(at) & DH_TOUCHED_READERS, (1u << c) - 1);
        assert_true(dh_touched_plane(dh_touched_mark(at), c));
        assert_true(dh_touched_plane(dh_touched_mark(at), DH_NTH_WRITE));
        dh_touched_note_within(at, DH_TOUCHED_BY_READ(c));
        assert_int_equal(dh_touched_mark(at) & DH_TOUCHED_READERS, (1u << (c + 1)) - 1);
        assert_int_equal(dh_touched_plane(dh_touched_mark(at), c + 1), c + 1 == DH_NTH_WRITE);
    }
    dh_touched_note_within(at + BLOCK, DH_TOUCHED_BY_READ(2));
    assert_false(dh_touched_plane(dh_touched_mark(at + BLOCK), DH_NTH_WRITE));
}

static void marks_across_borders(void **state)
{
    (void)state;
    forget();
    uptr at = 2000 * BLOCK;
    dh_touched_note(at + BLOCK - 4, 8, DH_TOUCHED_BY_READ(3));
    assert_true(dh_touched_any(at, 4) && dh_touched_any(at + BLOCK, 4));
    dh_touched_note(at, 5 * BLOCK,
                    DH_TOUCHED_BY_READ(3)); /* its ends are marked already, or its first block is */
    for (uptr i = 0; i < 5; i++)
        assert_true(dh_touched_any(at + i * BLOCK, 4));
    assert_false(dh_touched_any(at + ((uptr)1 << 32), 4) || dh_touched_any(at + ((uptr)1 << 41), 4));
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
    uptr plane[] = {dh_plane_nth(arena, 3), dh_plane_nth(arena, DH_NTH_WRITE)};
    for (int i = 0; i < 2; i++)
        assert_int_equal(dh_sys_map_at(plane[i], 2 * BLOCK), 0);
    dh_sys_populate(plane[0] + BLOCK, 4096);
    if (!resident(plane[0] + BLOCK))
        skip(); /* a kernel before 5.14 */
    forget();
    for (uptr i = 0; i < 1000; i++) /* a long range sees to its pages itself */
        dh_touched_set(0x1000000 + i * BLOCK, BLOCK, DH_TOUCHED_BY_WRITE(3));

    dh_touched_note_within(arena + 8, DH_TOUCHED_BY_READ(3));
    assert_true(resident(plane[0]) && resident(plane[0] + BLOCK - 4096));
    assert_false(resident(plane[1]));
    dh_touched_note_within(arena + 8, DH_TOUCHED_BY_WRITE(3));
    assert_true(resident(plane[1]) && resident(plane[1] + BLOCK - 4096));
    assert_false(resident(plane[1] + BLOCK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_what_it_is_told),
        cmocka_unit_test(tells_readers_from_writers),
        cmocka_unit_test(marks_across_borders),
        cmocka_unit_test(gets_the_pages_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
