/*
 * sync.h - synchronisation objects: what has been published at an address for those who acquire it.
 */
#ifndef DH_RUNTIME_THREADS_SYNC_H
#define DH_RUNTIME_THREADS_SYNC_H

#include "runtime/threads/thread.h"

/*
 * One object, one cache line. It is never freed, only reused for another address, so a thread with a pointer
 * to it may read and lock it at any time; addr then tells whether it is still the same.
 */
struct dh_sync {
    uptr addr;            /* 0: none. Changed under this lock and its shard's. */
    struct dh_sync *next; /* under the shard's lock; read without */
    struct dh_lock lock;
    u32 kept;    /* something other than an atomic operation, such as an annotation, has published here: no
                  * store ends that. 0 or 1; changed under the lock, read without */
    u32 version; /* odd while what it publishes changes; only ever increases */
    struct dh_publish write; /* releases that every acquire sees; under the lock */
    struct dh_publish read;  /* releases of read locks, which only write locks see; under the lock */
};

#ifndef DH_CHECKED /* its locks are larger */
_Static_assert(sizeof(struct dh_sync) == 64, "one cache line");
#endif

struct dh_sync_shard;

/* The object of an address, without locking. If none is found, *ret_sure tells whether there certainly was
 * none before the call. */
struct dh_sync *dh_sync_find(uptr addr, bool *ret_sure);
/* An object that was found absent stays absent as long as this is the same even number. The pointer is valid
 * forever. */
const u32 *dh_sync_chains(uptr addr);
/* The object of an address, locked. create: create it if necessary (NULL: no memory). o: where it was last
 * found, or NULL. */
struct dh_sync *dh_sync_take(struct dh_sync *o, uptr addr, bool create);
/* Lock the shard of an address without an object, so that none is created. NULL: it has one. */
struct dh_sync_shard *dh_sync_take_absent(uptr addr);
void dh_sync_drop_absent(struct dh_sync_shard *s);

DH_INLINE void dh_sync_drop(struct dh_sync *o)
{
    dh_lock_drop(&o->lock);
}

/* Bracket a change of a locked object. While its version is the same even number, nothing has changed. */
DH_INLINE void dh_sync_change(struct dh_sync *o)
{
    DH_ASSERT(dh_lock_is_mine(&o->lock) && !(o->version & 1));
    __atomic_store_n(&o->version, o->version + 1, __ATOMIC_SEQ_CST);
}

DH_INLINE void dh_sync_changed(struct dh_sync *o)
{
    DH_ASSERT(dh_lock_is_mine(&o->lock) && (o->version & 1));
    __atomic_store_n(&o->version, o->version + 1, __ATOMIC_RELEASE);
}

DH_INLINE u32 dh_sync_version(const struct dh_sync *o)
{
    return __atomic_load_n(&o->version, __ATOMIC_ACQUIRE);
}

/* From now on stores to addr do not end what is published there. */
void dh_sync_keep(uptr addr);
/* What the objects in [addr, addr + n) have published is forgotten. */
void dh_sync_forget(const volatile void *addr, size_t n);
/* False: there is no object in [lo, lo + n). */
bool dh_sync_maybe(uptr lo, size_t n);
/* Move the objects in [src, src + n) to [dst, dst + n); those that were there are forgotten. */
void dh_sync_move(const volatile void *dst, const volatile void *src, size_t n);

void dh_sync_init(void);
void dh_sync_each_lock(dh_lock_fn *fn);

#endif
