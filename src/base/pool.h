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
void dh_pool_each_lock(dh_lock_fn *fn);

#endif
