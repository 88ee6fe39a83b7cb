/*
 * test_context.c - src/runtime/threads/context.c.
 */
#include <pthread.h>

#include "runtime/threads/context.h"
#include "unit/check.h"

#define PC(n) ((const void *)(uintptr_t)(0x400000 + 16ul * (n)))

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
    /* Recursion is kept as it is while there is room. */
    u32 r = dh_ctx_intern(b, PC(2));
    assert_true(r != b && dh_ctx_node(r)->parent == b);
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

/* Past DH_CTX_FOLD_AT nodes recursion leads back to an ancestor, which is marked; what is new but not
 * recursive still gets a node. */
static void folding(void **state)
{
    (void)state;
    u32 outer = dh_ctx_intern(0, PC(7000001)), inner = dh_ctx_intern(outer, PC(7000002));
    u32 last = 0;
    for (u32 i = 0; last <= DH_CTX_FOLD_AT; i++) /* distinct pcs, so that nothing folds on the way */
        last = dh_ctx_intern(i % 64 ? last : 0, PC(10000000 + i));
    assert_false(dh_ctx_node(inner)->folded);
    assert_int_equal(dh_ctx_intern(inner, PC(7000002)), inner); /* direct recursion */
    assert_true(dh_ctx_node(inner)->folded);
    assert_int_equal(dh_ctx_intern(inner, PC(7000001)), outer); /* mutual recursion */
    assert_true(dh_ctx_node(outer)->folded);
    assert_true(dh_ctx_node(outer)->pc ==
                (u64)(uintptr_t)PC(7000001)); /* the mark does not harm the address */
    u32 fresh = dh_ctx_intern(inner, PC(7000003));
    assert_true(fresh && fresh != inner && dh_ctx_node(fresh)->parent == inner);
    /* Endless recursion over a cycle of calls stays inside a few nodes, and every stack ends. */
    u32 at = fresh;
    for (int i = 0; i < 1000000; i++) {
        at = dh_ctx_intern(at, PC(7000003 + i % 3));
        assert_true(at != 0);
    }
    int depth = 0;
    for (u32 n = at; n; n = dh_ctx_node(n)->parent)
        assert_true(++depth < 10);
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
