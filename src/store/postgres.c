/*
 * postgres.c - the log in a PostgreSQL database, by libpq, for many hives over one crowd.
 *
 * The write lock is a transaction-level advisory lock: it is released with the transaction or the connection,
 * however these end, and does not affect readers. A lost connection is re-established by the next begin or
 * read, so that a hive survives a restart of the server.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend.h"
#include "util/arena.h"

#define LOCK_LOG "SELECT pg_advisory_xact_lock(6848116)" /* any number, the same for all */

static int fail(struct dh_store *s, PGconn *db, const PGresult *r)
{
    const char *text = r && *PQresultErrorMessage(r) ? PQresultErrorMessage(r) : PQerrorMessage(db);
    size_t len = strcspn(text, "\n");
    return dh_store_set_error(s, PQstatus(db) == CONNECTION_OK ? -EIO : -ENOTCONN, "%.*s", (int)len, text);
}

static int take_result(struct dh_store *s, PGresult *r)
{
    ExecStatusType status = PQresultStatus(r);
    int rc = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : fail(s, s->connection, r);
    PQclear(r);
    return rc;
}

static int run(struct dh_store *s, const char *sql)
{
    return take_result(s, PQexec(s->connection, sql));
}

/* Whatever the server's configuration, a commit is on disk when it returns. */
static int set_up(struct dh_store *s)
{
    return run(s, "SET synchronous_commit = on; SET client_min_messages = warning");
}

static int revive(struct dh_store *s)
{
    if (PQstatus(s->connection) == CONNECTION_OK)
        return 0;
    PQreset(s->connection);
    return PQstatus(s->connection) == CONNECTION_OK ? set_up(s) : fail(s, s->connection, NULL);
}

static int open_server(struct dh_store *s, const char *where, bool create)
{
    (void)create; /* whoever runs the server creates the database */
    PGconn *db = PQconnectdb(where);
    if (!db)
        dh_util_no_memory();
    s->connection = db;
    return PQstatus(db) == CONNECTION_OK ? set_up(s) : fail(s, db, NULL);
}

static void close_server(struct dh_store *s)
{
    PQfinish(s->connection);
}

static int begin(struct dh_store *s)
{
    int rc = revive(s);
    if (!rc && (rc = run(s, "BEGIN")) && revive(s) == 0) /* the connection was lost since it was last used */
        rc = run(s, "BEGIN");
    if (!rc)
        rc = run(s, LOCK_LOG);
    if (rc)
        PQclear(PQexec(s->connection, "ROLLBACK"));
    return rc;
}

static int number(struct dh_store *s, const char *sql, u64 *ret)
{
    int rc = revive(s);
    if (rc)
        return rc;
    PGresult *r = PQexec(s->connection, sql);
    if (PQresultStatus(r) == PGRES_TUPLES_OK) {
        *ret = PQntuples(r) ? strtoull(PQgetvalue(r, 0, 0), NULL, 10) : 0;
        PQclear(r);
        return 0;
    }
    return take_result(s, r);
}

static u64 number_at(const PGresult *r, int column)
{
    u64 wire;
    memcpy(&wire, PQgetvalue(r, 0, column), sizeof(wire));
    return be64toh(wire);
}

/* Row by row: a log may be larger than memory. */
static int read_rows(struct dh_store *s, const char *sql, const char *parameter,
                     int (*take)(void *ctx, const PGresult *row), void *ctx)
{
    PGresult *r;
    int rc = revive(s);
    if (rc)
        return rc;
    if (!PQsendQueryParams(s->connection, sql, parameter ? 1 : 0, NULL, &parameter, NULL, NULL, 1))
        return fail(s, s->connection, NULL);
    PQsetSingleRowMode(s->connection);
    while ((r = PQgetResult(s->connection))) {
        ExecStatusType status = PQresultStatus(r);
        if (status == PGRES_SINGLE_TUPLE && !rc)
            rc = take(ctx, r);
        else if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK && !rc)
            rc = fail(s, s->connection, r);
        PQclear(r);
    }
    return rc;
}

struct reading {
    int (*take)(void *ctx, const struct dh_store_event *e);
    int (*take_part)(void *ctx, u64 seq, const void *data, size_t len);
    void *ctx;
};

static int take_event(void *ctx, const PGresult *r)
{
    const struct reading *x = ctx;
    bool none = PQgetisnull(r, 0, 4);
    struct dh_store_event e = {.seq = number_at(r, 0),
                               .time_us = number_at(r, 1),
                               .kind = PQgetvalue(r, 0, 2),
                               .body = PQgetvalue(r, 0, 3),
                               .data = none ? NULL : PQgetvalue(r, 0, 4),
                               .data_len = none ? 0 : (size_t)PQgetlength(r, 0, 4)};
    return x->take(x->ctx, &e);
}

