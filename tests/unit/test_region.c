/*
 * test_region.c - src/runtime/shadow/region.c and the layout in abi.h: where the shadow of each kind of address is.
 */
#include <sys/mman.h>

#include "base/sys.h"
#include "runtime/shadow/heap.h"
#include "runtime/shadow/region.h"
#include "runtime/sink/sink.h"
#include "unit/check.h"

/* What region.c calls of the rest of the runtime. */
_Thread_local struct dh_hot __dh_hot = DH_HOT_NONE;
const struct dh_tap *dh_tap;
static u32 counted[DH_COUNT_MAX];

void dh_runtime_count(enum dh_counter c)
{
    counted[c]++;
}

_Noreturn void dh_runtime_no_shadow(void)
{
    fail_msg("a fault in a plane could not be served");
    for (;;)
        ;
}

void dh_engine_clear(struct dh_thread *t, const volatile void *p, size_t n)
{
    (void)t;
    (void)p;
    (void)n;
}

/*
 * Everything Linux hands out on x86-64, with its randomisation at its widest: a program that is not
 * position-independent and its heap; mmap in the legacy layout (a third of the address space, upwards);
 * a position-independent program at two thirds of it, with its heap; mmap below the stack; the stack.
 */
static const struct area {
    const char *what;
    uptr lo, hi;
} areas[] = {
    {"fixed program and its heap", 0x10000, 0x10000000000},
    {"legacy mmap", 0x2a0000000000, 0x2c0000000000},
    {"program and its heap", 0x550000000000, 0x560000000000}, /* flips break contiguity here */
    {"the same, further up", 0x560000000000, 0x570000000000},
    {"mmap and stack", 0x7e0000000000, 0x7ffffffff000},
};
enum { AREAS = DH_ARRAY_LEN(areas) };

static const uptr samples[] = {0x400000,          0x10001000,     0xffff0000,     0x2aaaaaaab000,
                               0x2b3c4d5e6000,    0x555555554000, 0x5555557fe000, 0x56f0a0b0c000,
                               0x7e0012345000,    0x7f8899aab000, 0x7ffff7dd0000, 0x7fffffffe000,
                               0x7ffffffff000 - 4};

static void round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(samples); i++) {
        for (u32 plane = 0; plane < DH_PLANES; plane++) {
            uptr s = dh_plane_nth(samples[i], plane);
            assert_true(dh_plane_nth(s, plane) == samples[i]);
            assert_true(s >> 47 == 0); /* the kernel maps nothing above */
            assert_true(s % 8 == samples[i] % 8);
            assert_true(dh_plane_nth(samples[i] + 3, plane) == s + 3);
            /* What the thread's own state says is the same. */
            if (plane == DH_NTH_WRITE) {
                assert_true(dh_plane_of(samples[i], DH_PLANE_WRITE) == s);
                continue;
            }
            __dh_hot.read_flip = DH_READ_FLIP(plane);
            assert_true(dh_plane_of(samples[i], DH_PLANE_READ) == s);
            assert_int_equal(dh_plane_own_class(), plane);
        }
        __dh_hot.read_flip = DH_READ_FLIP(0);
    }
}

/* A fault of a thread whose read plane it is. */
static bool fault(uptr cell, u32 plane)
{
    if (plane != DH_NTH_WRITE)
        __dh_hot.read_flip = DH_READ_FLIP(plane);
    bool ours = dh_region_fault(cell);
    __dh_hot.read_flip = DH_READ_FLIP(0);
    return ours;
}

static bool overlap(uptr a_lo, uptr a_hi, uptr b_lo, uptr b_hi)
{
    return a_lo < b_hi && b_lo < a_hi;
}

