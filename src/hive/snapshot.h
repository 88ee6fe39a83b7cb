/*
 * snapshot.h - a whole state as bytes, and back: so that a hive need not read its log from the beginning.
 *
 * A snapshot is only a cache. It is what the log yields up to a number, for the program that wrote it: one of
 * another format, or with a wrong checksum, is not used, and the log is read instead.
 */
#ifndef DH_HIVE_SNAPSHOT_H
#define DH_HIVE_SNAPSHOT_H

#include "hive/state.h"

/* Passes the bytes to take, a few megabytes at a time; it returns 0, or a value that stops the writing and is
 * returned. */
int dh_hive_snapshot_write(const struct dh_hive_state *s,
                           int (*take)(void *ctx, const void *bytes, size_t len), void *ctx);
/* Into a state that was just initialised. 0, or -EBADMSG: then the state must be discarded. */
int dh_hive_snapshot_read(struct dh_hive_state *s, const void *bytes, size_t len);

#endif
