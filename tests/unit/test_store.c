/*
 * test_store.c - src/store with SQLite: what is committed is there, what is rolled back is not, older schemas are
 * brought up to date, later ones refused. (tests/hive uses PostgreSQL.)
 */
#include "store/store.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/check.h"

static char dir[] = "/tmp/test_store.XXXXXX";
static char path[64], copy[64];

static struct dh_store *open_at(const char *where)
{
    struct dh_store *s;
    char *why = NULL;
    assert_int_equal(dh_store_open(where, true, &s, &why), 0);
    return s;
}

static struct dh_store *open_store(void)
{
    return open_at(path);
}

struct seen {
    u64 n;
    char text[400];
};

static int look(void *ctx, const struct dh_store_event *e)
{
    struct seen *x = ctx;
    size_t at = strlen(x->text);
    x->n++;
    snprintf(x->text + at, sizeof(x->text) - at, "%llu %s %s %.*s;", (unsigned long long)e->seq, e->kind,
             e->body, (int)e->data_len, e->data ? (const char *)e->data : "");
    return e->seq == 99 ? -ECANCELED : 0;
}

static void append(struct dh_store *s, u64 seq, const char *data)
{
    const struct dh_store_event e = {.seq = seq,
                                     .time_us = 1000 + seq,
                                     .kind = "word",
                                     .body = "{}",
                                     .data = data,
                                     .data_len = data ? strlen(data) : 0};
    assert_int_equal(dh_store_append(s, &e, 1), 0);
}

static void run_sql(const char *file, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_events(void **state)
{
    (void)state;
    struct dh_store *s = open_store();
    struct seen all = {0}, rest = {0};
    u64 last;
    assert_int_equal(dh_store_begin(s), 0);
    append(s, 1, NULL);
    append(s, 2, "bytes");
    assert_int_equal(dh_store_commit(s), 0);
    assert_int_equal(dh_store_begin(s), 0);
    append(s, 3, NULL);
    dh_store_rollback(s);
    dh_store_close(s);
    s = open_store();
    assert_int_equal(dh_store_read(s, 0, look, &all), 0);
    assert_string_equal(all.text, "1 word {} ;2 word {} bytes;");
    assert_int_equal(dh_store_read(s, 1, look, &rest), 0);
    assert_int_equal(rest.n, 1);
    assert_int_equal(dh_store_last(s, &last), 0);
    assert_int_equal(last, 2);
    assert_int_equal(dh_store_backup(s, copy), 0);
    assert_int_equal(dh_store_backup(s, copy), -EEXIST);
    dh_store_close(s);
}

/* Another process that never stops writing: by a connection of its own. */
struct writer {
    pthread_t thread;
    int writes; /* atomic */
    bool stop;  /* atomic */
};

static void *write_on(void *ctx)
{
    struct writer *w = ctx;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 30000);
    while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
        assert_int_equal(sqlite3_exec(db, "UPDATE written SET n = n + 1", NULL, NULL, NULL), SQLITE_OK);
        __atomic_fetch_add(&w->writes, 1, __ATOMIC_RELEASE);
    }
    sqlite3_close(db);
    return NULL;
}

/* A backup of a store that is written all the time ends, and has what was there when it began. */
static void test_backup_while_writing(void **state)
{
    (void)state;
    struct dh_store *s = open_store();
    struct writer w = {0};
    struct seen all = {0};
    char busy[100];
    run_sql(path,
            "CREATE TABLE written (n); INSERT INTO written VALUES (0);"
            "CREATE TABLE large AS WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i LIMIT 32)"
            " SELECT zeroblob(1000000) AS bytes FROM i");
    snprintf(busy, sizeof(busy), "%s/busy.db", dir);
    assert_int_equal(pthread_create(&w.thread, NULL, write_on, &w), 0);
    while (!__atomic_load_n(&w.writes, __ATOMIC_ACQUIRE))
        sched_yield();
    assert_int_equal(dh_store_backup(s, busy), 0);
    __atomic_store_n(&w.stop, true, __ATOMIC_RELEASE);
    pthread_join(w.thread, NULL);
    run_sql(path, "DROP TABLE written; DROP TABLE large");
    dh_store_close(s);
    s = open_at(busy);
    assert_int_equal(dh_store_read(s, 0, look, &all), 0);
    assert_int_equal(all.n, 2);
    dh_store_close(s);
}

/* A number that is taken is refused, and with it the whole transaction. */
static void test_numbers(void **state)
{
    (void)state;
    struct dh_store *s = open_store();
    const struct dh_store_event e = {.seq = 2, .kind = "again", .body = "{}"};
    u64 last;
    assert_int_equal(dh_store_begin(s), 0);
    append(s, 3, NULL);
    assert_true(dh_store_append(s, &e, 1) < 0);
    dh_store_rollback(s);
    assert_int_equal(dh_store_last(s, &last), 0);
    assert_int_equal(last, 2);
    dh_store_close(s);
}

struct parts {
    char text[20];
    u64 seq;
};

static int take_part(void *ctx, u64 seq, const void *data, size_t len)
{
    struct parts *p = ctx;
    strncat(p->text, data, len);
    p->seq = seq;
    return 0;
}

static void test_snapshot(void **state)
{
    (void)state;
    struct dh_store *s;
    char *why = NULL;
    struct parts none = {0}, all = {0};
    assert_int_equal(dh_store_open(path, false, &s, &why), 0);
    assert_int_equal(dh_store_read_snapshot(s, take_part, &none), 0);
    assert_string_equal(none.text, "");
    for (u64 seq = 1; seq <= 3; seq++) { /* each replaces the one before, the third is not committed */
        assert_int_equal(dh_store_begin(s), 0);
        assert_int_equal(dh_store_put_snapshot(s, 0, seq, "ab", 2), 0);
        assert_int_equal(dh_store_put_snapshot(s, 1, seq, seq == 2 ? "second" : "other", seq == 2 ? 6 : 5),
                         0);
        if (seq < 3)
            assert_int_equal(dh_store_commit(s), 0);
        else
            dh_store_rollback(s);
    }
    assert_int_equal(dh_store_read_snapshot(s, take_part, &all), 0);
    assert_string_equal(all.text, "absecond");
    assert_int_equal(all.seq, 2);
    dh_store_close(s);
}

static void test_versions(void **state)
{
    (void)state;
    struct dh_store *s;
    char *why = NULL;
    struct seen all = {0};
    run_sql(copy,
            "DELETE FROM deadheat_schema WHERE version > 1; DROP INDEX events_by_kind; DROP TABLE snapshots");
    assert_int_equal(dh_store_open(copy, false, &s, &why), 0); /* from version 1 */
    assert_int_equal(dh_store_read(s, 0, look, &all), 0);
    assert_int_equal(all.n, 2);
    dh_store_close(s);
    run_sql(copy, "DROP INDEX events_by_kind"); /* fails unless it was made */
    run_sql(copy, "INSERT INTO deadheat_schema VALUES (5)");
    assert_int_equal(dh_store_open(copy, false, &s, &why), -EPROTONOSUPPORT);
    assert_non_null(strstr(why, "later version"));
    free(why);
    assert_int_equal(dh_store_open("/nowhere/hive.db", false, &s, &why), -ENOENT);
    free(why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),   cmocka_unit_test(test_backup_while_writing),
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_versions),
    };
    char remove[100];
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof(path), "%s/a.db", dir);
    snprintf(copy, sizeof(copy), "%s/b.db", dir);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(remove, sizeof(remove), "rm -rf '%s'", dir);
    return system(remove) == 0 ? failed : 1;
}
