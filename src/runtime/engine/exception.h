/*
 * exception.h - races raised at their second access (on_race=exception). See exception.c.
 */
#ifndef DH_RUNTIME_ENGINE_EXCEPTION_H
#define DH_RUNTIME_ENGINE_EXCEPTION_H

#include "runtime/engine/engine.h"
#include "runtime/init.h"

DH_INLINE bool dh_exception_on(void)
{
    return DH_UNLIKELY(dh_opts.on_race == DH_ON_RACE_EXCEPTION);
}

/* Before recording access a, already identified: does it race? If so, do not record it now: that happens once
 * the handler lets it continue. Always false where races are not raised. */
bool dh_exception_check(const struct dh_access_now *a);
DH_INLINE bool dh_exception_before(const struct dh_access_now *a)
{
    return dh_exception_on() && dh_exception_check(a);
}

/* The same for an atomic operation (kind: enum dh_atomic_kind, for __dh_atomic_pre) and a call of free, which
 * are recorded separately, outside the runtime: raises the race itself. */
void dh_exception_before_atomic(const volatile void *p, u32 size, u32 order, u32 kind, const void *pc);
void dh_exception_before_free(void *p, const void *pc);

/* Is it no race after all, or was it reported when the access was first checked? */
bool dh_exception_reported(const struct dh_access_now *a, dh_id_t earlier);

/* Access a races with the earlier access `id` to [addr, addr + size): raise it when the thread leaves the
 * runtime. number: as in the report. */
void dh_exception_note(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size, u32 number);

/* The accesses noted since the thread entered the runtime have already taken place. */
void dh_exception_late(void);

/* Sets whether accesses from here on are in code that can be unwound. */
void dh_exception_unwinds(bool unwinds);

/* The thread has left the runtime and want_raise was seen: raise. May not return. Keeps errno. */
void dh_exception_deliver(struct dh_thread *t);

/* Calls routine(arg) such that the thread can be ended even if it cannot be unwound. */
void *dh_exception_base(void *(*routine)(void *), void *arg);

/* unwind.c: what would happen if the exception *object were thrown here; and if the thread were ended by
 * unwinding. */
enum dh_unwinding { DH_UNWIND_PASSES, DH_UNWIND_CAUGHT, DH_UNWIND_TERMINATES };
enum dh_unwinding dh_unwind_try(void *object);
enum dh_unwinding dh_unwind_try_exit(void);

#endif
