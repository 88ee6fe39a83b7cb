/*
 * syncp.h - the search for sync-preserving races, which osr.c uses as its first step. See syncp.c.
 */
#ifndef DH_DETECT_SYNCP_H
#define DH_DETECT_SYNCP_H

#include "detect/predict.h"

/* The accesses to one object of one kind by one thread, in order: reads or writes, plain or atomic. Their first event says
 * what they have in common. */
struct dh_syncp_class {
    u32 first, last;
    u32 next; /* class of the same object, both read or both written */
};

enum { DH_SYNCP_COMMON = 4 };

/* What was seen of an object. Class numbers are + 1; 0: none. */
struct dh_syncp_object {
    u32 reads, writes;           /* classes */
    u32 common[DH_SYNCP_COMMON]; /* locks that every access held, as far as there is room */
    u8 n_common;
    bool seen;
};

/* How far thread `thread` has got with a class: events up to `failed` are out for good. */
struct dh_syncp_state {
    u32 class; /* + 1; 0: the slot is free */
    u32 thread;
    u32 failed; /* DH_NONE: none yet */
    u32 *cut;
};

struct dh_syncp {
    const struct dh_predict *p;
    struct dh_syncp_object *objects; /* by number */
    struct dh_syncp_class *classes;
    u32 n_classes, cap_classes;
    u32 *index; /* classes, + 1, by what their accesses have in common; open addressing; 0: the slot is free */
    u32 cap_index;
    u32 *later; /* the next access of the class of this access */
    struct dh_syncp_state *states;
    u32 n_states, cap_states;
};

/* 0 or -ENOMEM. Freed with the detector. */
int dh_syncp_init(struct dh_syncp *s, const struct dh_predict *p);
/* Takes the access in; its class. To be called for every access, in order, after dh_syncp_find. 0: no
 * memory. */
u32 dh_syncp_add(struct dh_syncp *s, u32 e);
/* An earlier access that races with e, and the cut that shows it; DH_NONE: none. */
u32 dh_syncp_find(struct dh_syncp *s, u32 e, const u32 **ret_cut);
/* Do all accesses to the object so far hold a lock that e, an access to it or a copy of it, holds too? */
bool dh_syncp_guarded(const struct dh_syncp *s, u32 object, u32 e);
/* The smallest closed cut that contains `cut`. False: event e of its thread cannot be kept out. */
bool dh_syncp_close(const struct dh_predict *p, u32 *cut, u32 e);

#endif
