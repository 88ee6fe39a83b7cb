/*
 * test_chase_target.c - src/chase/target.c: breakpoints are set and cleared in the memory of this process, only where the
 * instruction is, and not in what has taken its place.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chase/target.h"
#include "unit/check.h"

enum { PAGE = 4096, LENGTH = 7 };

static const u8 instruction[LENGTH] = {0x48, 0x83, 0x05, 0x01, 0x02, 0x03, 0x04}; /* addq $4, 0x30201(%rip) */
static struct dh_control control;
static struct dh_chase_target target;
static bool wanted[DH_CONTROL_SITES];
static u8 *page; /* two of them; nothing is mapped behind these */

static int begin(void **state)
{
    (void)state;
    page = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || munmap(page + 2 * PAGE, PAGE) != 0)
        return -1;
    target.control = &control;
    target.mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    return target.mem < 0;
}

static int end(void **state)
{
    (void)state;
    close(target.mem);
    return munmap(page, 2 * PAGE);
}

/* The instruction, as the only site. */
static u8 *put(u8 *at)
{
    memset(page, 0x90, 2 * PAGE);
    memcpy(at, instruction, LENGTH);
    control.n_sites = 1;
    control.sites[0] = (struct dh_control_site){.pc = (u64)(uptr)at, .length = LENGTH};
    memcpy(control.sites[0].bytes, instruction, LENGTH);
    target.armed[0] = wanted[0] = false;
    return at;
}

static int arm(bool on)
{
    wanted[0] = on;
    return dh_chase_target_arm(&target, wanted);
}

static void set_and_cleared(void **state)
{
    (void)state;
    const u8 *const places[] = {page, page + 100, page + PAGE - 1, page + PAGE - LENGTH + 1,
                                page + 2 * PAGE - LENGTH};
    for (size_t i = 0; i < DH_ARRAY_LEN(places); i++) {
        u8 *at = put((u8 *)places[i]);
        assert_int_equal(arm(true), 0);
        assert_int_equal(at[0], DH_CONTROL_BREAKPOINT);
        assert_memory_equal(at + 1, instruction + 1, LENGTH - 1);
        assert_int_equal(arm(false), 0);
        assert_memory_equal(at, instruction, LENGTH);
    }
}

/* Whatever a byte of data looks like, it stays. */
static void never_in_data(void **state)
{
    (void)state;
    u8 data[LENGTH];
    for (int armed = 0; armed < 2; armed++) {
        for (int byte = 0; byte < 256; byte++) {
            u8 *at = put(page + 100);
            memset(data, byte, LENGTH);
            if (armed)
                assert_int_equal(arm(true), 0);
            memcpy(at, data, LENGTH);
            assert_true(arm(!armed) < 0);
            assert_memory_equal(at, data, LENGTH);
        }
    }
}

/* An instruction that does not end before its mapping is not there. */
static void cut_off(void **state)
{
    (void)state;
    u8 *at = put(page + 2 * PAGE - LENGTH) + 1;
    memmove(at, instruction, LENGTH - 1);
    control.sites[0].pc++;
    assert_true(arm(true) < 0);
    assert_memory_equal(at, instruction, LENGTH - 1);
    control.sites[0].pc = (u64)(uptr)page + 2 * PAGE;
    assert_true(arm(true) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_and_cleared),
        cmocka_unit_test(never_in_data),
        cmocka_unit_test(cut_off),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
