/*
 * test_agent_result.c - src/agent/result.c and spool.c: what is kept and sent, in the largest case.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/result.h"
#include "agent/spool.h"
#include "base/control.h"
#include "unit/check.h"

enum { LONGEST = 250000, RACES = 64 }; /* the hive takes that much (tests/hive/hive.py); trial.h */

/* The spool keeps all of it. */
static void check_spool(const char *id, const char *text)
{
    char dir[] = "/tmp/deadheat-result-XXXXXX", picked[DH_AGENT_ID + 1];
    assert_non_null(mkdtemp(dir));
    assert_int_equal(dh_agent_spool_add(dir, id, text), 0);
    assert_true(dh_agent_spool_pick(dir, "", picked));
    char *kept = dh_agent_spool_read(dir, picked);
    assert_string_equal(kept, text);
    free(kept);
    dh_agent_spool_drop(dir, picked);
    assert_int_equal(rmdir(dir), 0);
}

static void test_longest(void **unused)
{
    (void)unused;
    static struct dh_agent_met met[DH_AGENT_MOST_MET];
    static struct dh_agent_stacks stacks = {.n = {DH_AGENT_FRAMES, DH_AGENT_FRAMES}};
    static u64 reached[DH_AGENT_MOST_REACHED];
    for (size_t i = 0; i < DH_AGENT_FRAMES; i++)
        stacks.at[0][i] = stacks.at[1][i] = 0x7fffffff; /* a program of two gigabytes */
    for (size_t i = 0; i < DH_AGENT_MOST_MET; i++)
        met[i] = (struct dh_agent_met){
            .sites = {~(u64)i, i}, .seen = DH_CONTROL_SEEN_OTHER, .raced = i < RACES ? &stacks : NULL};
    const char id[] = "0123456789abcdef0123456789abcdef";
    const struct dh_agent_result r = {.id = id,
                                      .run = id,
                                      .task = ~0ull >> 1,
                                      .result = "inference",
                                      .met = met,
                                      .n_met = DH_AGENT_MOST_MET,
                                      .reached = reached,
                                      .n_reached = DH_AGENT_MOST_REACHED};
    char *text = dh_agent_result_text(&r);
    assert_in_range(strlen(text), 100000, LONGEST);
    check_spool(id, text);
    json_t *o = json_loads(text, 0, NULL);
    json_t *pairs = json_object_get(o, "pairs"), *first = json_array_get(pairs, 0);
    assert_int_equal(json_array_size(pairs), DH_AGENT_MOST_MET);
    assert_string_equal(json_string_value(json_object_get(first, "saw")), "race");
    assert_int_equal(json_array_size(json_array_get(json_object_get(first, "stacks"), 1)), DH_AGENT_FRAMES);
    assert_string_equal(json_string_value(json_object_get(json_array_get(pairs, RACES), "saw")),
                        "not-aliasing");
    assert_null(json_object_get(json_array_get(pairs, RACES), "stacks"));
    assert_int_equal(json_array_size(json_object_get(o, "reached")), DH_AGENT_MOST_REACHED);
    json_decref(o);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_longest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
