/*
 * region.h - keeps track of which shadow is mapped.
 */
#ifndef DH_RUNTIME_SHADOW_REGION_H
#define DH_RUNTIME_SHADOW_REGION_H

#include "base/lock.h"
#include "runtime/runtime.h"

/* Shadow is mapped in pieces for this much application memory. */
#define DH_REGION_SHIFT 20
#define DH_REGION_SIZE ((uptr)1 << DH_REGION_SHIFT)

/* Is addr in a part of the address space where the layout keeps the planes free? */
bool dh_region_covers(uptr addr);
/* Is there shadow for this address: in the write plane; in plane n (dh_plane_nth)? Lock-free. */
bool dh_region_has(uptr addr);
bool dh_region_has_plane(uptr addr, u32 plane);
/* May anything be recorded for [addr, addr + n), which lies in one region? False only if certainly not. */
bool dh_region_touched(uptr addr, size_t n);
/* Like dh_region_map, but returns the reason for failure: -EEXIST, the program has something where the shadow
 * would be (the memory can still be used, unchecked); -ENOMEM, no address space (then it cannot). */
int dh_region_try(const volatile void *p, size_t n);
/* Map plane n for the piece of memory that addr is in, unless it is mapped. False: its place is taken. */
bool dh_region_get_plane(uptr addr, u32 plane);
/* A fault at addr: if it lies in a plane, map the shadow and return true. Async-signal-safe. */
bool dh_region_fault(uptr addr);
/* Call fn(ctx, lo, hi) for every run of mapped application memory. Pieces mapped meanwhile may be missed. */
void dh_region_each(void (*fn)(void *ctx, uptr lo, uptr hi), void *ctx);
/* Shadow for everything mapped at start: modules, heap, stack. */
void dh_region_init(void);
size_t dh_region_static_tls(void);
void dh_region_each_lock(dh_lock_fn *fn);

#endif
