/*
 * test_fmt.c - src/base/fmt.c.
 */
#include <string.h>

#include "base/fmt.h"
#include "unit/check.h"

static char buf[256];
static struct dh_fmt f;

static void fresh(size_t cap)
{
    memset(buf, 'x', sizeof(buf));
    dh_fmt_init(&f, buf, cap);
}

static const char *json(const char *s)
{
    fresh(sizeof(buf));
    dh_fmt_json_str(&f, s);
    assert_false(f.overflow);
    return buf;
}

static void numbers(void **state)
{
    (void)state;
    fresh(sizeof(buf));
    assert_string_equal(buf, "");
    dh_fmt_u64(&f, 0);
    dh_fmt_char(&f, ' ');
    dh_fmt_u64(&f, UINT64_MAX);
    dh_fmt_char(&f, ' ');
    dh_fmt_i64(&f, INT64_MIN);
    dh_fmt_char(&f, ' ');
    dh_fmt_i64(&f, -1);
    dh_fmt_char(&f, ' ');
    dh_fmt_i64(&f, INT64_MAX);
    assert_string_equal(buf, "0 18446744073709551615 -9223372036854775808 -1 9223372036854775807");
    fresh(sizeof(buf));
    dh_fmt_hex(&f, 0);
    dh_fmt_hex(&f, UINT64_MAX);
    dh_fmt_json_hex(&f, 0xabcdef);
    assert_string_equal(buf, "0x00xffffffffffffffff\"0xabcdef\"");
    assert_int_equal(f.len, strlen(buf));
}

static void escapes(void **state)
{
    (void)state;
    assert_string_equal(json(""), "\"\"");
    assert_string_equal(json("a\"b\\c/"), "\"a\\\"b\\\\c/\"");
    assert_string_equal(json("\x01\n\x1f"), "\"\\u0001\\u000a\\u001f\"");
    assert_string_equal(json("\x7f"), "\"\x7f\"");
}

/* Well-formed sequences go through as they are; every byte that belongs to none becomes one U+FFFD. */
static void utf8(void **state)
{
    (void)state;
    static const char *const good[] = {"\xc2\x80",         "\xdf\xbf",        "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",     "\xee\x80\x80",    "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xc0\x80",         /* overlong NUL */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xed\xa0\x80",     /* a surrogate */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xf4\x90\x80\x80", /* past U+10FFFF */
        "\xf5\x80\x80\x80",
        "\xff",
        "\xc2",
        "\xe2\x82",
        "\xf0\x9f\x92",
        "\xc2\x41",
    };
    for (size_t i = 0; i < DH_ARRAY_LEN(good); i++) {
        char want[16] = "\"";
        strcat(strcat(want, good[i]), "\"");
        assert_string_equal(json(good[i]), want);
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(bad); i++) {
        const char *got = json(bad[i]);
        assert_memory_equal(got, "\"\\ufffd", 7);
        for (const char *p = got; *p; p++)
            assert_true((unsigned char)*p < 0x80);
    }
    assert_string_equal(json("\xc2\x41"), "\"\\ufffdA\"");
}

/* Whatever is written into however little room: terminated, inside the capacity, and overflow says so. */
static void full_buffer(void **state)
{
    (void)state;
    static const char text[] = "{\"v\":\"\\u0001\xe2\x82\xac\"}";
    for (size_t cap = 1; cap < 64; cap++) {
        fresh(cap);
        dh_fmt_str(&f, text);
        dh_fmt_json_str(&f, text);
        dh_fmt_u64(&f, UINT64_MAX);
        dh_fmt_json_hex(&f, UINT64_MAX);
        assert_true(f.len < cap);
        assert_int_equal(strlen(buf), f.len);
        assert_true(buf[cap] == 'x');
        assert_true(f.overflow);
    }
    fresh(4);
    dh_fmt_str(&f, "abc");
    assert_false(f.overflow);
    dh_fmt_char(&f, 'd');
    assert_true(f.overflow);
    assert_string_equal(buf, "abc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(escapes),
        cmocka_unit_test(utf8),
        cmocka_unit_test(full_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
