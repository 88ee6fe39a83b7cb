/*
 * pool.h - the runtime's own memory: power-of-two size classes over mmap, never the host's malloc.
 *
 * Memory comes zeroed. NULL when the kernel gives none; the caller degrades (dh_runtime_degrade).
 */
#ifndef DH_BASE_POOL_H
#define DH_BASE_POOL_H

#include "base/lock.h"

void *dh_pool_alloc(size_t n);
void dh_pool_free(void *p, size_t n); /* n as given to alloc; p may be NULL */
size_t dh_pool_bytes(void);           /* taken from the kernel so far */
/* Take at most this many bytes from the kernel; 0, the default: no limit. For commands that read untrusted
 * files: with overcommit, the kernel would kill them silently when memory runs out. */
void dh_pool_limit(size_t bytes);
void dh_pool_each_lock(dh_lock_fn *fn);

#endif
