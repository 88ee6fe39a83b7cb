/*
 * test_table.c - documents of tables (report/table.h) in every form: what is shown, what is hidden, and names that
 * would be obeyed by a terminal, a browser or a spreadsheet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report/table.h"

static const struct dh_print_column columns[] = {
    {.member = "name", .title = "who", .csv = "key"},
    {.member = "size", .title = "KiB", .decimals = 1, .unit = 1024, .suffix = "k", .chart = true},
    {.member = "list", .title = "n"},
    {.member = "by", .title = "by", .names = true},
    {.member = "never", .title = "never"},
    {.member = "hidden"},
};
static const struct dh_print_column counts[] = {
    {.member = "name", .title = "what"},
    {.member = "value", .title = "number"},
};
static const struct dh_print_column facts[] = {
    {.member = "rows", .title = "rows"},
    {.member = "absent", .title = "absent"},
};
static const struct dh_print_table tables[] = {
    {.member = "main",
     .columns = columns,
     .n_columns = DH_ARRAY_LEN(columns),
     .below = "below",
     .most = 2,
     .none = "None."},
    {.title = "Counts", .member = "counts", .columns = counts, .n_columns = DH_ARRAY_LEN(counts)},
};
static const struct dh_print_tables about = {
    .title = "Table of",
    .subject = "a<b",
    .facts = facts,
    .n_facts = DH_ARRAY_LEN(facts),
    .tables = tables,
    .n_tables = DH_ARRAY_LEN(tables),
};
static const char rows[] =
    "{\"rows\":3,\"counts\":{\"one\":1,\"ten\":10},\"main\":["
    "{\"name\":\"a\\u001b<\",\"size\":2048,\"list\":[1,2],\"by\":[\"x\",\"y\"],\"hidden\":0.5,\"below\":["
    "\"p\",\"q\"]},"
    "{\"name\":\"bb,\\\"\",\"size\":null,\"list\":[],\"by\":[],\"never\":null,\"below\":\"r\"},"
    "{\"name\":\"\\u00e9\",\"size\":512,\"by\":[\"z\"]}]}";

/* What is printed of a document; to be freed. */
static char *printed(const char *format, const char *text)
{
    char *got = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&got, &n);
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    dh_print_tables(out, format, &about, document);
    fclose(out);
    json_decref(document);
    return got;
}

static void same(const char *format, const char *text, const char *wanted)
{
    char *got = printed(format, text);
    assert_string_equal(got, wanted);
    free(got);
}

static void text(void **state)
{
    (void)state;
    same("text", rows,
         "a<b: 3 rows\n\n"
         "who    KiB  n  by\n"
         "a?<   2.0k  2  x y\n        p\n        q\n"
         "bb,\"     -  0\n        r\n"
         "... and 1 more (--format=json has all)\n"
         "\nCounts:\nwhat  number\none        1\nten       10\n");
    same("text", "{\"main\":[]}", "a<b\n\nNone.\n");
}

static void csv(void **state)
{
    (void)state;
    same("csv", rows,
         "key,size,list,by,never,hidden\n"
         "a?<,2048,2,2,,0.500000\n"
         "\"bb,\"\"\",,0,0,,\n"
         "\xc3\xa9,512,,1,,\n");
}

static void json(void **state)
{
    (void)state;
    char *got = printed("json", rows);
    json_t *again = json_loads(got, 0, NULL), *document = json_loads(rows, 0, NULL);
    assert_true(json_equal(again, document));
    json_decref(again);
    json_decref(document);
    free(got);
}

static void html(void **state)
{
    (void)state;
    char *got = printed("html", rows);
    assert_non_null(strstr(got, "<h1>Table of a&lt;b</h1><p>3 rows</p>"));
    assert_non_null(
        strstr(got,
               "<tr><th>who</th><th class=r>KiB</th><th class=r>n</th><th>by</th></tr>\n"
               "<tr><td>a?&lt;</td><td class=r>2.0k<i style=\"width:100.0%\"></i></td><td class=r>2</td>"
               "<td>x y<small>p</small><small>q</small></td></tr>\n"
               "<tr><td>bb,&quot;</td><td class=r></td><td class=r>0</td><td><small>r</small></td></tr>\n"));
    assert_non_null(strstr(got, "<td class=r>0.5k<i style=\"width:25.0%\"></i></td>"));
    assert_non_null(
        strstr(got, "<h2>Counts</h2><div class=wide><table><tr><th>what</th><th class=r>number</th></tr>\n"));
    assert_null(strstr(got, "never"));
    assert_null(strchr(got, '\033'));
    free(got);
    got = printed("html", "{\"main\":[]}");
    assert_non_null(strstr(got, "<p>None.</p>"));
    assert_null(strstr(got, "<table>"));
    assert_null(strstr(got, "Counts"));
    free(got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text),
        cmocka_unit_test(csv),
        cmocka_unit_test(json),
        cmocka_unit_test(html),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
