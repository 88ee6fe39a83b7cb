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
/* No more than so many bytes from the kernel; 0, as at the start: as many as it gives. For commands that read
 * files of others: a kernel that promises more memory than there is ends them without a word. */
void dh_pool_limit(size_t bytes);
void dh_pool_each_lock(dh_lock_fn *fn);

#endif