/* The images of all areas in all planes: contiguous, apart from each other and from every area. */
static void nothing_collides(void **state)
{
    (void)state;
    enum { IMAGES = DH_PLANES * AREAS };
    uptr lo[IMAGES], hi[IMAGES];
    for (int i = 0; i < IMAGES; i++) {
        u32 plane = (u32)i % DH_PLANES;
        const struct area *a = &areas[(u32)i / DH_PLANES];
        /* Read planes are contiguous in parts, and as a whole where their low bits do not count. */
        const uptr low = (1ull << 40) - 1;
        lo[i] = dh_plane_nth(a->lo & ~low, plane) & ~low;
        hi[i] = (dh_plane_nth((a->hi - 1) & ~low, plane) & ~low) + low + 1;
        assert_true(hi[i] - lo[i] == ((a->hi + low) & ~low) - (a->lo & ~low));
        assert_true(lo[i] >= 0x10000 && hi[i] <= 0x7ffffffff000);
        assert_false(overlap(lo[i], hi[i], DH_HEAP_PLANE, DH_HEAP_PLANE + DH_HEAP_PLANE_SIZE));
        assert_false(overlap(lo[i], hi[i], DH_SYS_OWN, DH_SYS_OWN + DH_SYS_OWN_SIZE));
        assert_true(dh_region_covers(a->lo) && dh_region_covers(a->hi - 1));
        assert_false(dh_region_covers(lo[i]) || dh_region_covers(hi[i] - 1));
    }
    for (int i = 0; i < IMAGES; i++) {
        for (int k = 0; k < AREAS; k++)
            assert_false(overlap(lo[i], hi[i], areas[k].lo, areas[k].hi));
        for (int k = 0; k < i; k++)
            assert_false(overlap(lo[i], hi[i], lo[k], hi[k]));
    }
}

/* This very process: all the kernel gave it lies in one of the areas. */
static void as_the_kernel_does(void **state)
{
    (void)state;
    int on_stack = 0;
    void *mapped = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uptr mine[] = {(uptr)&on_stack, (uptr)mapped, (uptr)areas, (uptr)round_trip, (uptr)&mmap};
    for (size_t i = 0; i < DH_ARRAY_LEN(mine); i++) {
        bool found = false;
        for (int k = 0; k < AREAS; k++)
            found |= mine[i] >= areas[k].lo && mine[i] < areas[k].hi;
        assert_true(found);
    }
    munmap(mapped, 1 << 20);
}

/* Which parts of a plane hold data: what nobody wrote is not touched, one cell of either plane is. */
static void touched(void **state)
{
    (void)state;
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        uptr app = 0x7e5000000000 + (uptr)plane * DH_REGION_SIZE;
        assert_false(dh_region_touched(app, DH_REGION_SIZE)); /* not even mapped */
        assert_true(dh_region_map((void *)app, DH_REGION_SIZE));
        if (dh_region_touched(app, DH_REGION_SIZE))
            skip(); /* something is swapped out, so nothing is certain */
        uptr cell = dh_plane_nth(app + 5 * 4096 + 8, plane);
        assert_true(dh_region_has_plane(app, plane) || fault(cell, plane));
        *(volatile u32 *)cell = 1;
        assert_true(dh_region_touched(app, DH_REGION_SIZE));
        assert_true(dh_region_touched(app + 5 * 4096 + 100, 1));
        assert_false(dh_region_touched(app, 5 * 4096));
        assert_false(dh_region_touched(app + 6 * 4096, 4096));
    }
}

struct seen {
    uptr lo, hi;
    size_t bytes;
};

static void see(void *ctx, uptr lo, uptr hi)
{
    struct seen *s = ctx;
    assert_true(lo < hi && lo % DH_REGION_SIZE == 0 && hi % DH_REGION_SIZE == 0);
    for (uptr at = lo; at < hi; at += DH_REGION_SIZE)
        assert_true(dh_region_has(at));
    uptr from = lo > s->lo ? lo : s->lo, to = hi < s->hi ? hi : s->hi;
    s->bytes += from < to ? to - from : 0;
}

static void write_shadow(uptr addr)
{
    for (u32 plane = 0; plane < DH_PLANES; plane++) {
        volatile u32 *cell = (volatile u32 *)dh_plane_nth(addr & ~(uptr)3, plane);
        if (!dh_region_has_plane(addr, plane)) /* as the handler of the fault would */
            assert_true(plane != DH_NTH_WRITE && fault((uptr)cell, plane));
        assert_true(dh_region_has_plane(addr, plane));
        assert_int_equal(*cell, 0);
        *cell = 0xdead;
        *cell = 0;
    }
}

