/*
 * test_hive_page.c - text of any kind in a page: whatever it contains, it comes out as characters, as text, in an attribute and in an
 * address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hive/page.h"
#include "unit/check.h"

static char *put(const char *format, const char *value)
{
    struct dh_page p = {0};
    p.out = open_memstream(&p.text, &p.len);
    dh_page_put(&p, format, value);
    fclose(p.out);
    dh_arena_done(&p.arena);
    return p.text;
}

static void check(const char *format, const char *value, const char *wanted)
{
    char *got = put(format, value);
    assert_string_equal(got, wanted);
    free(got);
}

static void known(void **state)
{
    (void)state;
    check("<a title=\"%t\">", "\"><script>alert('x')</script>&amp;",
          "<a title=\"&quot;&gt;&lt;script&gt;alert('x')&lt;/script&gt;&amp;amp;\">");
    check("%t", "50%% %t %h", "50%% %t %h"); /* what is put in is no format */
    check("%t",
          "a\xe2\x80\xae"
          "b\x1b[0m\xff\n",
          "a???b?[0m\xef\xbf\xbd?");
    check("<pre>%l</pre>", "\tx\t\t<y>\n", "<pre>\tx\t\t&lt;y&gt;?</pre>");
    check("%p", "holds `<b>` and `c", "holds <code>&lt;b&gt;</code> and <code>c</code>");
    check("/?q=%u", "a b&c=\"<+/\xc3\xa9", "/?q=a%20b%26c%3D%22%3C%2B%2F%C3%A9");
    check("100%% %h", "<br>", "100% <br>");
}

static void numbers(void **state)
{
    struct dh_page p = {0};
    (void)state;
    p.out = open_memstream(&p.text, &p.len);
    dh_page_put(&p, "%n %n %i|%d %d %d %d|%o %o %o|%T|%D", (json_int_t)0, (json_int_t)1234567,
                (json_int_t)1234567, (json_int_t)0, (json_int_t)850, (json_int_t)1500, (json_int_t)7200000000,
                0.0, 0.0042, 0.26, (json_int_t)86400000000, (json_int_t)86400000000);
    fclose(p.out);
    assert_string_equal(p.text,
                        "0 1,234,567 1234567|0 850 \xc2\xb5s 1.5 ms 2.0 h|0% 0.42% 26.0%|"
                        "<time datetime=\"1970-01-02T00:00:00Z\">1970-01-02 00:00:00</time>|1970-01-02");
    free(p.text);
}

/* A byte of UTF-8 that is as it must be: continuations follow their lead, and nothing else. */
static bool is_utf8(const char *s)
{
    json_t *x = json_string(s); /* jansson takes no other */
    json_decref(x);
    return x != NULL;
}

static void random_bytes(void **state)
{
    u64 x = 88172645463325252ull;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        static const char favourites[] = "<>&\"'`%/\\=\t\x1b\xe2\x80\xae\xc2\x9b\xf0\xff";
        char in[24];
        size_t n = 0;
        for (; n < sizeof(in) - 1; n++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            u8 c = x >> 60 & 1 ? (u8)(x >> 20) : (u8)favourites[(x >> 20) % (sizeof(favourites) - 1)];
            if (!c)
                break;
            in[n] = (char)c;
        }
        in[n] = 0;
        char *text = put("%t", in), *line = put("%l", in), *prose = put("%p", in), *url = put("%u", in);
        assert_null(strpbrk(text, "<>\"\x1b\x7f\t\n"));
        assert_null(strpbrk(line, "<>\"\x1b\x7f\n"));
        assert_null(strpbrk(url, "<>\"'`& \x1b\x7f\t\n#?"));
        assert_null(strstr(text, "\xe2\x80\xae"));
        for (const char *amp = text; (amp = strchr(amp, '&')); amp++)
            assert_true(strncmp(amp, "&lt;", 4) == 0 || strncmp(amp, "&gt;", 4) == 0 ||
                        strncmp(amp, "&amp;", 5) == 0 || strncmp(amp, "&quot;", 6) == 0);
        assert_true(is_utf8(text) && is_utf8(line) && is_utf8(prose));
        free(text), free(line), free(prose), free(url);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known), cmocka_unit_test(numbers),
                                       cmocka_unit_test(random_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
