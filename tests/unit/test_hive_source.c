/*
 * test_hive_source.c - lines of source that are uploaded to a hive: which are wanted, which are refused, and that the log gives them back.
 */
#include "hive_crowd.h"

#include "hive/snapshot.h"
#include "unit/check.h"

static struct dh_pairs *table;

static int setup(void **state)
{
    u8 *bytes;
    size_t len;
    const char *why;
    (void)state;
    hive_table(3, 0, 0, true, &bytes, &len); /* sites of m.c, in /, at the lines 10 to 19 */
    int rc = dh_pairs_read(bytes, len, &table, &why);
    free(bytes);
    return rc;
}

static int teardown(void **state)
{
    (void)state;
    dh_pairs_free(table);
    return 0;
}

static int read_text(const char *text, bool strict, struct dh_hive_source **ret)
{
    const char *why = NULL;
    int rc = dh_hive_source_read(text, strlen(text), table, DH_PAIRS_RELAY, strict, ret, &why);
    assert_int_equal(rc == 0, why == NULL);
    return rc;
}

static void wanted(void **state)
{
    size_t n;
    struct dh_hive_source_line *lines = dh_hive_source_wanted(table, DH_PAIRS_RELAY, &n);
    (void)state;
    assert_int_equal(n, 10 + 2 * DH_HIVE_SOURCE_AROUND); /* each once, those of the bundle too */
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(lines[i].number, 10 - DH_HIVE_SOURCE_AROUND + i);
        assert_string_equal(lines[i].file, "m.c");
    }
    free(lines);
}

/* One part: lines is a list of JSON. */
static const char *part(const char *dir, const char *file, const char *from, const char *lines)
{
    static char text[300];
    snprintf(text, sizeof(text),
             "{\"source\": [{\"dir\": \"%s\", \"file\": \"%s\", \"from\": %s, \"lines\": %s}]}", dir, file,
             from, lines);
    return text;
}

static void found(void **state)
{
    struct dh_hive_source *s, *same, *other;
    const struct dh_pairs_place *at = &table->sites[0].at;
    (void)state;
    assert_int_equal(read_text(part("/", "m.c", "11", "[\"a\", \"b\", \"c\"]"), true, &s), 0);
    assert_string_equal(dh_hive_source_find(s, at, 11), "a");
    assert_string_equal(dh_hive_source_find(s, at, 13), "c");
    assert_null(dh_hive_source_find(s, at, 14));
    assert_null(dh_hive_source_find(NULL, at, 11));
    assert_int_equal(read_text(part("/", "m.c", "11", "[\"a\", \"b\", \"c\"]"), true, &same), 0);
    assert_int_equal(read_text(part("/", "m.c", "11", "[\"a\", \"b\", \"d\"]"), true, &other), 0);
    assert_true(dh_hive_source_equal(s, same));
    assert_false(dh_hive_source_equal(s, other));
    assert_false(dh_hive_source_equal(NULL, s));
    dh_hive_source_free(s);
    dh_hive_source_free(same);
    dh_hive_source_free(other);
}

/* What is not wanted is refused with all the rest when it is uploaded, and left out when it is in a log. */
static void refused(void **state)
{
    static const char *const bad[] = {"", "{", "[]", "{\"source\": 1}", "{\"source\": [1]}"};
    static const char *const bad_parts[][4] = {{"/", "m.c", "0", "[\"a\"]"},
                                               {"/", "m.c", "12", "[1]"},
                                               {"/", "m.c", "12", "\"a\""},
                                               {"/", "m.c", "12", "[], \"from\": 13"}};
    static const char *const unwanted[][4] = {{"/", "m.c", "5", "[\"secret\", \"a\"]"},
                                              {"/", "n.c", "12", "[\"a\"]"},
                                              {"/etc", "m.c", "12", "[\"a\"]"},
                                              {"/", "m.c", "2147483647", "[\"a\", \"b\"]"}};
    struct dh_hive_source *s;
    (void)state;
    for (size_t i = 0; i < DH_ARRAY_LEN(bad); i++) {
        assert_int_not_equal(read_text(bad[i], true, &s), 0);
        assert_int_not_equal(read_text(bad[i], false, &s), 0);
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(bad_parts); i++) {
        const char *const *x = bad_parts[i];
        assert_int_not_equal(read_text(part(x[0], x[1], x[2], x[3]), true, &s), 0);
        assert_int_not_equal(read_text(part(x[0], x[1], x[2], x[3]), false, &s), 0);
    }
    for (size_t i = 0; i < DH_ARRAY_LEN(unwanted); i++) {
        const char *const *x = unwanted[i];
        assert_int_not_equal(read_text(part(x[0], x[1], x[2], x[3]), true, &s), 0);
        assert_int_equal(read_text(part(x[0], x[1], x[2], x[3]), false, &s), 0);
        assert_int_equal(s->n, i == 0 ? 1 : 0);
        dh_hive_source_free(s);
    }
}

/* A snapshot of the state has them, too. */
static void assert_kept(const struct dh_hive_state *s, json_t *dump)
{
    struct dh_hive_state again;
    struct hive_bytes b = {0};
    dh_hive_state_init(&again);
    assert_int_equal(dh_hive_snapshot_write(s, hive_take, &b), 0);
    assert_int_equal(dh_hive_snapshot_read(&again, b.at, b.len), 0);
    json_t *same = dh_hive_dump(&again);
    assert_true(json_equal(dump, same));
    json_decref(same);
    dh_hive_state_done(&again);
    free(b.at);
}

static void in_the_log(void **state)
{
    const char *text = part("/", "m.c", "12", "[\"x++;\"]");
    struct dh_hive_state first, again;
    struct dh_hive_batch b = {.state = &first, .policy = &dh_hive_racemob, .now_us = 1700000000000000};
    const char *why = NULL;
    u8 *bytes;
    size_t len;
    (void)state;
    dh_hive_state_init(&first);
    dh_hive_state_init(&again);
    hive_table(3, 0, 0, true, &bytes, &len);
    assert_int_equal(dh_hive_add_source(&b, "aaaaaaaa", text, strlen(text), &why), DH_HIVE_NOT_FOUND);
    assert_int_equal(dh_hive_add_build(&b, "prog", "aaaaaaaa", NULL, bytes, len, &why), DH_HIVE_CREATED);
    assert_int_equal(dh_hive_add_source(&b, "aaaaaaaa", text, strlen(text), &why), DH_HIVE_CREATED);
    assert_int_equal(dh_hive_add_source(&b, "aaaaaaaa", text, strlen(text), &why), DH_HIVE_OK);
    assert_int_equal(dh_hive_add_source(&b, "aaaaaaaa", "{", 1, &why), DH_HIVE_UNPROCESSABLE);
    for (size_t i = 0; i < b.n_events; i++)
        assert_int_equal(dh_hive_apply(&again, &b.events[i]), 0);
    json_t *x = dh_hive_dump(&first), *y = dh_hive_dump(&again);
    assert_true(json_equal(x, y));
    assert_string_equal(dh_hive_source_find(again.builds[0].source, &again.builds[0].table->sites[0].at, 12),
                        "x++;");
    assert_kept(&first, x);
    json_decref(x);
    json_decref(y);
    assert_int_equal(dh_hive_forget(&b, NULL, NULL, "aaaaaaaa", NULL, &why), DH_HIVE_OK);
    assert_null(first.builds[0].source);
    free(bytes);
    dh_hive_batch_done(&b);
    dh_hive_state_done(&first);
    dh_hive_state_done(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wanted), cmocka_unit_test(found),
                                       cmocka_unit_test(refused), cmocka_unit_test(in_the_log)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
