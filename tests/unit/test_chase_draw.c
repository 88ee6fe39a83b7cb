/*
 * test_chase_draw.c - src/chase/draw.c: every instruction is as likely as any other, and a seed says which come.
 */
#include "chase/draw.h"
#include "unit/check.h"

enum { FEW = 3, MANY = 997, DRAWS = 100000 };

static struct dh_chase_spot few[FEW], many[MANY];

static struct dh_chase_draw draw_with(struct dh_chase_pool *pools, u64 seed)
{
    pools[0] = (struct dh_chase_pool){.spots = {few, FEW}};
    pools[1] = (struct dh_chase_pool){.spots = {NULL, 0}};
    pools[2] = (struct dh_chase_pool){.spots = {many, MANY}};
    return (struct dh_chase_draw){.pools = pools, .n_pools = 3, .random = seed};
}

static void the_seed_decides(void **state)
{
    (void)state;
    struct dh_chase_pool pools[3], *pool;
    struct dh_chase_draw a = draw_with(pools, 7), b = draw_with(pools, 7), c = draw_with(pools, 8);
    int same = 0;
    for (int i = 0; i < 100; i++) {
        const struct dh_chase_spot *spot = dh_chase_draw_next(&a, &pool);
        assert_ptr_equal(spot, dh_chase_draw_next(&b, &pool));
        same += spot == dh_chase_draw_next(&c, &pool);
    }
    assert_true(same < 5);
}

static void all_are_as_likely(void **state)
{
    (void)state;
    static u32 times[FEW + MANY];
    struct dh_chase_pool pools[3], *pool;
    struct dh_chase_draw d = draw_with(pools, 1);
    assert_int_equal(dh_chase_draw_total(&d), FEW + MANY);
    for (int i = 0; i < DRAWS; i++) {
        const struct dh_chase_spot *spot = dh_chase_draw_next(&d, &pool);
        assert_true(pool == &pools[0] || pool == &pools[2]);
        times[pool == &pools[0] ? spot - few : FEW + (spot - many)]++;
    }
    for (size_t i = 0; i < FEW + MANY; i++) /* 100 on the average; six times what such counts differ by */
        assert_in_range(times[i], 40, 160);
}

/* What writes comes first; what has met comes first whatever its turns. */
static void turns(void **state)
{
    (void)state;
    struct dh_chase_spot spots[3] = {{.kinds = DH_CONTROL_READ},
                                     {.kinds = DH_CONTROL_WRITE},
                                     {.kinds = DH_CONTROL_READ | DH_CONTROL_WRITE}};
    struct dh_chase_pool pools[2] = {{.spots = {NULL, 0}}, {.spots = {spots, 3}}};
    struct dh_chase_turns t;
    bool seen[3] = {false};
    dh_chase_turns_init(&t, pools, 2, 1);
    assert_int_equal(t.n, 3);
    assert_int_equal(pools[1].first, 0);
    assert_true(t.at[0].quarters > t.at[1].quarters);
    assert_int_equal(t.at[1].quarters, t.at[2].quarters);
    for (size_t i = 0; i < 3; i++)
        seen[t.order[i]] = true;
    assert_true(seen[0] && seen[1] && seen[2]);
    dh_chase_turns_met(&t, 0);
    assert_true(t.at[0].met);
    assert_int_equal(t.at[0].quarters, 0);
    t.at[0].quarters = 3;
    dh_chase_turns_met(&t, 0); /* which is known */
    assert_int_equal(t.at[0].quarters, 3);
    dh_chase_turns_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_seed_decides),
                                       cmocka_unit_test(all_are_as_likely), cmocka_unit_test(turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