static int read_events(struct dh_store *s, u64 after, int (*take)(void *ctx, const struct dh_store_event *e),
                       void *ctx)
{
    struct reading x = {.take = take, .ctx = ctx};
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, after);
    return read_rows(s, "SELECT seq, time_us, kind, body, data FROM events WHERE seq > $1 ORDER BY seq", text,
                     take_event, &x);
}

static int take_part(void *ctx, const PGresult *r)
{
    const struct reading *x = ctx;
    return x->take_part(x->ctx, number_at(r, 0), PQgetvalue(r, 0, 1), (size_t)PQgetlength(r, 0, 1));
}

static int read_snapshot(struct dh_store *s, int (*take)(void *ctx, u64 seq, const void *data, size_t len),
                         void *ctx)
{
    struct reading x = {.take_part = take, .ctx = ctx};
    return read_rows(s, "SELECT seq, data FROM snapshots ORDER BY part", NULL, take_part, &x);
}

static int put_snapshot(struct dh_store *s, u64 part, u64 seq, const void *data, size_t len)
{
    u64 wire[] = {htobe64(part), htobe64(seq)};
    static const Oid types[] = {20, 20, 17}; /* bigint, bigint, bytea */
    static const int binary[] = {1, 1, 1};
    const char *values[] = {(const char *)&wire[0], (const char *)&wire[1], data};
    const int lengths[] = {sizeof(u64), sizeof(u64), (int)len};
    return take_result(s, PQexecParams(s->connection, "INSERT INTO snapshots VALUES ($1, $2, $3)", 3, types,
                                       values, lengths, binary, 0));
}

static int append_one(struct dh_store *s, const struct dh_store_event *e)
{
    u64 seq = htobe64(e->seq), time_us = htobe64(e->time_us);
    static const Oid types[] = {20, 20, 25, 25, 17}; /* bigint, bigint, text, text, bytea */
    static const int binary[] = {1, 1, 0, 0, 1};
    const char *values[] = {(const char *)&seq, (const char *)&time_us, e->kind, e->body, e->data};
    const int lengths[] = {sizeof(seq), sizeof(time_us), 0, 0, (int)e->data_len};
    if (!PQsendQueryParams(s->connection, "INSERT INTO events VALUES ($1, $2, $3, $4, $5)", 5, types, values,
                           lengths, binary, 0))
        return fail(s, s->connection, NULL);
    return 0;
}

/* In pipeline mode: one round trip for all of them. */
static int append(struct dh_store *s, const struct dh_store_event *events, size_t n)
{
    enum { AT_ONCE = 500 }; /* unread answers must fit into the sockets' buffers */
    int rc = 0;
    for (size_t done = 0; !rc && done < n;) {
        size_t end = n - done < AT_ONCE ? n : done + AT_ONCE;
        if (!PQenterPipelineMode(s->connection))
            return fail(s, s->connection, NULL);
        for (; !rc && done < end; done++)
            rc = append_one(s, &events[done]);
        if (!PQpipelineSync(s->connection) && !rc)
            rc = fail(s, s->connection, NULL);
        for (bool synced = false; !synced;) {
            PGresult *r = PQgetResult(s->connection);
            if (!r && PQstatus(s->connection) != CONNECTION_OK)
                synced = true;
            if (!r)
                continue; /* between two statements */
            ExecStatusType status = PQresultStatus(r);
            synced = status == PGRES_PIPELINE_SYNC;
            if (!synced && status != PGRES_COMMAND_OK && !rc)
                rc = fail(s, s->connection, r);
            PQclear(r);
        }
        if (!PQexitPipelineMode(s->connection) && !rc)
            rc = fail(s, s->connection, NULL);
    }
    return rc;
}

static int backup(struct dh_store *s, const char *path)
{
    (void)path;
    return dh_store_set_error(s, -ENOTSUP, "of a PostgreSQL database pg_dump makes a copy");
}

const struct dh_store_backend dh_store_postgres = {.open = open_server,
                                                   .close = close_server,
                                                   .run = run,
                                                   .begin = begin,
                                                   .number = number,
                                                   .read = read_events,
                                                   .append = append,
                                                   .put_snapshot = put_snapshot,
                                                   .read_snapshot = read_snapshot,
                                                   .backup = backup,
                                                   .bytes = "BYTEA"};
