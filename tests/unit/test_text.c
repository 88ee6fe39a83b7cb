/*
 * test_text.c - text from elsewhere, made fit to be shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/check.h"
#include "util/text.h"

struct sample {
    const char *raw, *shown;
};

static const struct sample samples[] = {
    {"", ""},
    {"plain_name(int, char*)", "plain_name(int, char*)"},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e"},
    {"caf\xe9", "caf\xe9"}, /* Latin-1 */
    {"\033[2J\033]0;title\007", "?[2J?]0;title?"},
    {"two\nlines\r", "two?lines?"},
    {"tab\there", "tab?here"},
    {"\x7f", "?"},
    {"\xc2\x9b"
     "31m",
     "??31m"}, /* CSI, one character of Latin-1 in UTF-8, */
    {"\x9b"
     "31m",
     "?31m"},                          /* and as a byte */
    {"\xe2\x80\xaegnp.c", "???gnp.c"}, /* right-to-left override */
    {"\xe2\x81\xa6x\xe2\x81\xa9", "???x???"},
    {"\xe2\x80\xa8", "???"},          /* line separator */
    {"\xd8\x9c", "??"},               /* Arabic letter mark */
    {"\xe2\x80\x93", "\xe2\x80\x93"}, /* a dash is none of them */
    {"\xc0\x9b", "\xc0?"},            /* too long for its character */
    {"\xe0\x82\x9b", "\xe0??"},
    {"\xe2\x80", "\xe2?"},         /* cut short */
    {"\xed\xa0\x80", "\xed\xa0?"}, /* a surrogate */
    {"\xf5\x80\x80\x80", "\xf5???"},
};

static void in_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(samples); i++) {
        char copy[64];
        strcpy(copy, samples[i].raw);
        dh_text_tame(copy, strlen(copy));
        assert_string_equal(copy, samples[i].shown);
    }
    char zeros[] = "a\0b\033c";
    dh_text_tame(zeros, sizeof(zeros) - 1);
    assert_memory_equal(zeros, "a?b?c", sizeof(zeros));
}

static void copied(void **state)
{
    (void)state;
    struct dh_arena arena = {0};
    for (size_t i = 0; i < DH_ARRAY_LEN(samples); i++) {
        const char *shown = dh_text_shown(&arena, samples[i].raw);
        assert_string_equal(shown, samples[i].shown);
        assert_int_equal(shown == samples[i].raw, strcmp(samples[i].raw, samples[i].shown) == 0);
    }
    dh_arena_done(&arena);
}

static void printed(void **state)
{
    (void)state;
    char *text = NULL;
    size_t len;
    for (size_t i = 0; i < DH_ARRAY_LEN(samples); i++) {
        FILE *f = open_memstream(&text, &len);
        dh_text_put(f, samples[i].raw);
        fclose(f);
        assert_string_equal(text, samples[i].shown);
        free(text);
    }
    FILE *f = open_memstream(&text, &len);
    dh_text_put_line(f, "\tx = 1; // \033[8m left out", 13);
    fclose(f);
    assert_string_equal(text, "\tx = 1; // ?[");
    free(text);
}

static void as_utf8(void **state)
{
    static const struct sample repaired[] = {
        {"", ""},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e"},
        {"\033\xe2\x80\xae", "\033\xe2\x80\xae"}, /* harmful, but characters */
        {"caf\xe9", "caf\xef\xbf\xbd"},
        {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe2\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc3\xc3\xa9", "\xef\xbf\xbd\xc3\xa9"},
    };
    struct dh_arena arena = {0};
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(repaired); i++)
        assert_string_equal(dh_text_utf8(&arena, repaired[i].raw, strlen(repaired[i].raw)),
                            repaired[i].shown);
    dh_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_place), cmocka_unit_test(copied),
                                       cmocka_unit_test(printed), cmocka_unit_test(as_utf8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
