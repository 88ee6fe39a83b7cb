/*
 * sqlite_threads.c - several threads over one SQLite database, in the three ways SQLite offers.
 *
 * usage: sqlite_threads DIRECTORY ROUNDS
 *
 *   files   every thread has its own connection to a write-ahead-logged file
 *   shared  every thread has its own connection to one shared cache in memory
 *   serial  all threads use one connection, which serialises them
 *
 * Each thread adds rows of its own, reads sums over everybody's, and updates a common counter. What is
 * printed at the end does not depend on the schedule.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

#define THREADS 2
#define BATCH 20

struct worker {
    unsigned id;
    sqlite3 *own; /* this thread's connection, or NULL to use the common one */
};

static sqlite3 *common;
static unsigned rounds;

static void fail(sqlite3 *db, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

/* Instead of SQLite's own waiting, which sleeps: time asleep would hide what a detector costs. */
static int try_again(void *unused, int tries)
{
    (void)unused;
    (void)tries;
    sched_yield();
    return 1;
}

static sqlite3 *open_db(const char *uri)
{
    sqlite3 *db;

    if (sqlite3_open_v2(uri, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL))
        fail(db, uri);
    sqlite3_busy_handler(db, try_again, NULL);
    return db;
}

/*
 * Steps the statement to its end, and returns the first column of its last row. A connection to a shared
 * cache is told SQLITE_LOCKED at once, whatever its busy handler: those try again.
 */
static sqlite3_int64 run(sqlite3 *db, sqlite3_stmt *s)
{
    sqlite3_int64 got = 0;
    int rc;

    while ((rc = sqlite3_step(s)) != SQLITE_DONE) {
        if (rc == SQLITE_ROW) {
            got = sqlite3_column_int64(s, 0);
        } else if ((rc & 0xff) == SQLITE_LOCKED || (rc & 0xff) == SQLITE_BUSY) {
            sqlite3_reset(s);
            sched_yield();
        } else {
            fail(db, sqlite3_sql(s));
        }
    }
    sqlite3_reset(s);
    return got;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s;
    int rc;

    while ((rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL)) != SQLITE_OK) {
        if ((rc & 0xff) != SQLITE_LOCKED && (rc & 0xff) != SQLITE_BUSY)
            fail(db, sql);
        sched_yield();
    }
    return s;
}

static sqlite3_int64 once(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *s = prepare(db, sql);
    sqlite3_int64 got = run(db, s);

    sqlite3_finalize(s);
    return got;
}

static void *body(void *arg)
{
    struct worker *w = arg;
    sqlite3 *db = w->own ? w->own : common;
    sqlite3_stmt *begin = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
    sqlite3_stmt *insert =
        prepare(db, "INSERT INTO item(owner, value, body) VALUES(?1, ?2, hex(zeroblob(?2 % 300)))");
    sqlite3_stmt *count = prepare(db, "UPDATE counter SET n = n + 1");
    sqlite3_stmt *mine = prepare(db, "SELECT count(*) FROM item WHERE owner = ?1");
    sqlite3_stmt *all = prepare(db, "SELECT sum(value + length(body)) FROM item WHERE id > ?1");

    sqlite3_bind_int(mine, 1, (int)w->id);
    for (unsigned r = 0; r < rounds; r++) {
        /* On one common connection a transaction would be everybody's: each statement is its own there. */
        if (w->own)
            run(db, begin);
        for (unsigned i = 0; i < BATCH; i++) {
            sqlite3_bind_int(insert, 1, (int)w->id);
            sqlite3_bind_int(insert, 2, (int)(r * BATCH + i));
            run(db, insert);
        }
        run(db, count);
        if (w->own)
            run(db, commit);
        if (run(db, mine) != (sqlite3_int64)(r + 1) * BATCH)
            fail(db, "a thread does not see its own rows");
        sqlite3_bind_int(all, 1, (int)(r * BATCH));
        if (run(db, all) < 0)
            fail(db, "a sum is wrong");
    }
    sqlite3_finalize(begin);
    sqlite3_finalize(commit);
    sqlite3_finalize(insert);
    sqlite3_finalize(count);
    sqlite3_finalize(mine);
    sqlite3_finalize(all);
    return NULL;
}

static void scenario(const char *name, const char *uri, int separate)
{
    struct worker workers[THREADS];
    pthread_t tid[THREADS];

    common = open_db(uri);
    once(common, "PRAGMA journal_mode = WAL");
    once(common, "PRAGMA synchronous = OFF");
    once(common, "CREATE TABLE item(id INTEGER PRIMARY KEY, owner INT, value INT, body TEXT)");
    once(common, "CREATE INDEX by_owner ON item(owner)");
    once(common, "CREATE TABLE counter(n INT)");
    once(common, "INSERT INTO counter VALUES(0)");
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].id = i;
        workers[i].own = separate ? open_db(uri) : NULL;
        if (workers[i].own)
            once(workers[i].own, "PRAGMA synchronous = OFF");
    }
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&tid[i], NULL, body, &workers[i]))
            fail(common, "cannot create a thread");
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(tid[i], NULL);
        sqlite3_close(workers[i].own);
    }
    printf("%s: %lld rows, sum %lld, counter %lld\n", name, once(common, "SELECT count(*) FROM item"),
           once(common, "SELECT sum(value + length(body)) FROM item"), once(common, "SELECT n FROM counter"));
    sqlite3_close(common);
}

int main(int argc, char **argv)
{
    char uri[4096];

    if (argc != 3 || !(rounds = (unsigned)strtoul(argv[2], NULL, 10))) {
        fprintf(stderr, "usage: sqlite_threads DIRECTORY ROUNDS\n");
        return 2;
    }
    for (int i = 0; i < 3; i++) { /* what an earlier run has left */
        snprintf(uri, sizeof(uri), "%s/files.db%s", argv[1], i == 0 ? "" : i == 1 ? "-wal" : "-shm");
        remove(uri);
    }
    snprintf(uri, sizeof(uri), "file:%s/files.db", argv[1]);
    scenario("files", uri, 1);
    scenario("shared", "file:shared?mode=memory&cache=shared", 1);
    scenario("serial", "file:serial?mode=memory", 0);
    return 0;
}
