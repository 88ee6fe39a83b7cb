/*
 * tap.h - diverts every event of the program from the fast engine: to the recorder (record.c) or the
 * laboratory (lab.c). Which, if any, is decided once at start.
 *
 * With a tap, the engine never runs: no thread ever has an access id, so no inlined check ever hits, and
 * every access comes to a slow path, which passes it on. All functions are called inside the runtime, by the
 * thread concerned, in program order: ACQUIRE after the lock was taken, RELEASE before it is released, FORK
 * before the new thread runs, JOIN after the END of the joined one, an atomic operation while its object is
 * locked.
 */
#ifndef DH_RUNTIME_SINK_TAP_H
#define DH_RUNTIME_SINK_TAP_H

#include "base/lock.h"
#include "event/event.h"
#include "runtime/abi/abi.h"
#include "runtime/threads/context.h"
#include "runtime/threads/uid.h"

struct dh_thread;

/* One access, or one check that covers many. */
struct dh_tap_access {
    uptr addr;
    size_t size;
    u32 piece;      /* of a loop's range: the size of one access; 0: it is one access */
    u32 kind;       /* enum dh_access, with DH_UNKEPT if it is only to be checked */
    const void *pc; /* NULL: the call on top of the shadow stack */
};

/* Thread numbers as used in events: from 0. */
DH_INLINE u32 dh_tap_thread(dh_uid_t uid)
{
    DH_ASSERT(!dh_uid_is_none(uid));
    return dh_uid_raw(uid) - 1;
}

struct dh_tap {
    void (*thread_start)(struct dh_thread *t);
    void (*thread_end)(struct dh_thread *t);
    void (*access)(struct dh_thread *t, const struct dh_tap_access *a);
    /* ACQUIRE, RELEASE (of a lock that t is known to hold), VOLATILE, NOTIFY, WAIT, FENCE. */
    void (*sync)(struct dh_thread *t, u32 op, u32 mode, uptr object);
    /* A lock that t is not known to hold. */
    void (*release_foreign)(struct dh_thread *t, uptr lock);
    /* ATOMIC_*. a->size 0: the order only, no access. */
    void (*atomic)(struct dh_thread *t, u32 op, u32 order, const struct dh_tap_access *a);
    void (*thread)(struct dh_thread *t, u32 op, dh_uid_t uid); /* FORK, JOIN */
    /* RANGE_NEW, RANGE_MOVE, RANGE_COPY. t may be NULL. Synchronisation objects move along if the language
     * runtime requests it (t->language). */
    void (*memory)(struct dh_thread *t, u32 op, uptr addr, size_t n, uptr from);
    /* The program got a block of n bytes; all up to the next multiple of 16 is new. t may be NULL. */
    void (*block)(struct dh_thread *t, uptr addr, size_t n);
    /* Synchronisation objects in [addr, addr + n) are gone. t may be NULL. */
    void (*forget)(struct dh_thread *t, uptr addr, size_t n);
    void (*carried)(struct dh_thread *t,
                    const struct dh_thread *by); /* t runs on the kernel thread of `by` */
    void (*named)(struct dh_thread *t);          /* t has been renamed */
    void (*folded)(dh_ctx_t ctx);                /* recursion was folded into it */
    void (*modules)(void);                       /* the list of loaded modules has changed */
    void (*finish)(void);                        /* the process ends */
    void (*fork_child)(struct dh_thread *self);
    void (*each_lock)(dh_lock_fn *fn);
};

/* NULL: the fast engine. Written once, before the first thread is attached. */
extern const struct dh_tap *dh_tap;
extern const struct dh_tap dh_tap_record, dh_tap_lab;

void dh_tap_init(void); /* by the options */
void dh_tap_take(struct dh_thread *t, uptr addr, u32 size, u32 kind,
                 const void *pc); /* from outside the runtime */

/* Selected by the options: each returns whether it is wanted, after initialising itself. */
bool dh_record_wanted(void);
bool dh_lab_wanted(void);
/* The name of the running detector, for the record. */
const char *dh_lab_detector(void);
const char *dh_lab_guarantee(void);

/* The program counter of an access by t; if pc is NULL, the call on top of its shadow stack, if any. t may be
 * NULL. */
const void *dh_tap_pc(const struct dh_thread *t, const void *pc);

#endif
