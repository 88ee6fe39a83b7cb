/*
 * test_hive_stacks.c - stacks of races as results have them, the symbols that name them, and that both outlive
 * a snapshot and a forgotten race does not keep its own.
 */
#include "hive_crowd.h"

#include "hive/snapshot.h"
#include "unit/check.h"

static bool reads(const char *text, struct dh_hive_stacks *ret)
{
    json_t *list = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(list);
    bool ok = dh_hive_stacks_read(list, ret);
    json_decref(list);
    return ok;
}

static void test_limits(void **unused)
{
    (void)unused;
    static const char *const bad[] = {
        "7",          "[]",          "[[1]]",         "[[1], [2], [3]]",        "[[1], {}]",
        "[[-1], []]", "[[1.5], []]", "[[\"1\"], []]", "[[], [140737488355328]]"};
    struct dh_hive_stacks x = {.build = 3};
    for (size_t i = 0; i < DH_ARRAY_LEN(bad); i++)
        assert_false(reads(bad[i], &x));
    assert_true(x.build == 3 && !x.n[0] && !x.n[1]);
    assert_true(reads("[[64, 0, 128], [140737488355327]]", &x));
    assert_true(x.n[0] == 3 && x.n[1] == 1 && x.frames[0][2] == 128 && x.frames[1][0] == (1ull << 47) - 1);
    json_t *list = json_pack("[[], []]");
    for (int i = 0; i < DH_HIVE_FRAMES; i++)
        json_array_append_new(json_array_get(list, 1), json_integer(i));
    assert_true(dh_hive_stacks_read(list, &x));
    json_array_append_new(json_array_get(list, 1), json_integer(1));
    assert_false(dh_hive_stacks_read(list, &x));
    json_decref(list);
}

static const char symbols[] =
    "{\"functions\": [[100, 50, \"f\"], [200, 10, \"g\"]], \"files\": [\"a.c\"],"
    " \"lines\": [[100, 0, 7], [120, 0, 8], [150, 0, 0], [200, 0, 20]]}";

static void test_names(void **unused)
{
    (void)unused;
    static const struct {
        u64 offset;
        const char *function;
        u32 line;
    } all[] = {{0, NULL, 0},  {100, NULL, 0}, {101, "f", 7},  {120, "f", 7}, {121, "f", 8},
               {150, "f", 8}, {151, NULL, 0}, {205, "g", 20}, {300, NULL, 0}};
    static const char *const bad[] = {
        "",
        "{}",
        "{\"functions\": [[1, 2]]}",
        "{\"functions\": [[9, 2, \"f\"], [8, 2, \"g\"]]}",
        "{\"functions\": [], \"lines\": [[1, 0, 1]]}",
        "{\"functions\": [], \"files\": [7]}",
        "{\"functions\": [], \"files\": [\"a\"], \"lines\": [[2, 0, 1], [1, 0, 1]]}",
    };
    struct dh_hive_symbols *s;
    const char *why = NULL;
    for (size_t i = 0; i < DH_ARRAY_LEN(bad); i++) {
        why = NULL;
        assert_int_not_equal(dh_hive_symbols_read(bad[i], strlen(bad[i]), &s, &why), 0);
        assert_non_null(why);
    }
    assert_int_equal(dh_hive_symbols_read(symbols, strlen(symbols), &s, &why), 0);
    for (size_t i = 0; i < DH_ARRAY_LEN(all); i++) {
        struct dh_hive_frame f = dh_hive_symbols_find(s, all[i].offset, true);
        assert_true((f.function && all[i].function) ? strcmp(f.function, all[i].function) == 0
                                                    : f.function == all[i].function);
        assert_int_equal(f.line, all[i].line);
    }
    assert_string_equal(dh_hive_symbols_find(s, 100, false).function, "f");
    assert_null(dh_hive_symbols_find(NULL, 101, true).function);
    dh_hive_symbols_free(s);
}

static void test_snapshot(void **unused)
{
    (void)unused;
    struct dh_hive_state s, again;
    struct dh_hive_batch b = {.state = &s, .policy = &dh_hive_racemob, .now_us = 1, .random = 7};
    struct hive_bytes bytes = {0};
    const char *why;
    char user[DH_HIVE_HASH + 1], id[33], unit[17];
    u8 *table;
    size_t len;
    u32 at;
    dh_hive_state_init(&s);
    dh_hive_state_init(&again);
    hive_table(1, 0, 0, false, &table, &len);
    assert_int_equal(dh_hive_add_build(&b, "prog", "aaaaaaaa", NULL, table, len, &why), DH_HIVE_CREATED);
    free(table);
    assert_int_equal(dh_hive_add_symbols(&b, "aaaaaaaa", symbols, strlen(symbols), &why), DH_HIVE_CREATED);
    assert_int_equal(dh_hive_add_symbols(&b, "aaaaaaaa", symbols, strlen(symbols), &why), DH_HIVE_OK);
    assert_int_equal(dh_hive_add_symbols(&b, "bbbbbbbb", symbols, strlen(symbols), &why), DH_HIVE_NOT_FOUND);
    assert_int_equal(dh_hive_add_symbols(&b, "aaaaaaaa", "{}", 2, &why), DH_HIVE_UNPROCESSABLE);
    hive_name(user, DH_HIVE_HASH, 1);
    assert_int_equal(dh_hive_poll(&b, 0, user, "aaaaaaaa", &at, &why), DH_HIVE_OK);
    u8 order = s.tasks[0].order;
    json_t *r = json_pack("{s:s, s:i, s:s, s:s, s:[[i], [i, i]]}", "id", hive_name(id, 32, 1), "task", 0,
                          "result", "timeout", "run", id, "stacks", 101, 205, 0);
    assert_int_equal(dh_hive_add_result(&b, 0, user, r, &why), DH_HIVE_BAD); /* of a race only */
    json_object_set_new(r, "result", json_string("race"));
    assert_int_equal(dh_hive_add_result(&b, 0, user, r, &why), DH_HIVE_CREATED);
    json_decref(r);
    assert_int_equal(dh_hive_snapshot_write(&s, hive_take, &bytes), 0);
    assert_int_equal(dh_hive_snapshot_read(&again, bytes.at, bytes.len), 0);
    const struct dh_hive_stacks *x = again.units[0].stacks[order];
    assert_non_null(x);
    assert_null(again.units[0].stacks[!order]);
    assert_true(x->n[0] == 1 && x->n[1] == 2 && x->frames[1][0] == 205);
    assert_string_equal(dh_hive_symbols_find(again.builds[x->build].symbols, x->frames[1][0], true).function,
                        "g");
    dh_hive_id_text(s.units[0].id, unit);
    assert_int_equal(dh_hive_forget(&b, "prog", unit, NULL, NULL, &why), DH_HIVE_OK);
    assert_null(s.units[0].stacks[order]);
    free(bytes.at);
    dh_hive_batch_done(&b);
    dh_hive_state_done(&s);
    dh_hive_state_done(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
