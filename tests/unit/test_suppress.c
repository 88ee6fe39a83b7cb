/*
 * test_suppress.c - src/report/suppress.c: the matcher, the parser, and garbage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/suppress.h"
#include "unit/check.h"

static void matcher(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"foo", "foo", true},
        {"foo", "a_foo_b", true},
        {"foo", "fo", false},
        {"^foo", "foobar", true},
        {"^foo", "a_foo", false},
        {"foo$", "a_foo", true},
        {"foo$", "foo_", false},
        {"foo$", "foo_foo", true},
        {"^foo$", "foo", true},
        {"^foo$", "foofoo", false},
        {"f*o", "xfAAoy", true},
        {"^f*o$", "f__o", true},
        {"^f*o$", "f__op", false},
        {"^f*o$", "foo_o", true},
        {"*", "anything", true},
        {"**", "anything", true},
        {"*foo*", "a foo b", true},
        {"^*foo", "a foo", true},
        {"a*b*c", "xaxbxbxcx", true},
        {"a*b*c", "cba", false},
        {"ab*ab$", "ab", false},
        {"ab*ab$", "abab", true},
        {"$", "x", true},
        {"^$", "x", false},
        {"^", "x", true},
        {"a$b", "xa$bx", true},
        {"foo", "", false},
        {"*", "", false},
        {"*", NULL, false},
        {"ns::C<int>::f(int)", "ns::C<int>::f(int)", true},
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(cases); i++) {
        if (dh_suppress_match(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("'%s' on '%s'", cases[i].pattern, cases[i].text ? cases[i].text : "NULL");
    }
}

/* A pattern with many stars takes no time that grows beyond length times length. */
static void matcher_is_not_exponential(void **state)
{
    (void)state;
    char text[2001], pattern[101];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    for (size_t i = 0; i < sizeof(pattern) - 1; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[sizeof(pattern) - 2] = 'b';
    pattern[sizeof(pattern) - 1] = 0;
    assert_false(dh_suppress_match(pattern, text));
}

static char said[4096];

static void complain(void *ctx, u64 line, const char *sentence)
{
    (void)ctx;
    size_t n = strlen(said);
    snprintf(said + n, sizeof(said) - n, "%llu: %s\n", (unsigned long long)line, sentence);
}

static u64 parse(struct dh_suppress *s, struct dh_arena *a, const char *text, size_t len)
{
    said[0] = 0;
    dh_suppress_init(s, a);
    return dh_suppress_parse(s, text, len, complain, NULL);
}

static void parser(void **state)
{
    (void)state;
    static const char text[] =
        "# comment\n"
        "race:one\n"
        "\n"
        "  race_top:two  \r\n"
        "rase:three\n"
        "nonsense\n"
        "race:\n"
        "called_from_lib:libz.so\n"
        "thread:t\nmutex:m\nsignal:s\ndeadlock:d\n"
        "entirely_different:x\n"
        "fingerprint:dh1-0123456789ab\nfingerprint:dh2-ba9876543210\n"
        "fingerprint:dh3-0123456789ab\nfingerprint:dh2-0123456789a\nfingerprint:dh2-0123456789aX\n"
        "race:ns::last";
    struct dh_arena a = {0};
    struct dh_suppress s;
    assert_int_equal(parse(&s, &a, text, sizeof(text) - 1), 7);
    assert_string_equal(said,
                        "5: unknown suppression type 'rase'; did you mean 'race'?\n"
                        "6: not of the form type:pattern\n"
                        "7: there is no pattern after the colon; write * to match everything\n"
                        "13: unknown suppression type 'entirely_different'; there are race, race_top, "
                        "called_from_lib, fingerprint, thread, mutex, signal and deadlock\n"
                        "16: not a fingerprint as reports have it: dh2- and 12 hex digits\n"
                        "17: not a fingerprint as reports have it: dh2- and 12 hex digits\n"
                        "18: not a fingerprint as reports have it: dh2- and 12 hex digits\n");
    assert_int_equal(dh_suppress_find(&s, DH_SUPPRESS_RACE, "one")->line, 2);
    assert_string_equal(dh_suppress_find(&s, DH_SUPPRESS_RACE_TOP, "two")->pattern, "two");
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_CALLED_FROM_LIB, "/lib/libz.so.1"));
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_RACE, "ns::last()"));
    assert_null(dh_suppress_find(&s, DH_SUPPRESS_RACE, "two"));
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_THREAD, "t"));
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_MUTEX, "m"));
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_SIGNAL, "s"));
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_DEADLOCK, "d"));
    assert_int_equal(dh_suppress_find(&s, DH_SUPPRESS_FINGERPRINT, "dh1-0123456789ab")->line, 14);
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_FINGERPRINT, "dh2-ba9876543210"));
    assert_null(dh_suppress_find(&s, DH_SUPPRESS_FINGERPRINT, "dh2-0123456789ab"));
    dh_arena_done(&a);
}

static void zero_bytes(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    struct dh_suppress s;
    assert_int_equal(parse(&s, &a, "race:a\0b\nrace:c\n", 16), 1);
    assert_string_equal(said, "1: the line holds a zero byte\n");
    assert_non_null(dh_suppress_find(&s, DH_SUPPRESS_RACE, "c"));
    assert_int_equal(parse(&s, &a, "", 0), 0);
    assert_null(s.rules);
    dh_arena_done(&a);
}

static void no_file(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    struct dh_suppress s;
    u64 bad = 7;
    dh_suppress_init(&s, &a);
    assert_true(dh_suppress_load(&s, "/no/such/file", complain, NULL, &bad) < 0);
    assert_true(dh_suppress_load(&s, "/", complain, NULL, &bad) < 0);
    assert_int_equal(bad, 7);
    dh_arena_done(&a);
}

static void complain_quietly(void *ctx, u64 line, const char *sentence)
{
    (void)line;
    (void)sentence;
    ++*(u64 *)ctx;
}

/* Any bytes: every bad line is complained about once, the number returned is right, matching is safe. */
static void garbage(void **state)
{
    (void)state;
    static const char alphabet[] = "race:_topmux^$*#\n\n \t\r\0\xff";
    u32 seed = 12345;
    for (int round = 0; round < 5000; round++) {
        char text[200];
        struct dh_arena a = {0};
        struct dh_suppress s;
        u64 complaints = 0;
        size_t len = 0;
        while (len < sizeof(text)) {
            seed = seed * 1664525 + 1013904223;
            if ((seed >> 8) % 16 == 0 && len + 5 < sizeof(text)) {
                memcpy(text + len, "race:", 5);
                len += 5;
            }
            text[len++] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
        }
        dh_suppress_init(&s, &a);
        assert_int_equal(dh_suppress_parse(&s, text, len, complain_quietly, &complaints), complaints);
        for (int type = 0; type < DH_SUPPRESS_TYPES; type++)
            dh_suppress_find(&s, (enum dh_suppress_type)type, "trace_to_the_top");
        dh_arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matcher), cmocka_unit_test(matcher_is_not_exponential),
        cmocka_unit_test(parser),  cmocka_unit_test(zero_bytes),
        cmocka_unit_test(no_file), cmocka_unit_test(garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
