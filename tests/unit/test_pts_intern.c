/*
 * test_pts_intern.c - interned sets: random operations on small and large sets, compared with plain bits; equal
 * sets must have equal numbers, also after unused ones were freed and their numbers given again.
 */
#include "unit/check.h"

#include "ir/pts/intern.h"

#include <string.h>

enum { BITS = 192, KEPT = 24, STEPS = 20000 };

struct plain {
    uint64_t word[BITS / 64];
};

static uint64_t state = 7;

static uint32_t draw(uint32_t n)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 33) % n;
}

/* Members far apart as well, so that bitmaps have several containers. */
static uint32_t member(uint32_t bit)
{
    return bit < 64 ? bit : bit * 40000;
}

static void assert_same(const struct dh_intern *t, uint32_t s, const struct plain *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < BITS; i++) {
        bool in = p->word[i / 64] >> i % 64 & 1;
        count += in;
        assert_int_equal(dh_set_has(dh_intern_set(t, s), member(i)), in);
    }
    assert_int_equal(dh_intern_count(t, s), count);
    assert_int_equal(dh_set_count(dh_intern_set(t, s)), count);
    assert_int_equal(s == 0, count == 0);
}

static void test_operations(void **unused)
{
    (void)unused;
    struct dh_intern t;
    uint32_t set[KEPT] = {0};
    struct plain plain[KEPT];
    memset(plain, 0, sizeof plain);
    assert_int_equal(dh_intern_init(&t), 0);
    for (int step = 0; step < STEPS; step++) {
        uint32_t a = draw(KEPT), b = draw(KEPT), to = draw(KEPT), bit = draw(BITS), r;
        struct plain p = plain[a];
        switch (draw(8)) {
        case 0:
            r = dh_intern_join(&t, set[a], set[b]);
            for (int i = 0; i < BITS / 64; i++)
                p.word[i] |= plain[b].word[i];
            break;
        case 1:
        case 2:
            r = dh_intern_minus(&t, set[a], set[b]);
            for (int i = 0; i < BITS / 64; i++)
                p.word[i] &= ~plain[b].word[i];
            break;
        default:
            r = dh_intern_add(&t, set[a], member(bit));
            p.word[bit / 64] |= (uint64_t)1 << bit % 64;
            break;
        }
        assert_same(&t, r, &p);
        for (int i = 0; i < KEPT; i++)
            assert_int_equal(r == set[i], memcmp(&p, &plain[i], sizeof p) == 0);
        set[to] = r;
        plain[to] = p;
        if (step % 500 == 499) {
            for (int i = 0; i < KEPT; i++)
                t.at[set[i]].used = true;
            dh_intern_collect(&t);
            for (int i = 0; i < KEPT; i++)
                assert_same(&t, set[i], &plain[i]);
        }
    }
    /* Numbers were given again: there are not as many as sets were made. */
    assert_true(t.n < STEPS / 4);
    dh_intern_done(&t);
}

static void test_what_is_remembered(void **unused)
{
    (void)unused;
    struct dh_intern t;
    assert_int_equal(dh_intern_init(&t), 0);
    uint32_t a = dh_intern_add(&t, 0, 5), b = dh_intern_add(&t, a, 9);
    assert_int_equal(dh_intern_recall(&t, 77, a), 0);
    dh_intern_remember(&t, 77, a, 123);
    assert_int_equal(dh_intern_recall(&t, 77, a), 123);
    assert_int_equal(dh_intern_recall(&t, 78, a), 0);
    assert_int_equal(dh_intern_recall(&t, 77, b), 0);
    /* A number may be another set afterwards, so nothing is. */
    t.at[b].used = true;
    dh_intern_collect(&t);
    assert_int_equal(dh_intern_recall(&t, 77, a), 0);
    dh_intern_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_operations),
                                       cmocka_unit_test(test_what_is_remembered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
