/*
 * test_escape_origins.c - which words that are stored into a private block need not be looked for in it
 * (src/field/escape/reach.c): those from memory that has escaped, and pointers to the block itself.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "field/escape/shadow.h"
#include "unit/check.h"

u64 __dh_esc_mask;
u8 *__dh_esc_marks;
struct dh_caper_run *dh_esc_run;
u64 dh_esc_own_variables;

void dh_esc_trouble(u64 bits)
{
    (void)bits;
}

static char *arena;

static int begin(void **state)
{
    (void)state;
    arena = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    __dh_esc_mask = DH_CAPER_SHADOW_SIZE - 1;
    dh_esc_blocks_closed = true;
    return arena != MAP_FAILED && dh_esc_shadow_reserve() ? 0 : -1;
}

static void *block(u64 at, u64 n)
{
    memset(arena + at, 0, n);
    __dh_esc_new(arena + at, n);
    return arena + at;
}

static bool is_all(const char *p, u64 n, bool private)
{
    for (u64 i = 0; i < n; i++)
        if ((dh_esc_at(p + i) != 0) != private)
            return false;
    return true;
}

static bool holds(const void *p)
{
    return dh_esc_shadow_block((uptr)p / DH_CAPER_GRAIN).holds;
}

static void put(void *at, u64 value)
{
    __dh_esc_store(at, value);
    *(u64 *)at = value;
}

static u64 variable[8];
static _Thread_local u64 own_variable[8];

/* What is in memory that has escaped has escaped, but for variables that only this thread knows. */
static void test_origins(void **state)
{
    (void)state;
    u64 local[8] = {0};
    u64 *from[] = {variable, local, own_variable};
    dh_esc_own_variables = (u64)__builtin_thread_pointer() - (u64)own_variable;
    for (int i = 0; i < 3; i++) {
        char *p = block(0, 64), *q = block(1 << 20, 64);
        from[i][3] = (u64)q;
        __dh_esc_copy(p, from[i], 64);
        assert_int_equal(holds(p), i != 0);
        __dh_esc_contents(from[i], 64);
        assert_true(is_all(q, 64, i == 0));
        __dh_esc_free(p);
        __dh_esc_free(q);
    }
    dh_esc_own_variables = 0;
}

/* Pointers to itself lead out of no small block. */
static void test_itself(void **state)
{
    (void)state;
    for (u64 n = 8; n <= 4096; n += n < 200 ? 1 : 999) {
        char *p = block(0, n), *q = block(1 << 20, 64);
        put(p, (u64)p + n - 1);
        assert_int_equal(holds(p), n / 16 >= DH_ESC_FEW);
        put(p, (u64)q);
        assert_true(holds(p));
        __dh_esc_publish((u64)p);
        assert_true(is_all(p, n, false) && is_all(q, 64, false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_itself),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
