/*
 * sqlite.c - the log in one file, by SQLite: with WAL, so that readers and the writer do not wait for each
 * other, and synchronous=FULL, so that a commit is on disk when it returns.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/backend.h"

enum { BUSY_MS = 30000, ALL = -1 };

static int fail(struct dh_store *s, sqlite3 *db)
{
    int code = sqlite3_errcode(db) & 0xff;
    return dh_store_set_error(s,
                              code == SQLITE_BUSY || code == SQLITE_LOCKED ? -EBUSY
                              : code == SQLITE_FULL                        ? -ENOSPC
                              : code == SQLITE_NOTADB                      ? -EBADMSG
                                                                           : -EIO,
                              "%s", sqlite3_errmsg(db));
}

static int run(struct dh_store *s, const char *sql)
{
    return sqlite3_exec(s->connection, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, s->connection);
}

static int open_file(struct dh_store *s, const char *where, bool create)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    if (!create && access(where, F_OK) != 0)
        return dh_store_set_error(s, -ENOENT, "there is no such file");
    int rc = sqlite3_open_v2(where, &db, flags, NULL);
    s->connection = db;
    if (rc != SQLITE_OK)
        return fail(s, db);
    sqlite3_busy_timeout(db, BUSY_MS);
    return run(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
}

static void close_file(struct dh_store *s)
{
    sqlite3_close_v2(s->connection);
}

static int begin(struct dh_store *s)
{
    return run(s, "BEGIN IMMEDIATE");
}

static int number(struct dh_store *s, const char *sql, u64 *ret)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(s->connection, sql, -1, &statement, NULL) != SQLITE_OK)
        return fail(s, s->connection);
    int step = sqlite3_step(statement), rc = 0;
    if (step == SQLITE_ROW)
        *ret = (u64)sqlite3_column_int64(statement, 0);
    else if (step == SQLITE_DONE)
        *ret = 0;
    else
        rc = fail(s, s->connection);
    sqlite3_finalize(statement);
    return rc;
}

static int read_events(struct dh_store *s, u64 after, int (*take)(void *ctx, const struct dh_store_event *e),
                       void *ctx)
{
    sqlite3_stmt *q;
    int step, rc = 0;
    if (sqlite3_prepare_v2(s->connection,
                           "SELECT seq, time_us, kind, body, data FROM events WHERE seq > ? ORDER BY seq", -1,
                           &q, NULL) != SQLITE_OK)
        return fail(s, s->connection);
    sqlite3_bind_int64(q, 1, (sqlite3_int64)after);
    while (!rc && (step = sqlite3_step(q)) == SQLITE_ROW) {
        struct dh_store_event e = {.seq = (u64)sqlite3_column_int64(q, 0),
                                   .time_us = (u64)sqlite3_column_int64(q, 1),
                                   .kind = (const char *)sqlite3_column_text(q, 2),
                                   .body = (const char *)sqlite3_column_text(q, 3),
                                   .data = sqlite3_column_blob(q, 4),
                                   .data_len = (size_t)sqlite3_column_bytes(q, 4)};
        rc = take(ctx, &e);
    }
    if (!rc && step != SQLITE_DONE)
        rc = fail(s, s->connection);
    sqlite3_finalize(q);
    return rc;
}

static int append(struct dh_store *s, const struct dh_store_event *events, size_t n)
{
    sqlite3_stmt *q;
    int rc = 0;
    if (sqlite3_prepare_v2(s->connection, "INSERT INTO events VALUES (?, ?, ?, ?, ?)", -1, &q, NULL) !=
        SQLITE_OK)
        return fail(s, s->connection);
    for (size_t i = 0; !rc && i < n; i++) {
        const struct dh_store_event *e = &events[i];
        sqlite3_bind_int64(q, 1, (sqlite3_int64)e->seq);
        sqlite3_bind_int64(q, 2, (sqlite3_int64)e->time_us);
        sqlite3_bind_text(q, 3, e->kind, -1, SQLITE_STATIC);
        sqlite3_bind_text(q, 4, e->body, -1, SQLITE_STATIC);
        if (e->data)
            sqlite3_bind_blob64(q, 5, e->data, e->data_len, SQLITE_STATIC);
        else
            sqlite3_bind_null(q, 5);
        if (sqlite3_step(q) != SQLITE_DONE)
            rc = fail(s, s->connection);
        sqlite3_reset(q);
    }
    sqlite3_finalize(q);
    return rc;
}

static int put_snapshot(struct dh_store *s, u64 part, u64 seq, const void *data, size_t len)
{
    sqlite3_stmt *q;
    if (sqlite3_prepare_v2(s->connection, "INSERT INTO snapshots VALUES (?, ?, ?)", -1, &q, NULL) !=
        SQLITE_OK)
        return fail(s, s->connection);
    sqlite3_bind_int64(q, 1, (sqlite3_int64)part);
    sqlite3_bind_int64(q, 2, (sqlite3_int64)seq);
    sqlite3_bind_blob64(q, 3, data, len, SQLITE_STATIC);
    int rc = sqlite3_step(q) == SQLITE_DONE ? 0 : fail(s, s->connection);
    sqlite3_finalize(q);
    return rc;
}

static int read_snapshot(struct dh_store *s, int (*take)(void *ctx, u64 seq, const void *data, size_t len),
                         void *ctx)
{
    sqlite3_stmt *q;
    int step, rc = 0;
    if (sqlite3_prepare_v2(s->connection, "SELECT seq, data FROM snapshots ORDER BY part", -1, &q, NULL) !=
        SQLITE_OK)
        return fail(s, s->connection);
    while (!rc && (step = sqlite3_step(q)) == SQLITE_ROW)
        rc = take(ctx, (u64)sqlite3_column_int64(q, 0), sqlite3_column_blob(q, 1),
                  (size_t)sqlite3_column_bytes(q, 1));
    if (!rc && step != SQLITE_DONE)
        rc = fail(s, s->connection);
    sqlite3_finalize(q);
    return rc;
}

/* All pages in one step, which is one transaction of a reader: with WAL, it does not keep writers waiting.
 * Between two steps any write would make the copy start again, and on a busy hive it would never end. */
static int copy_pages(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    int rc = b ? SQLITE_OK : SQLITE_ERROR;
    while (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED) {
        rc = sqlite3_backup_step(b, ALL);
        if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
            sqlite3_sleep(10);
    }
    if (b)
        sqlite3_backup_finish(b);
    return rc;
}

static int backup(struct dh_store *s, const char *path)
{
    sqlite3 *to = NULL;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return dh_store_set_error(s, -errno, "%s",
                                  errno == EEXIST ? "there is such a file already" : "it cannot be made");
    close(fd);
    int rc = 0;
    if (sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        copy_pages(s->connection, to) != SQLITE_DONE)
        rc = fail(s, to);
    if (sqlite3_close(to) != SQLITE_OK && !rc)
        rc = dh_store_set_error(s, -EIO, "the copy cannot be ended");
    if (rc)
        unlink(path);
    return rc;
}

const struct dh_store_backend dh_store_sqlite = {.open = open_file,
                                                 .close = close_file,
                                                 .run = run,
                                                 .begin = begin,
                                                 .number = number,
                                                 .read = read_events,
                                                 .append = append,
                                                 .put_snapshot = put_snapshot,
                                                 .read_snapshot = read_snapshot,
                                                 .backup = backup,
                                                 .bytes = "BLOB"};
