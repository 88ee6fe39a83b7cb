/*
 * test_process_id.c - src/runtime/report/process_id.c: the hash against its published value, and numbers that
 * differ where the kernel gives none.
 */
#include "../../src/runtime/report/process_id.c"

#include "unit/check.h"

/* From the reference implementation of SipHash-2-4: key 00 01 .. 0f, input 00 01 .. 07. */
static void hash_is_siphash(void **state)
{
    (void)state;
    const u64 key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908}, word = 0x0706050403020100;
    assert_true(sip_hash(key, &word, 1) == 0x93f5f5799a932462);
}

static void every_draw_differs(void **state)
{
    (void)state;
    char before[DH_PROCESS_ID_DIGITS + 1];
    dh_process_id_renew();
    assert_int_equal(strlen(dh_process_id()), DH_PROCESS_ID_DIGITS);
    assert_int_equal(strspn(dh_process_id(), "0123456789abcdef"), DH_PROCESS_ID_DIGITS);
    strcpy(before, dh_process_id());
    dh_process_id_renew();
    assert_string_not_equal(before, dh_process_id());
}

/* The clocks may stand still between two draws: the previous number is part of the next. */
static void draws_without_kernel_differ(void **state)
{
    (void)state;
    enum { DRAWS = 1000 };
    static u64 seen[DRAWS][WORDS];
    for (int i = 0; i < DRAWS; i++) {
        draw_without_kernel();
        memcpy(seen[i], drawn, sizeof(drawn));
        for (int k = 0; k < i; k++)
            assert_true(seen[k][0] != drawn[0] && seen[k][1] != drawn[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_is_siphash),
        cmocka_unit_test(every_draw_differs),
        cmocka_unit_test(draws_without_kernel_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
