/*
 * test_context.c - src/runtime/threads/context.c.
 */
#include <pthread.h>

#include "runtime/sink/tap.h"
#include "runtime/threads/context.h"
#include "unit/check.h"

/* Address n is in a function of its own, but for those of FUNCTION, which are in one. */
#define PC(n) ((const void *)(uintptr_t)(0x400000 + 16ul * (n)))
#define FUNCTION(f, n) ((const void *)(uintptr_t)(0x40000000000 + ((f) << 12) + (n)))

const struct dh_tap *dh_tap;

uptr dh_cfi_function(uptr pc)
{
    return pc < (uptr)FUNCTION(0, 0) ? 0 : pc & ~(uptr)0xfff;
}

/* Contexts are plain numbers here. */
static u32 intern(u32 parent, const void *pc)
{
    return dh_ctx_raw(dh_ctx_intern(dh_ctx_from(parent), pc));
}

static u32 leaf(u32 parent, const void *pc)
{
    return dh_ctx_raw(dh_ctx_leaf(dh_ctx_from(parent), pc));
}

static const struct dh_ctx_node *node(u32 ctx)
{
    return dh_ctx_node(dh_ctx_from(ctx));
}

static u32 parent_of(u32 ctx)
{
    return dh_ctx_raw(node(ctx)->parent);
}

static void tree(void **state)
{
    (void)state;
    u32 a = intern(0, PC(1)), b = intern(a, PC(2)), c = intern(a, PC(3));
    assert_true(a && b && c && a != b && b != c);
    assert_int_equal(intern(0, PC(1)), a);
    assert_int_equal(intern(a, PC(2)), b);
    assert_int_equal(intern(a, PC(3)), c);
    assert_true(intern(b, PC(3)) != c); /* the same pc below another parent */
    assert_int_equal(parent_of(b), a);
    assert_int_equal(parent_of(a), 0);
    assert_true(node(b)->pc == (u64)(uintptr_t)PC(2));
    assert_false(node(b)->folded);
    assert_int_equal(leaf(b, PC(2)), leaf(b, PC(2)));
    assert_int_equal(parent_of(leaf(b, PC(2))), b); /* never folded */
}

/* Threads that intern the same pairs at once agree: no duplicates. */
static void *intern_all(void *arg)
{
    u32 *out = arg, parent = 0;
    for (u32 i = 0; i < 5000; i++)
        out[i] = parent = intern(i % 50 ? parent : 0, PC(1000 + i));
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    static u32 out[4][5000];
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&t[i], NULL, intern_all, out[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        assert_memory_equal(out[i], out[0], sizeof(out[0]));
    }
}

/* The first few recursive calls of a function are kept. Then a call from a function that is in the stack already
 * replaces its earlier call, and what lies behind. */
static void folding(void **state)
{
    (void)state;
    u32 outer = intern(0, PC(7000001));
    u32 left = intern(outer, FUNCTION(1, 16)), right = intern(outer, FUNCTION(1, 32));
    u32 kept = intern(left, FUNCTION(1, 32)), between = intern(left, FUNCTION(2, 16));
    assert_true(kept != right && parent_of(kept) == left && !node(kept)->folded);
    assert_true(parent_of(between) == left);
    u32 at = kept;
    for (int i = 0; i < 100; i++)
        at = intern(at, FUNCTION(1, 64));                  /* uses up what is kept */
    assert_int_equal(intern(left, FUNCTION(1, 32)), kept); /* but that stays */

    assert_false(node(right)->folded || node(left)->folded);
    assert_int_equal(intern(kept, FUNCTION(1, 32)), right); /* direct recursion */
    assert_true(node(right)->folded && !node(left)->folded);
    assert_int_equal(intern(right, FUNCTION(1, 16)), left);
    assert_true(node(left)->folded);
    assert_true(node(left)->pc == (u64)(uintptr_t)FUNCTION(1, 16)); /* the mark does not harm it */
    u32 again = intern(between, FUNCTION(1, 48));                   /* mutual recursion */
    assert_true(parent_of(again) == outer && node(again)->folded);
    assert_true(parent_of(leaf(again, FUNCTION(1, 80))) == again);

    /* Endless recursion over many calls of a few functions stays inside a few nodes, and every stack ends. */
    u32 last = leaf(again, PC(7000002));
    for (unsigned i = 0; i < 1000000; i++) {
        at = intern(at, FUNCTION(3 + i * i % 3, 16 * (i % 5)));
        assert_true(at != 0 && at < last + 1000);
    }
    int depth = 0;
    for (u32 n = at; n; n = parent_of(n))
        assert_true(++depth < 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree),
        cmocka_unit_test(threads),
        cmocka_unit_test(folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
