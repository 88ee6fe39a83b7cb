/*
 * test_cfi.c - src/runtime/threads/cfi.c, judged by libdw: every row of every table in the modules of this process,
 * which are code of two compilers and assembly.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/threads/cfi.h"
#include "unit/check.h"

enum { RBP = 6, RSP = 7, RETURN = 16, WORD = 8 };

enum how { SAME, SAVED, OTHER };

static enum how how_is(Dwarf_Frame *frame, int reg, long *ret_offset)
{
    Dwarf_Op room[3], *ops;
    size_t n;
    assert_int_equal(dwarf_frame_register(frame, reg, room, &ops, &n), 0);
    if (n == 0)
        return ops ? OTHER : SAME;
    if (n > 2 || ops[0].atom != DW_OP_call_frame_cfa || (n == 2 && ops[1].atom != DW_OP_plus_uconst))
        return OTHER;
    *ret_offset = n == 2 ? (long)ops[1].number : 0;
    return SAVED;
}

static bool expect(Dwarf_Frame *frame, bool interrupted, struct dh_cfi_row *ret)
{
    Dwarf_Op *cfa;
    size_t n;
    long back = 0, bp = 0;
    assert_int_equal(dwarf_frame_cfa(frame, &cfa, &n), 0);
    enum how bp_how = how_is(frame, RBP, &bp);
    if (interrupted || n != 1 || cfa->atom != DW_OP_bregx || (cfa->number != RSP && cfa->number != RBP) ||
        how_is(frame, RETURN, &back) != SAVED || back != -WORD || bp_how == OTHER)
        return false;
    *ret = (struct dh_cfi_row){cfa->number == RBP, (u32)(cfa->number2 / WORD), (u32)(-bp / WORD)};
    return cfa->number2 > 0 && cfa->number2 % WORD == 0 && bp % WORD == 0;
}

static u32 rows, rows_by_bp, refused;

static void compare(uptr addr, Dwarf_Frame *frame, bool interrupted)
{
    struct dh_cfi_row wanted = {0}, got = {0};
    bool want = expect(frame, interrupted, &wanted);
    assert_int_equal(dh_cfi_find(addr + 1, &got), want); /* the call is at addr */
    assert_int_equal(got.by_bp, wanted.by_bp);
    assert_int_equal(got.size, wanted.size);
    assert_int_equal(got.bp_at, wanted.bp_at);
    rows++;
    rows_by_bp += got.by_bp;
    refused += !want;
}

static int each_module(Dwfl_Module *m, void **unused, const char *name, Dwarf_Addr lo, void *arg)
{
    (void)unused;
    (void)name;
    (void)arg;
    Dwarf_Addr bias, hi, start, end;
    Dwarf_CFI *cfi = dwfl_module_eh_cfi(m, &bias);
    dwfl_module_info(m, NULL, NULL, &hi, NULL, NULL, NULL, NULL);
    for (Dwarf_Addr at = lo; cfi && at < hi; at = end) {
        Dwarf_Frame *frame;
        bool interrupted;
        end = at + 1;
        if (dwarf_cfi_addrframe(cfi, at - bias, &frame) != 0)
            continue;
        dwarf_frame_info(frame, &start, &end, &interrupted);
        end += bias;
        compare(at, frame, interrupted);
        compare(end - 1, frame, interrupted);
        free(frame);
    }
    return DWARF_CB_OK;
}

static void as_libdw_says(void **state)
{
    (void)state;
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    dlopen("libstdc++.so.6", RTLD_NOW); /* if it is there: it has more kinds of entries */
    Dwfl *dwfl = dwfl_begin(&callbacks);
    assert_int_equal(dwfl_linux_proc_report(dwfl, getpid()), 0);
    assert_int_equal(dwfl_report_end(dwfl, NULL, NULL), 0);
    dwfl_getmodules(dwfl, each_module, NULL, 0);
    dwfl_end(dwfl);
    assert_true(rows > 10000);
    assert_true(rows_by_bp > 100);
    assert_true(refused > 0 && refused < rows / 20);
}

static void not_code(void **state)
{
    struct dh_cfi_row row;
    assert_false(dh_cfi_find(0, &row));
    assert_false(dh_cfi_find(1, &row));
    assert_false(dh_cfi_find(0xdeaddeaddeaddeadull, &row));
    assert_false(dh_cfi_find((uptr)&row, &row));
    assert_false(dh_cfi_find((uptr)&rows, &row)); /* in a module, but no function */
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_libdw_says), cmocka_unit_test(not_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
