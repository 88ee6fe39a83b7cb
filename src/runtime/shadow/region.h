/*
 * region.h - which shadow exists.
 */
#ifndef DH_RUNTIME_SHADOW_REGION_H
#define DH_RUNTIME_SHADOW_REGION_H

#include "base/lock.h"
#include "runtime/runtime.h"

/* Shadow is mapped in pieces for this much application memory. */
#define DH_REGION_SHIFT 20
#define DH_REGION_SIZE ((uptr)1 << DH_REGION_SHIFT)

/* Does addr lie in a part of the address space whose planes are free by design? */
bool dh_region_covers(uptr addr);
/* Lock-free: is there shadow for this address? In the write plane, that is; in plane n (dh_plane_nth). */
bool dh_region_has(uptr addr);
bool dh_region_has_plane(uptr addr, u32 plane);
/* May anything be recorded for [addr, addr + n), which lies in one region? False only if certainly not. */
bool dh_region_touched(uptr addr, size_t n);
/* As dh_region_map, but says why not: -EEXIST, something of the program's is where its shadow would be (then
 * it can be used all the same, unseen); -ENOMEM, no address space (then it cannot). */
int dh_region_try(const volatile void *p, size_t n);
/* Is plane n there for the piece of memory that addr is in, or can it be had? No: its place is taken. */
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
