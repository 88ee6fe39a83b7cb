/*
 * store.h - an append-only log of events, on disk: in a SQLite file, or on a PostgreSQL server.
 *
 * The store treats events as bytes. There is one writer at a time: dh_store_begin waits until no other
 * process writes, and from then on the log grows only by dh_store_append. A committed event is durable: it
 * survives the end of the process, of the database server and of the machine. Numbers begin with 1 and have
 * no gaps.
 *
 * A store is used by one thread at a time. Functions return 0 or a negative errno; dh_store_error has the
 * message. docs/design/hive.md has the reasons.
 */
#ifndef DH_STORE_STORE_H
#define DH_STORE_STORE_H

#include "base/base.h"

/* The schema that this program writes. Older ones are upgraded when a store is opened. */
enum { DH_STORE_VERSION = 4 };

struct dh_store;

struct dh_store_event {
    u64 seq;
    u64 time_us;      /* since 1970 */
    const char *kind; /* a word */
    const char *body; /* JSON */
    const void *data; /* binary data that goes with it, or NULL */
    size_t data_len;
};

/* where: a path, or postgres://... or postgresql://...; create: create it if it does not exist. On failure
 * *ret_why is a message, from malloc. */
int dh_store_open(const char *where, bool create, struct dh_store **ret, char **ret_why);
void dh_store_close(struct dh_store *s);
/* The message of the last call that failed. */
const char *dh_store_error(const struct dh_store *s);
bool dh_store_is_remote(const char *where);

/* Take the write lock; release it and make everything appended durable, or discard it. */
int dh_store_begin(struct dh_store *s);
int dh_store_commit(struct dh_store *s);
void dh_store_rollback(struct dh_store *s);

/* Writes something that changes nothing, durably: does the store take anything? */
int dh_store_try(struct dh_store *s);

/* All events after this number, in order. take returns 0, or a value that stops the reading and is
 * returned. */
int dh_store_read(struct dh_store *s, u64 after, int (*take)(void *ctx, const struct dh_store_event *e),
                  void *ctx);
/* Between begin and commit. Event numbers must continue the log. */
int dh_store_append(struct dh_store *s, const struct dh_store_event *events, size_t n);
/* The number of the last committed event. */
int dh_store_last(struct dh_store *s, u64 *ret);

/* Besides the log there may be one snapshot: bytes, in parts, that stand for all events up to a number.
 * Called between begin and commit, with parts from 0 on; part 0 drops the previous snapshot. */
int dh_store_put_snapshot(struct dh_store *s, u64 part, u64 seq, const void *data, size_t len);
/* All parts in order; none if there is no snapshot. take is as above. */
int dh_store_read_snapshot(struct dh_store *s, int (*take)(void *ctx, u64 seq, const void *data, size_t len),
                           void *ctx);

/* Copies the present state while others read and write. -ENOTSUP for PostgreSQL: pg_dump does that. */
int dh_store_backup(struct dh_store *s, const char *path);

#endif
