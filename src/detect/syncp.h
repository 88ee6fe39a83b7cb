/*
 * syncp.h - the search for sync-preserving races, which osr.c uses as its first step. See syncp.c.
 *
 * Variables are processed one after the other, each with its accesses in trace order: the state of one is
 * small and stays in the caches (syncp_search.c). A variable and all its copies (predict_lives.h) are one
 * family. Races are noted by their later access and reported when all are known, in the order of the trace.
 *
 * Accesses are identified by their position in the family.
 */
#ifndef DH_DETECT_SYNCP_H
#define DH_DETECT_SYNCP_H

#include "detect/predict_states.h"

/* The accesses to one object of one kind by one thread, in order: reads or writes, plain or atomic. Their
 * first says what they have in common. */
struct dh_syncp_class {
    u32 first, last;
    u32 next; /* class of the same object, both read or both written */
    u32 slot; /* in the index */
    u32 thread;
    u32 local; /* number of the last one in its thread */
    bool atomic;
};

/* A race, as two events. */
struct dh_syncp_race {
    u32 now, earlier;
};

/* The races of a trace, in its order, and bits: the accesses that may race but do not in this way. Once made,
 * it does not change: detectors that share the trace (predict.h) share this too. */
struct dh_syncp_found {
    struct dh_syncp_race *races;
    u32 n_races;
    u64 *open;
};

enum { DH_SYNCP_COMMON = 4 };

#define DH_SYNCP_ASK (DH_NONE - 1)

/* What was seen of an object. Class numbers are + 1; 0: none. */
struct dh_syncp_object {
    u32 reads, writes;           /* classes */
    u32 common[DH_SYNCP_COMMON]; /* locks that every access held, as far as there is room */
    u8 n_common;
    bool seen;
};

struct dh_syncp {
    const struct dh_predict *p;
    u32 *accesses; /* of the family, as events */
    u32 *merged;   /* room to put them in order */
    u32 *later;    /* the next access of the class of this access */
    u32 n, cap_accesses, cap_merged, cap_later;
    u32 root;
    struct dh_syncp_object *objects; /* of the family, */
    u32 n_objects, cap_objects;
    u32 *member; /* and where each object is among them; NULL: a trace without copies, whose families are of
                    one */
    struct dh_syncp_class *classes;
    u32 n_classes, cap_classes;
    u32 *
        index; /* classes, + 1, by what their accesses have in common; open addressing; 0: the slot is free */
    u32 cap_index;
    struct dh_states states;     /* by class of the earlier accesses and thread of the later ones */
    struct dh_syncp_race *races; /* noted */
    u32 n_races, cap_races;
    u32 *cut;     /* of a race that is being reported */
    u32 **closed; /* of each thread: a closed cut that all its later accesses need; NULL: the empty one */
    u64 *open;    /* bits: events that may race and have not been found to */
    const struct dh_syncp_found *found;
};

/* 0 or -ENOMEM. Freed with the detector. */
int dh_syncp_init(struct dh_syncp *s, const struct dh_predict *p);
/* The family of this object, if it is the first one of it, else none. False: no memory. */
bool dh_syncp_family(struct dh_syncp *s, u32 object);
/* Do several threads access the family? */
bool dh_syncp_shared(const struct dh_syncp *s);
/* Adds the access; returns its class. Call it for every access, in order, after dh_syncp_find. 0: no
 * memory. */
u32 dh_syncp_add(struct dh_syncp *s, u32 at);
/* An earlier access that races with this one; DH_NONE: none. */
u32 dh_syncp_find(struct dh_syncp *s, u32 at);
/* The earlier access that this one most likely races with, and that dh_syncp_find would then give; DH_NONE:
 * it cannot race; DH_SYNCP_ASK: neither is certain enough. Call it instead of dh_syncp_find. */
u32 dh_syncp_guess(struct dh_syncp *s, u32 at);
/* Notes a race between two accesses of the family. False: no memory. */
bool dh_syncp_note(struct dh_syncp *s, u32 earlier, u32 at);
/* Fills `found`, unless another detector has done so for this trace; nothing is noted afterwards. 0 or
 * -ENOMEM. */
int dh_syncp_search(struct dh_syncp *s);

DH_INLINE bool dh_syncp_is_open(const struct dh_syncp *s, u32 e)
{
    return s->open[e / 64] >> e % 64 & 1;
}

/* Is any access of the family? */
bool dh_syncp_any_open(const struct dh_syncp *s);
/* When all are noted: puts them in the order of the trace. False: no memory. */
bool dh_syncp_sort(struct dh_syncp *s);
/* Do all accesses to the object so far hold a lock that event e, an access to it or a copy of it, holds too?
 */
bool dh_syncp_guarded(const struct dh_syncp *s, u32 object, u32 e);
/* The object that an event of the family accesses. */
DH_INLINE u32 dh_syncp_object_of(const struct dh_syncp *s, u32 e)
{
    return s->member ? s->p->object[e] : s->root;
}

/* The accesses of a family are all over the trace: prefetch what is known about them some turns ahead. */
DH_INLINE void dh_syncp_soon(const struct dh_syncp *s, u32 at)
{
    enum { FAR = 16, NEAR = 8 };
    const struct dh_predict *p = s->p;
    if (at + FAR < s->n) {
        u32 e = s->accesses[at + FAR];
        __builtin_prefetch(&p->trace->events[e]);
        __builtin_prefetch(&p->local[e]);
    }
    if (at + NEAR < s->n)
        __builtin_prefetch(dh_predict_moment_of(p, s->accesses[at + NEAR]));
}

/* What was seen of an object of the family. */
struct dh_syncp_object *dh_syncp_object(const struct dh_syncp *s, u32 object);
/* The smallest closed cut that contains `cut`. False: event e of its thread cannot be kept out. */
bool dh_syncp_close(const struct dh_predict *p, u32 *cut, u32 e);
/* The smallest closed cut with all that the two accesses need, in s->cut. False: it contains the earlier one.
 */
bool dh_syncp_pair(struct dh_syncp *s, u32 earlier, u32 now);

#endif
