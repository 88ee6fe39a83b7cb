/*
 * place.h - what the memory at a racing address is, for the race record.
 */
#ifndef DH_RUNTIME_REPORT_PLACE_H
#define DH_RUNTIME_REPORT_PLACE_H

#include "runtime/report/modules.h"
#include "runtime/runtime.h"

enum dh_place_kind { DH_PLACE_UNKNOWN, DH_PLACE_HEAP, DH_PLACE_STACK, DH_PLACE_TLS, DH_PLACE_GLOBAL };

/* The activation of a function that holds an address. */
struct dh_place_frame {
    uptr pc; /* return address in it; 0: not known */
    uptr sp, bp, cfa;
};

struct dh_place {
    enum dh_place_kind kind;
    struct dh_heap_block block;  /* heap */
    dh_uid_t uid;                /* stack, tls: whose */
    u64 from_top;                /* stack */
    struct dh_place_frame frame; /* stack */
    struct dh_module *module;    /* global; tls: whose variable, NULL if not known */
    u64 offset;                  /* in the module; tls: in its thread-local segment */
};

/* Makes the unwinder initialise itself now: it does so once, and a signal handler that finds a race might
 * interrupt that. */
void dh_place_init(void);

/* Called on the thread that found the race, under the report lock; self is its uid. */
void dh_place_find(uptr addr, dh_uid_t self, struct dh_place *ret);

/* Calls fn for the activations of the calling thread, innermost first, starting with the one that pc returns
 * to, until fn returns false. */
void dh_place_each_frame(uptr pc, bool (*fn)(void *ctx, const struct dh_place_frame *f), void *ctx);

/* blocked.c: the activation that holds an address on the stack of another thread, if that waits in an
 * interceptor; otherwise *ret is unchanged. Under the report lock. */
void dh_blocked_find(uptr addr, dh_uid_t uid, struct dh_place_frame *ret);

#endif
