/*
 * region.h - which shadow exists.
 */
#ifndef DH_RUNTIME_REGION_H
#define DH_RUNTIME_REGION_H

#include "base/lock.h"
#include "runtime/runtime.h"

/* Shadow is mapped in pieces for this much application memory. */
#define DH_REGION_SHIFT 20
#define DH_REGION_SIZE ((uptr)1 << DH_REGION_SHIFT)

/* Lock-free: is there shadow for this address? */
bool dh_region_has(uptr addr);
/* May anything be recorded for [addr, addr + n), which lies in one region? False only if certainly not. */
bool dh_region_touched(uptr addr, size_t n);
/* A fault at addr: if it lies in a plane, map the shadow and return true. Async-signal-safe. */
bool dh_region_fault(uptr addr);
/* Call fn(ctx, lo, hi) for every run of mapped application memory. Pieces mapped meanwhile may be missed. */
void dh_region_each(void (*fn)(void *ctx, uptr lo, uptr hi), void *ctx);
/* Shadow for everything mapped at start: modules, heap, stack. */
void dh_region_init(void);
size_t dh_region_static_tls(void);
void dh_region_each_lock(dh_lock_fn *fn);

#endif
