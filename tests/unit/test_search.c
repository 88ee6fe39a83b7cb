/*
 * test_search.c - src/base/search.h, against counting.
 */
#include "base/search.h"
#include "unit/check.h"

struct row {
    u32 other;
    u64 key;
};

static void the_count_is_that_of_all_rows_below(void **unused)
{
    static const struct row rows[] = {{9, 0}, {8, 3}, {7, 3}, {6, 3}, {5, 7}, {4, ~0ull - 1}, {3, ~0ull}};
    static const u64 keys[] = {0, 1, 2, 3, 4, 6, 7, 8, ~0ull - 2, ~0ull - 1, ~0ull};
    (void)unused;
    for (size_t n = 0; n <= DH_ARRAY_LEN(rows); n++) {
        for (size_t k = 0; k < DH_ARRAY_LEN(keys); k++) {
            size_t upto = 0, below = 0;
            for (size_t i = 0; i < n; i++) {
                upto += rows[i].key <= keys[k];
                below += rows[i].key < keys[k];
            }
            assert_int_equal(DH_SEARCH_UPTO(rows, n, key, keys[k]), upto);
            assert_int_equal(DH_SEARCH_BELOW(rows, n, key, keys[k]), below);
        }
    }
}

static void no_rows_need_no_memory(void **unused)
{
    const struct row *none = NULL;
    (void)unused;
    assert_int_equal(DH_SEARCH_UPTO(none, 0, key, 5), 0);
    assert_int_equal(DH_SEARCH_BELOW(none, 0, key, 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_count_is_that_of_all_rows_below),
        cmocka_unit_test(no_rows_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
