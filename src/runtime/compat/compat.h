/*
 * compat.h - shared by the files that implement other tools' interfaces (this directory).
 *
 * Each function there is a thin layer that translates the other tool's call to our own interfaces (runtime.h,
 * abi.h, lard.h). The names, their arguments and their meaning are those of ThreadSanitizer's and Valgrind's
 * public headers; docs/guide/compat.md lists them.
 */
#ifndef DH_RUNTIME_COMPAT_COMPAT_H
#define DH_RUNTIME_COMPAT_COMPAT_H

#include "base/lock.h"
#include "runtime/init.h"
#include "runtime/shadow/cell.h"
#include "runtime/sink/sink.h"
#include "runtime/threads/scope.h"

/* Weak: a program that defines functions of these names, as stubs for builds without a tool, keeps them.
 * Stubs that are weak themselves lose, since the runtime comes first in the link. */
#define DH_COMPAT DH_EXPORT __attribute__((weak))

/* Some module was compiled with -fsanitize=thread. */
extern bool dh_compat_modules;

/* The body of a function that works inside the runtime, as an interceptor does: `sc` is its scope. */
#define DH_COMPAT_ENTER(...)                               \
    DH_SCOPE(sc);                                          \
    if (!dh_scope_begin(&sc, __builtin_return_address(0))) \
    return __VA_ARGS__

/* The use of a lock of unknown size, for which its first byte stands. Recordings do not have it: they lack
 * the locks held at each access, so what an owner stores in its lock would be reported (engine.c). */
DH_INLINE void dh_compat_use(struct dh_thread *t, const volatile void *lock)
{
    if (!t->untracked && dh_opts.record_fd < 0)
        dh_sink_check(t, lock, 1);
}

/* ---- compat/benign.c ---- */

/* Races on [p, p + n) are not to be reported from now on. Inside the runtime. */
void dh_benign_add(const volatile void *p, size_t n);
/* They are again. */
void dh_benign_remove(const volatile void *p, size_t n);
/* Is a race on these bytes one of them? */
bool dh_benign_has(uptr addr, size_t n);
void dh_benign_each_lock(dh_lock_fn *fn);

/* ---- compat/options.c ---- */

/* The settings of the program itself in front of `own`, which may be NULL; `own` if there are none. */
const char *dh_compat_options(const char *own);
/* Its suppressions as a variable of the reporter's environment; NULL: none. */
char *dh_compat_suppressions(void);
#define DH_COMPAT_SUPPRESSIONS "DEADHEAT_PROGRAM_SUPPRESSIONS"

/* ---- compat/report.c: what the program has asked to be told ---- */

struct dh_access_now; /* engine.h */
/* A new race, as given to dh_report_race. */
void dh_compat_raced(const struct dh_access_now *a, dh_id_t id, uptr addr, u32 size);
/* The process ends; whether it counts as one that raced. */
bool dh_compat_ends(bool raced);

#endif
