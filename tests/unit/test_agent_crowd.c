/*
 * test_agent_crowd.c - src/agent/crowd.c: what differs between the runs of a simulated crowd: who runs it, and with which arguments.
 */
#include "agent/crowd.h"
#include "unit/check.h"

static void what_is_known_is_replaced(void **state)
{
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"{seed}", "42"},
        {"--port=2100{job}", "--port=21003"},
        {"{user}/{run}/{seed}", "9/7/42"},
        {"{input}.out", "dir/{seed}.out"}, /* what was put in is not looked at again */
        {"{{seed}}", "{42}"},
        {"{sed} {", "{sed} {"},
        {"{seed", "{seed"},
    };
    const struct dh_agent_crowd_run run = {
        .number = 7, .user = 9, .job = 3, .seed = 42, .input = "dir/{seed}"};
    const struct dh_agent_crowd_run without = {0};
    struct dh_arena arena = {0};
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(cases); i++)
        assert_string_equal(dh_agent_crowd_fill(&arena, cases[i].text, &run), cases[i].wanted);
    assert_string_equal(dh_agent_crowd_fill(&arena, "{input}", &without), "{input}");
    dh_arena_done(&arena);
}

enum { USERS = 1000, RUNS = 20000 };

static void the_numbers_decide(void **state)
{
    static const char *const inputs[] = {"a", "b", "c"};
    const struct dh_agent_crowd c = {.users = USERS, .seed = 5, .inputs = inputs, .n_inputs = 3};
    static u64 of[USERS];
    u64 first_tenth = 0, met = 0, drawn[3] = {0}, same = 0;
    (void)state;
    for (u64 i = 0; i < RUNS; i++) {
        struct dh_agent_crowd_run a = {.number = i, .visit = i}, b = {.number = i, .visit = i, .job = 1},
                                  before = {.number = i + 1, .visit = i};
        dh_agent_crowd_draw(&c, &a);
        dh_agent_crowd_draw(&c, &b);
        dh_agent_crowd_draw(&c, &before);
        assert_true(a.user < USERS && a.seed <= INT32_MAX);
        assert_true(a.user == b.user && a.seed == b.seed && a.input == b.input);
        assert_true(a.user == before.user); /* the same visit */
        same += a.seed == before.seed;
        met += !of[a.user]++;
        first_tenth += a.user < USERS / 10;
        drawn[a.input[0] - 'a']++;
    }
    assert_int_equal(same, 0);
    assert_int_equal(met, USERS); /* all come, and some come often */
    assert_in_range(first_tenth, RUNS * 29 / 100, RUNS * 34 / 100);
    for (int i = 0; i < 3; i++)
        assert_in_range(drawn[i], RUNS * 30 / 100, RUNS * 37 / 100);
}

static void the_seed_decides(void **state)
{
    struct dh_agent_crowd_run a = {.number = 1}, b = {.number = 1};
    (void)state;
    dh_agent_crowd_draw(&(struct dh_agent_crowd){.users = 1, .seed = 1}, &a);
    dh_agent_crowd_draw(&(struct dh_agent_crowd){.users = 1, .seed = 2}, &b);
    assert_int_equal(a.user, 0);
    assert_true(a.seed != b.seed);
    assert_null(a.input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_known_is_replaced),
                                       cmocka_unit_test(the_numbers_decide),
                                       cmocka_unit_test(the_seed_decides)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
