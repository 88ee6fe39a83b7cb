/*
 * test_hive_carry.c - what of earlier builds holds for a later one: only what was found out about the same code.
 */
#include "hive/view.h"
#include "unit/hive_log.h"

static const u32 LINES[2] = {10, 20};

/* A table with one pair, or one bundle of that pair and a third access, in functions with these hashes, and
 * with a lock held at the first access. */
static u8 *table_of(u64 first, u64 second, bool bundle, const char *lock, const char *thread, size_t *ret_len)
{
    struct dh_pairs *p = dh_pairs_new();
    u8 *table;
    dh_pairs_set_program(p, "prog", "test", "");
    const u32 a = hive_site_in(p, LINES[0], first), b = hive_site_in(p, LINES[1], second);
    const u32 c = hive_site_in(p, 30, 7);
    const struct dh_pairs_lock l = {.kind = DH_PAIRS_MUTEX, .name = lock};
    const struct dh_pairs_entry e = {.kind = DH_PAIRS_THREAD, .function = thread, .creator = "main"};
    const u32 held = dh_pairs_held(dh_pairs_add_lock(p, &l), false), entry = dh_pairs_add_entry(p, &e);
    const struct dh_pairs_pair pair = {
        .side = {{a, dh_pairs_add_list(p, &held, *lock ? 1 : 0), 0}, {b, 0, dh_pairs_add_list(p, &entry, 1)}},
        .alike = {0, bundle ? dh_pairs_add_list(p, &c, 1) : 0},
        .flags = DH_PAIRS_RELAY,
        .note = ""};
    dh_pairs_add_pair(p, &pair);
    dh_pairs_write(p, &table, ret_len);
    dh_pairs_free(p);
    return table;
}

static void add_code(const char *build, u64 first, u64 second, const char *lock, const char *thread)
{
    size_t len;
    u8 *table = table_of(first, second, false, lock, thread, &len);
    add_table("prog", build, table, len);
}

/* The unit of the pair in a build: the one that its only slot is of. */
static u32 unit_in(u32 build)
{
    assert_int_equal(state.builds[build].n_slots, 1);
    return state.builds[build].slots[0].unit;
}

static enum dh_hive_verdict verdict_in(u32 build)
{
    return dh_hive_judge(&state.units[unit_in(build)].tally).verdict;
}

static u32 poll_as(u64 user, const char *build)
{
    char name[DH_HIVE_HASH + 1];
    const char *why;
    u32 at;
    assert_int_equal(dh_hive_poll(&hive, 0, hive_name(name, DH_HIVE_HASH, user), build, &at, &why),
                     DH_HIVE_OK);
    keep_log();
    return state.users[at].task;
}

static void test_edited_in_place(void **unused)
{
    (void)unused;
    begin_empty();
    add_code("aaaaaaaa", 1, 2, "", "work");
    assert_int_equal(post(1, poll(1), "no-race", "none", 5), DH_HIVE_CREATED);
    assert_int_equal(verdict_in(0), DH_HIVE_LIKELY_FALSE);
    add_code("bbbbbbbb", 1, 2, "", "work");  /* nothing changed */
    add_code("cccccccc", 1, 3, "", "work");  /* the second function */
    add_code("dddddddd", 4, 2, "", "work");  /* the first */
    add_code("eeeeeeee", 2, 1, "", "work");  /* each has become what the other was */
    add_code("ffffffff", 1, 2, "m", "work"); /* a caller takes a lock */
    add_code("99999999", 1, 2, "", "rest");  /* another thread gets there */
    add_code("88888888", 1, 3, "", "work");  /* as in cccccccc */
    assert_int_equal(state.n_units, 6);
    assert_int_equal(unit_in(1), unit_in(0));
    assert_int_equal(unit_in(7), unit_in(2));
    for (u32 build = 2; build < 8; build++)
        assert_int_equal(verdict_in(build), DH_HIVE_UNKNOWN);
    end();
}

/* Agents look a task up in the table of their build, which knows nothing of versions. Each build's results
 * count for its own. */
static void test_versions_are_apart(void **unused)
{
    (void)unused;
    char id[17];
    const char *why;
    begin_empty();
    add_code("aaaaaaaa", 1, 2, "", "work");
    add_code("bbbbbbbb", 1, 3, "", "work");
    const u64 pair = state.builds[0].table->pairs[0].id;
    u32 old = poll_as(1, "aaaaaaaa"), new = poll_as(2, "bbbbbbbb");
    assert_int_equal(state.units[unit_in(0)].id, pair);
    assert_true(state.units[unit_in(1)].id != pair);
    for (u32 user = 0; user < 2; user++) {
        json_t *task = dh_hive_view_task(&state, user);
        assert_string_equal(json_string_value(json_object_get(task, "unit")), dh_hive_id_text(pair, id));
        json_decref(task);
    }
    assert_int_equal(post(1, old, "no-race", "none", 5), DH_HIVE_CREATED);
    assert_int_equal(post(2, new, "race", "none", 5), DH_HIVE_CREATED);
    assert_int_equal(verdict_in(0), DH_HIVE_LIKELY_FALSE);
    assert_int_equal(verdict_in(1), DH_HIVE_TRUE_RACE);
    assert_int_equal(
        dh_hive_forget(&hive, "prog", dh_hive_id_text(state.units[unit_in(1)].id, id), NULL, NULL, &why),
        DH_HIVE_OK);
    assert_int_equal(verdict_in(0), DH_HIVE_LIKELY_FALSE);
    assert_int_equal(verdict_in(1), DH_HIVE_UNKNOWN);
    end();
}

