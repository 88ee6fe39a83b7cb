/*
 * test_escape_lengths.c - the lengths of private blocks as their shadow says them, blocks at the edge of what can be
 * written of it, and blocks that move while a signal handler changes them (src/field/escape).
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

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

static int begin(void **state)
{
    (void)state;
    __dh_esc_mask = DH_CAPER_SHADOW_SIZE - 1;
    dh_esc_blocks_closed = true;
    return dh_esc_shadow_reserve() ? 0 : -1;
}

static bool is_private(const void *p)
{
    return dh_esc_at(p) != 0;
}

static bool is_all(const char *p, u64 n, bool private)
{
    for (u64 i = 0; i < n; i++)
        if (is_private(p + i) != private)
            return false;
    return true;
}

static void *heap_block(u64 n)
{
    void *p = calloc(1, n);
    __dh_esc_new(p, n);
    return p;
}

static void heap_free(void *p)
{
    __dh_esc_free(p);
    free(p);
}

/* A small block that ends in the next piece of shadow, where nothing has been private yet. The first test, as others
 * leave pieces that can be written. */
static void test_edge(void **state)
{
    (void)state;
    const u64 piece = 1 << DH_ESC_PIECE_SHIFT;
    char *p =
        mmap(NULL, 3 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    char *edge = (char *)DH_ALIGN_UP((u64)p + 4096, piece);
    __dh_esc_new(edge - 4096, 64);
    __dh_esc_free(edge - 4096);
    __dh_esc_new(edge - 32, 100);
    assert_true(is_all(edge - 32, 100, true) && !is_private(edge + 80));
    __dh_esc_publish((u64)edge + 60);
    assert_true(is_all(edge - 32, 200, false));
    munmap(p, 3 * piece);
}

/* Up to what the digits can say, and up to the last code. */
static void test_lengths(void **state)
{
    (void)state;
    static const u64 grains[] = {2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1 << 15, 1 << 18, 1 << 21};
    const u64 most = 2ull << 25;
    char *p = mmap(NULL, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(p, MAP_FAILED);
    for (u64 i = 0; i < DH_ARRAY_LEN(grains); i++)
        for (u64 n = grains[i] < 3 ? 2 : grains[i] - 1; n <= grains[i] + 17; n += grains[i] < 1000 ? 1 : 9)
            for (int open = 0; open < 2; open++) {
                u64 first = (u64)p / 16;
                dh_esc_blocks_closed = !open;
                __dh_esc_new(p, 16 * n - !open);
                __dh_esc_new(p + 16 * n, 32);
                struct dh_esc_block b = dh_esc_shadow_block(first);
                assert_int_equal(b.n, n);
                assert_int_equal(b.open, open);
                assert_int_equal(dh_esc_shadow_first(first + n - 1), first);
                assert_int_equal(dh_esc_shadow_first(first + n / 2), first);
                __dh_esc_free(p);
                assert_false(is_private(p) || is_private(p + 16 * n - 1));
                assert_true(is_private(p + 16 * n));
                __dh_esc_free(p + 16 * n);
            }
    dh_esc_blocks_closed = true;
    munmap(p, most);
}

/* A handler runs between any two instructions of realloc() that come before the block is treated as escaped. To the
 * program, that is before realloc() begins. */
enum { TRAP_FLAG = 0x100 };
static struct {
    u64 *moving, *child;
    u64 steps, until;
    bool publish; /* or store a pointer */
    bool done;
} stepped;

static void step(int number, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    (void)number;
    (void)info;
    bool over = !is_private(stepped.moving);
    if (!over && ++stepped.steps < stepped.until)
        return;
    u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    stepped.done = !over;
    if (over)
        return;
    if (stepped.publish) {
        __dh_esc_publish((u64)stepped.moving);
    } else {
        __dh_esc_store(stepped.moving, (u64)stepped.child);
        *stepped.moving = (u64)stepped.child;
    }
}

static void *realloc_by_steps(void *p, u64 n)
{
    __asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" ::"i"(TRAP_FLAG) : "memory", "cc");
    void *moved = __dh_esc_realloc(p, n);
    __asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq" ::"i"(~TRAP_FLAG) : "memory", "cc");
    return moved;
}

static void test_stepped(void **state)
{
    (void)state;
    struct sigaction a = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, before;
    sigaction(SIGTRAP, &a, &before);
    for (u64 what = 0; what < 4; what++) {
        u64 least = 0;
        do {
            stepped.moving = heap_block(what < 2 ? 100 : 1000);
            stepped.child = heap_block(64);
            stepped.publish = what % 2 != 0;
            stepped.steps = 0;
            stepped.until = ++least;
            u64 *p = realloc_by_steps(stepped.moving, 120);
            if (stepped.done && stepped.publish)
                assert_false(is_private(p));
            __dh_esc_publish((u64)p);
            assert_int_equal(is_private(stepped.child), !stepped.done || stepped.publish);
            heap_free(stepped.child);
            heap_free(p);
        } while (stepped.done);
        assert_true(least > 5);
    }
    sigaction(SIGTRAP, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edge),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_stepped),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
