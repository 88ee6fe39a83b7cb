/*
 * store.c - see store.h: choosing the backend, versions of the schema, and what both backends have in common.
 *
 * A schema is upgraded in one transaction under the write lock, so if two processes open an old store at the
 * same time, one upgrades it and the other finds it done.
 */
#include "store/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/backend.h"
#include "util/arena.h"

/* The steps from each version to the next. Never change one that has been released: add one. */
static const struct {
    const char *sql;
    bool bytes; /* the backend's type for bytes and a closing parenthesis follow */
} migrations[DH_STORE_VERSION] = {
    {"CREATE TABLE events (seq BIGINT PRIMARY KEY, time_us BIGINT NOT NULL, kind TEXT NOT NULL,"
     " body TEXT NOT NULL, data ",
     true},
    /* For people who look for events of one kind in the database's own shell. */
    {"CREATE INDEX events_by_kind ON events (kind, seq)", false},
    {"CREATE TABLE snapshots (part BIGINT PRIMARY KEY, seq BIGINT NOT NULL, data ", true},
    /* Of later events, the kind "build" has a member "carry", which earlier versions would take no notice of.
     */
    {"", false},
};

int dh_store_set_error(struct dh_store *s, int err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->error, sizeof(s->error), format, args);
    va_end(args);
    return err;
}

const char *dh_store_error(const struct dh_store *s)
{
    return s->error;
}

bool dh_store_is_remote(const char *where)
{
    return strncmp(where, "postgres://", 11) == 0 || strncmp(where, "postgresql://", 13) == 0;
}

/* Under the write lock: PostgreSQL does not let two processes create the same table at once. */
static int migrate(struct dh_store *s)
{
    u64 version = 0;
    int rc = s->backend->run(s, "CREATE TABLE IF NOT EXISTS deadheat_schema (version BIGINT PRIMARY KEY)");
    if (!rc)
        rc = s->backend->number(s, "SELECT COALESCE(MAX(version), 0) FROM deadheat_schema", &version);
    if (!rc && version > DH_STORE_VERSION)
        return dh_store_set_error(s, -EPROTONOSUPPORT,
                                  "it is of a later version of deadheat (schema %llu, and this one knows %d)",
                                  (unsigned long long)version, DH_STORE_VERSION);
    for (; !rc && version < DH_STORE_VERSION; version++) {
        char sql[512], note[100];
        snprintf(sql, sizeof(sql), "%s%s", migrations[version].sql,
                 migrations[version].bytes ? s->backend->bytes : "");
        snprintf(note, sizeof(note), "INSERT INTO deadheat_schema VALUES (%llu)",
                 (unsigned long long)version + 1);
        if (*sql)
            rc = s->backend->run(s, migrations[version].bytes ? strcat(sql, ")") : sql);
        if (!rc)
            rc = s->backend->run(s, note);
    }
    return rc;
}

static int prepare(struct dh_store *s)
{
    int rc = dh_store_begin(s);
    if (rc)
        return rc;
    rc = migrate(s);
    if (!rc)
        return dh_store_commit(s);
    dh_store_rollback(s);
    return rc;
}

int dh_store_open(const char *where, bool create, struct dh_store **ret, char **ret_why)
{
    struct dh_store *s = dh_util_alloc(sizeof(*s));
    *s = (struct dh_store){.backend = dh_store_is_remote(where) ? &dh_store_postgres : &dh_store_sqlite};
    int rc = s->backend->open(s, where, create);
    if (!rc)
        rc = prepare(s);
    if (!rc) {
        *ret = s;
        return 0;
    }
    *ret_why = strdup(s->error);
    if (!*ret_why)
        dh_util_no_memory();
    dh_store_close(s);
    return rc;
}

void dh_store_close(struct dh_store *s)
{
    if (!s)
        return;
    if (s->connection)
        s->backend->close(s);
    free(s);
}

int dh_store_begin(struct dh_store *s)
{
    DH_ASSERT(!s->writing);
    int rc = s->backend->begin(s);
    s->writing = !rc;
    return rc;
}

int dh_store_commit(struct dh_store *s)
{
    DH_ASSERT(s->writing);
    int rc = s->backend->run(s, "COMMIT");
    if (rc)
        dh_store_rollback(s);
    s->writing = false;
    return rc;
}

void dh_store_rollback(struct dh_store *s)
{
    char kept[sizeof(s->error)]; /* the reason for the rollback matters more than its success */
    if (!s->writing)
        return;
    memcpy(kept, s->error, sizeof(kept));
    s->backend->run(s, "ROLLBACK");
    memcpy(s->error, kept, sizeof(kept));
    s->writing = false;
}

/* To databases this is a row that was deleted and another that was inserted, so they do write. */
int dh_store_try(struct dh_store *s)
{
    char sql[120];
    int rc = dh_store_begin(s);
    if (rc)
        return rc;
    snprintf(sql, sizeof(sql), "DELETE FROM deadheat_schema WHERE version = %d", DH_STORE_VERSION);
    rc = s->backend->run(s, sql);
    snprintf(sql, sizeof(sql), "INSERT INTO deadheat_schema VALUES (%d)", DH_STORE_VERSION);
    if (!rc)
        rc = s->backend->run(s, sql);
    if (!rc)
        return dh_store_commit(s);
    dh_store_rollback(s);
    return rc;
}

int dh_store_read(struct dh_store *s, u64 after, int (*take)(void *ctx, const struct dh_store_event *e),
                  void *ctx)
{
    return s->backend->read(s, after, take, ctx);
}

int dh_store_append(struct dh_store *s, const struct dh_store_event *events, size_t n)
{
    DH_ASSERT(s->writing);
    return n ? s->backend->append(s, events, n) : 0;
}

int dh_store_last(struct dh_store *s, u64 *ret)
{
    return s->backend->number(s, "SELECT COALESCE(MAX(seq), 0) FROM events", ret);
}

int dh_store_put_snapshot(struct dh_store *s, u64 part, u64 seq, const void *data, size_t len)
{
    DH_ASSERT(s->writing);
    int rc = part ? 0 : s->backend->run(s, "DELETE FROM snapshots");
    return rc ? rc : s->backend->put_snapshot(s, part, seq, data, len);
}

int dh_store_read_snapshot(struct dh_store *s, int (*take)(void *ctx, u64 seq, const void *data, size_t len),
                           void *ctx)
{
    return s->backend->read_snapshot(s, take, ctx);
}

int dh_store_backup(struct dh_store *s, const char *path)
{
    return s->backend->backup(s, path);
}