/* A table that does not know the code of one function: only the same build has the same. */
static void test_unknown_code(void **unused)
{
    (void)unused;
    const char *why;
    begin_empty();
    add_code("aaaaaaaa", 1, 0, "", "work");
    assert_int_equal(post(1, poll(1), "race", "none", 5), DH_HIVE_CREATED);
    add_code("bbbbbbbb", 1, 0, "", "work");
    assert_int_equal(verdict_in(1), DH_HIVE_UNKNOWN);
    assert_int_equal(dh_hive_forget(&hive, NULL, NULL, "aaaaaaaa", NULL, &why), DH_HIVE_OK);
    add_code("aaaaaaaa", 1, 0, "", "work");
    assert_int_equal(unit_in(2), unit_in(0));
    assert_int_equal(verdict_in(2), DH_HIVE_TRUE_RACE);
    end();
}

/* As an earlier version of deadheat has written it. */
static void add_by_place(const char *build, u64 code)
{
    size_t len;
    char body[100];
    u8 *table = table_of(code, code, false, "", "work", &len);
    snprintf(body, sizeof(body), "{\"program\":\"prog\",\"build\":\"%s\",\"style\":\"relay\"}", build);
    const struct dh_store_event e = {.seq = state.seq + 1,
                                     .time_us = hive.now_us,
                                     .kind = "build",
                                     .body = body,
                                     .data = table,
                                     .data_len = len};
    assert_int_equal(dh_hive_apply(&state, &e), 0);
    hive.events = dh_util_grow(hive.events, hive.n_events, &hive.cap_events, sizeof(*hive.events));
    hive.events[hive.n_events++] = e;
    keep_log();
    free(table);
}

/* What an earlier version has decided stays so; what is added now is not carried over from it. */
static void test_log_of_an_earlier_version(void **unused)
{
    (void)unused;
    const char *why;
    begin_empty();
    assert_int_equal(dh_hive_add_program(&hive, "prog", &why), DH_HIVE_CREATED);
    keep_log();
    add_by_place("aaaaaaaa", 0);
    assert_int_equal(post(1, poll(1), "race", "none", 5), DH_HIVE_CREATED);
    add_by_place("bbbbbbbb", 0);
    assert_int_equal(verdict_in(1), DH_HIVE_TRUE_RACE);
    add_code("cccccccc", 1, 2, "", "work");
    assert_int_equal(verdict_in(2), DH_HIVE_UNKNOWN);
    end();
}

static void meet(u32 task, const struct dh_pairs *t, u64 user)
{
    char name[DH_HIVE_HASH + 1], id[33], sites[2][17];
    const char *why = NULL;
    hive_name(id, 32, ++serial);
    json_t *r =
        json_pack("{s:s, s:I, s:s, s:s, s:[{s:[s,s], s:s}]}", "id", id, "task", (json_int_t)task, "result",
                  "inference", "run", id, "pairs", "sites", dh_hive_id_text(t->sites[0].id, sites[0]),
                  dh_hive_id_text(t->sites[1].id, sites[1]), "saw", "met");
    assert_int_equal(dh_hive_add_result(&hive, 0, hive_name(name, DH_HIVE_HASH, user), r, &why),
                     DH_HIVE_CREATED);
    json_decref(r);
    keep_log();
}

static void add_bundle(const char *build, u64 first)
{
    size_t len;
    u8 *table = table_of(first, 2, true, "", "work", &len);
    add_table("prog", build, table, len);
}

/* A pair that was found in a bundle is carried over like any other. */
static void test_found_in_a_bundle(void **unused)
{
    (void)unused;
    begin_empty();
    add_bundle("aaaaaaaa", 1);
    meet(poll(1), state.builds[0].table, 1);
    u32 met = dh_hive_find_unit(
        &state, 0, dh_pairs_id_of(state.builds[0].table->sites[0].id, state.builds[0].table->sites[1].id));
    assert_int_not_equal(met, DH_HIVE_NONE);
    add_bundle("bbbbbbbb", 1);
    assert_int_not_equal(dh_hive_find_slot(&state, 1, met), DH_HIVE_NONE);
    add_bundle("cccccccc", 3);
    assert_int_equal(dh_hive_find_slot(&state, 2, met), DH_HIVE_NONE);
    size_t units = state.n_units;
    u32 task = poll_as(2, "cccccccc");
    assert_true(state.units[state.tasks[task].unit].bundle);
    meet(task, state.builds[2].table, 2);
    assert_int_equal(state.n_units, units + 1); /* a version of its own */
    assert_int_equal(state.units[met].tally.seen[DH_HIVE_MET], 1);
    assert_int_equal(state.units[units].parent, state.tasks[task].unit);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edited_in_place),   cmocka_unit_test(test_versions_are_apart),
        cmocka_unit_test(test_unknown_code),      cmocka_unit_test(test_log_of_an_earlier_version),
        cmocka_unit_test(test_found_in_a_bundle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
