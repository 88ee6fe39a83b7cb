/*
 * test_cells.c - runs of cells (runtime/cells.h) against the one-by-one definition, at every length and place.
 */
#include "runtime/shadow/cells.h"
#include "unit/check.h"

enum { MAX = 70 };

/* The first `at` cells hold `same`, the next one does not. */
static void prepare(dh_cell_t *c, size_t n, size_t at, u32 same, u32 other)
{
    for (size_t i = 0; i < n; i++)
        c[i] = dh_cell_from(i == at ? other : same);
}

static void equal(void **state)
{
    (void)state;
    dh_cell_t c[MAX + 1];
    for (size_t start = 0; start < 4; start++)
        for (size_t n = 0; n + start <= MAX; n++)
            for (size_t at = 0; at <= n; at++) {
                prepare(c + start, n, at, 0x80000001u, 0x80000002u);
                assert_int_equal(dh_cells_equal(c + start, n, dh_cell_from(0x80000001u)), at);
            }
}

static void within(void **state)
{
    (void)state;
    static const u32 bases[] = {0x78000001u, 0, UINT32_MAX - 1, 0x7FFFFFFFu};
    dh_cell_t c[MAX];
    for (size_t b = 0; b < DH_ARRAY_LEN(bases); b++)
        for (size_t n = 0; n <= MAX; n++)
            for (size_t at = 0; at <= n; at++) {
                prepare(c, n, at, bases[b] + 4,
                        bases[b] + 5); /* the last that is in, the first that is not */
                assert_int_equal(dh_cells_within(c, n, bases[b], 5), at);
                prepare(c, n, at, bases[b], bases[b] - 1);
                assert_int_equal(dh_cells_within(c, n, bases[b], 5), at);
                assert_int_equal(dh_cells_within(c, n, bases[b], 0), 0);
            }
}

static void fill(void **state)
{
    (void)state;
    dh_cell_t c[MAX + 2];
    for (size_t n = 0; n <= MAX; n++) {
        for (size_t i = 0; i < MAX + 2; i++)
            c[i] = dh_cell_from(7);
        dh_cells_fill(c + 1, n, dh_cell_from(9));
        for (size_t i = 0; i < MAX + 2; i++)
            assert_int_equal(dh_cell_raw(c[i]), i >= 1 && i <= n ? 9 : 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal), cmocka_unit_test(within),
                                       cmocka_unit_test(fill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