static void mapping(void **state)
{
    (void)state;
    uptr base = 0x7e1234500000 + 0x1234, n = 5 * DH_REGION_SIZE;
    assert_false(dh_region_has(base));
    assert_true(dh_region_map((void *)base, n));
    assert_true(dh_region_map((void *)base, n)); /* again: nothing to do */
    assert_true(dh_region_map((void *)base, 0));
    for (uptr at = base; at < base + n; at += 4096)
        assert_true(dh_region_has(at));
    assert_true(dh_region_has(base + n - 1));
    assert_false(dh_region_has(base - DH_REGION_SIZE));
    assert_false(dh_region_has(base + n + DH_REGION_SIZE));
    write_shadow(base);
    write_shadow(base + n - 1);
    struct seen s = {base & ~(DH_REGION_SIZE - 1), (base & ~(DH_REGION_SIZE - 1)) + n + DH_REGION_SIZE, 0};
    dh_region_each(see, &s);
    assert_true(s.bytes == n + DH_REGION_SIZE);
    /* Around what is there already. */
    assert_true(dh_region_map((void *)(base - 2 * DH_REGION_SIZE), n + 4 * DH_REGION_SIZE));
    write_shadow(base - 2 * DH_REGION_SIZE);
    write_shadow(base + n + DH_REGION_SIZE);
    /* More than 64 regions, across borders where flips break contiguity, and not addresses at all.
     */
    assert_true(dh_region_map((void *)0x7e2000000000, 100 * DH_REGION_SIZE));
    write_shadow(0x7e2000000000 + 100 * DH_REGION_SIZE - 4);
    uptr edge = 0x560000000000;
    assert_true(dh_region_map((void *)(edge - DH_REGION_SIZE), 2 * DH_REGION_SIZE));
    write_shadow(edge - 4);
    write_shadow(edge);
    assert_false(dh_region_map((void *)0xffff800000000000, 4096));
    assert_false(dh_region_has(0xffff800000000000));
}

/* Shadow whose place is taken: refused, nothing half-mapped. */
static void refused(void **state)
{
    (void)state;
    uptr app = 0x7e3000000000, other = dh_plane_of(app, DH_PLANE_WRITE);
    void *squatter =
        mmap((void *)other, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(squatter, (void *)other);
    assert_false(dh_region_map((void *)app, 4096));
    assert_false(dh_region_has(app));
    munmap(squatter, 4096);
    assert_true(dh_region_map((void *)app, 4096));
    write_shadow(app);
}

/* A fault in a plane maps the shadow of the address behind it, once; any other fault is not ours. */
static void faults(void **state)
{
    (void)state;
    static const uptr apps[] = {0x30000000,     0x2aaab0000000, 0x55aa00000000,
                                0x568800000000, 0x7e4400000000, 0x7f0044000000};
    for (size_t i = 0; i < DH_ARRAY_LEN(apps); i++) {
        for (u32 plane = 0; plane < DH_PLANES; plane++) {
            uptr app = apps[i] + (uptr)plane * 16 * DH_REGION_SIZE;
            uptr at = dh_plane_nth(app, plane);
            assert_false(dh_region_has(app));
            u32 before = counted[DH_COUNT_SEGV_MAPPED];
            assert_true(fault(at, plane));
            assert_true(dh_region_has(app) && dh_region_has_plane(app, plane));
            assert_true(fault(at, plane)); /* as when two threads miss it at once: look again */
            assert_int_equal(counted[DH_COUNT_SEGV_MAPPED], before + 1);
            write_shadow(app);
        }
    }
    assert_false(dh_region_fault(0xffff800000000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(nothing_collides),
        cmocka_unit_test(as_the_kernel_does),
        cmocka_unit_test(mapping),
        cmocka_unit_test(refused),
        cmocka_unit_test(faults),
        cmocka_unit_test(touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
