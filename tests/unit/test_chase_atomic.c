/*
 * test_chase_atomic.c - src/chase/atomic.c, on the debug information of this program: which pointers lead to atomic
 * objects, and that looking one up takes as many steps in a large unit as in a small one.
 */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "chase/atomic.h"
#include "unit/check.h"

enum { RDI = 7, FUNCTIONS = 2 * 512, MANY = 1000000 };

/* Two functions each: through an atomic pointer, and through a plain one. */
#define PAIR(n)                                                             \
    __attribute__((noinline)) static long atomic_##n(const _Atomic long *p) \
    {                                                                       \
        return *p + n;                                                      \
    }                                                                       \
    __attribute__((noinline)) static long plain_##n(const volatile long *p) \
    {                                                                       \
        return *p - n;                                                      \
    }
#define NAMES(n) (const void *)atomic_##n, (const void *)plain_##n,
#define EIGHT(x, n) x(n##0) x(n##1) x(n##2) x(n##3) x(n##4) x(n##5) x(n##6) x(n##7)
#define SIXTY_FOUR(x, n) \
    EIGHT(x, n##0)       \
    EIGHT(x, n##1) EIGHT(x, n##2) EIGHT(x, n##3) EIGHT(x, n##4) EIGHT(x, n##5) EIGHT(x, n##6) EIGHT(x, n##7)
#define ALL(x)        \
    SIXTY_FOUR(x, 10) \
    SIXTY_FOUR(x, 11) \
    SIXTY_FOUR(x, 12) \
    SIXTY_FOUR(x, 13) SIXTY_FOUR(x, 14) SIXTY_FOUR(x, 15) SIXTY_FOUR(x, 16) SIXTY_FOUR(x, 17)
ALL(PAIR)
static const void *const functions[] = {ALL(NAMES)};

/* Steps from one entry to the next; what searches a whole unit counts as many. */
static u64 steps;
int __real_dwarf_siblingof(Dwarf_Die *die, Dwarf_Die *ret);
int __wrap_dwarf_siblingof(Dwarf_Die *die, Dwarf_Die *ret)
{
    steps++;
    return __real_dwarf_siblingof(die, ret);
}

int __real_dwarf_getscopes(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **ret);
int __wrap_dwarf_getscopes(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **ret)
{
    steps += MANY;
    return __real_dwarf_getscopes(unit, pc, ret);
}

static struct dh_chase_globals globals;
static Dwarf *dwarf;

/* The program comes first. */
static int take_bias(struct dl_phdr_info *info, size_t n, void *ret)
{
    (void)n;
    *(u64 *)ret = info->dlpi_addr;
    return 1;
}

static int open_own(void **state)
{
    (void)state;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    dwarf = dwarf_begin(fd, DWARF_C_READ);
    if (!dwarf)
        return -1;
    dh_chase_atomic_read(&globals, dwarf);
    return 0;
}

static int close_own(void **state)
{
    (void)state;
    dh_chase_atomic_done(&globals);
    return dwarf_end(dwarf);
}

static void every_pointer(void **state)
{
    (void)state;
    u64 bias = 0, most = 0;
    dl_iterate_phdr(take_bias, &bias);
    assert_int_equal(DH_ARRAY_LEN(functions), FUNCTIONS);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const u64 pc = (u64)(uptr)functions[i] - bias;
        steps = 0;
        assert_int_equal(dh_chase_atomic_is_pointee(&globals, pc, RDI, 0, sizeof(long)), i % 2 == 0);
        most = steps > most ? steps : most;
    }
    assert_in_range(most, 1, 8); /* one parameter, and nothing else is in these functions */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pointer)};
    return cmocka_run_group_tests(tests, open_own, close_own);
}
