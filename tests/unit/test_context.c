/*
 * test_context.c - src/runtime/threads/context.c.
 */
#include <pthread.h>

#include "runtime/threads/context.h"
#include "unit/check.h"

/* Address n is in a function of its own, but for those of FUNCTION, which are in one. */
#define PC(n) ((const void *)(uintptr_t)(0x400000 + 16ul * (n)))
#define FUNCTION(f, n) ((const void *)(uintptr_t)(0x40000000000 + ((f) << 12) + (n)))

uptr dh_cfi_function(uptr pc)
{
    return pc < (uptr)FUNCTION(0, 0) ? 0 : pc & ~(uptr)0xfff;
}

static void tree(void **state)
{
    (void)state;
    u32 a = dh_ctx_intern(0, PC(1)), b = dh_ctx_intern(a, PC(2)), c = dh_ctx_intern(a, PC(3));
    assert_true(a && b && c && a != b && b != c);
    assert_int_equal(dh_ctx_intern(0, PC(1)), a);
    assert_int_equal(dh_ctx_intern(a, PC(2)), b);
    assert_int_equal(dh_ctx_intern(a, PC(3)), c);
    assert_true(dh_ctx_intern(b, PC(3)) != c); /* the same pc below another parent */
    assert_int_equal(dh_ctx_node(b)->parent, a);
    assert_int_equal(dh_ctx_node(a)->parent, 0);
    assert_true(dh_ctx_node(b)->pc == (u64)(uintptr_t)PC(2));
    assert_false(dh_ctx_node(b)->folded);
    assert_int_equal(dh_ctx_leaf(b, PC(2)), dh_ctx_leaf(b, PC(2)));
    assert_int_equal(dh_ctx_node(dh_ctx_leaf(b, PC(2)))->parent, b); /* never folded */
}

/* Threads that intern the same pairs at once agree: no duplicates. */
static void *intern_all(void *arg)
{
    u32 *out = arg, parent = 0;
    for (u32 i = 0; i < 5000; i++)
        out[i] = parent = dh_ctx_intern(i % 50 ? parent : 0, PC(1000 + i));
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
    u32 outer = dh_ctx_intern(0, PC(7000001));
    u32 left = dh_ctx_intern(outer, FUNCTION(1, 16)), right = dh_ctx_intern(outer, FUNCTION(1, 32));
    u32 kept = dh_ctx_intern(left, FUNCTION(1, 32)), between = dh_ctx_intern(left, FUNCTION(2, 16));
    assert_true(kept != right && dh_ctx_node(kept)->parent == left && !dh_ctx_node(kept)->folded);
    assert_true(dh_ctx_node(between)->parent == left);
    u32 at = kept;
    for (int i = 0; i < 100; i++)
        at = dh_ctx_intern(at, FUNCTION(1, 64));                  /* uses up what is kept */
    assert_int_equal(dh_ctx_intern(left, FUNCTION(1, 32)), kept); /* but that stays */

    assert_false(dh_ctx_node(right)->folded || dh_ctx_node(left)->folded);
    assert_int_equal(dh_ctx_intern(kept, FUNCTION(1, 32)), right); /* direct recursion */
    assert_true(dh_ctx_node(right)->folded && !dh_ctx_node(left)->folded);
    assert_int_equal(dh_ctx_intern(right, FUNCTION(1, 16)), left);
    assert_true(dh_ctx_node(left)->folded);
    assert_true(dh_ctx_node(left)->pc == (u64)(uintptr_t)FUNCTION(1, 16)); /* the mark does not harm it */
    u32 again = dh_ctx_intern(between, FUNCTION(1, 48));                   /* mutual recursion */
    assert_true(dh_ctx_node(again)->parent == outer && dh_ctx_node(again)->folded);
    assert_true(dh_ctx_node(dh_ctx_leaf(again, FUNCTION(1, 80)))->parent == again);

    /* Endless recursion over many calls of a few functions stays inside a few nodes, and every stack ends. */
    u32 last = dh_ctx_leaf(again, PC(7000002));
    for (unsigned i = 0; i < 1000000; i++) {
        at = dh_ctx_intern(at, FUNCTION(3 + i * i % 3, 16 * (i % 5)));
        assert_true(at != 0 && at < last + 1000);
    }
    int depth = 0;
    for (u32 n = at; n; n = dh_ctx_node(n)->parent)
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
