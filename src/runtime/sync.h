/*
 * sync.h - synchronisation objects: what an address has published to those who acquire it.
 */
#ifndef DH_RUNTIME_SYNC_H
#define DH_RUNTIME_SYNC_H

#include "runtime/thread.h"

/* One object. Everything under its shard's lock. */
struct dh_sync {
    uptr addr;
    struct dh_sync *next;
    struct dh_publish write; /* releases that every acquire sees */
    struct dh_publish read;  /* releases of read locks, which only write locks see */
};

struct dh_sync_shard;

/* The shard of an address, locked. While it is locked its version is odd, and a new one afterwards. */
struct dh_sync_shard *dh_sync_lock(uptr addr);
void dh_sync_unlock(struct dh_sync_shard *s);
/* The same by someone who changes nothing: the version stays. */
struct dh_sync_shard *dh_sync_lock_read(uptr addr);
void dh_sync_unlock_read(struct dh_sync_shard *s);
/* Without locking. As long as it is the same even number nothing in the shard has changed. */
u32 dh_sync_version(uptr addr);
/* Without locking: may the shard hold anything? False is certain only in the absence of concurrent creation.
 */
bool dh_sync_maybe(uptr addr);
/* In a locked shard. create: make it (NULL only without memory). */
struct dh_sync *dh_sync_find(struct dh_sync_shard *s, uptr addr, bool create);

void dh_sync_init(void);
void dh_sync_each_lock(dh_lock_fn *fn);

#endif
