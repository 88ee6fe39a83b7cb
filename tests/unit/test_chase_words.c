/*
 * test_chase_words.c - src/chase/position.c: what a user may write for a pair.
 */
#include <errno.h>
#include <string.h>

#include "chase/position.h"
#include "unit/check.h"

static void pairs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *first, *second;
    } good[] = {
        {"a.c:1:b.c:2", "a.c:1", "b.c:2"},
        {"a.c:1:9:b.c:2", "a.c:1:9", "b.c:2"},
        {"a.c:1:9:read:b.c:2:write", "a.c:1:9:read", "b.c:2:write"},
        {"a.c:1:write:b.c:2:3:read", "a.c:1:write", "b.c:2:3:read"},
        {"a.c:1:*:b.c:2:*:write", "a.c:1:*", "b.c:2:*:write"},
        {"dir/a b.c:12:/x/y.c:1234567", "dir/a b.c:12", "/x/y.c:1234567"},
    };
    static const char *const bad[] = {
        "",
        ":",
        "a.c",
        "a.c:1",
        "a.c:0:b.c:1",
        "a.c:x:b.c:1",
        "a.c:1:b.c",
        "a.c:1:b.c:0",
        "a.c:1::b.c:2",
        "a.c:1:b.c:2:",
        "a.c:1:b.c:2:3:4:c.c",
        "a.c:1:b.c:12345678",
        "a.c:-1:b.c:2",
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(good); i++) {
        struct dh_arena arena = {0};
        struct dh_chase_position p[2];
        const char *why = NULL;
        if (dh_chase_position_pair(&arena, good[i].text, p, &why) != 0)
            fail_msg("%s: %s", good[i].text, why);
        assert_string_equal(dh_chase_position_text(&arena, &p[0]), good[i].first);
        assert_string_equal(dh_chase_position_text(&arena, &p[1]), good[i].second);
        dh_arena_done(&arena);
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(bad); i++) {
        struct dh_arena arena = {0};
        struct dh_chase_position p[2];
        const char *why = NULL;
        if (dh_chase_position_pair(&arena, bad[i], p, &why) != -EINVAL || !why)
            fail_msg("'%s' is taken", bad[i]);
        dh_arena_done(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
