/*
 * race.h - from accesses to pairs: what race.c, guard.c and emit.c share.
 *
 * A GUARD is what holds at an access in one of the states in which its instance is entered. Accesses that
 * touch the same memory (cover.h) and have the same type, kind, root and guards form a CLASS: classes are
 * compared, and only when two may race do their sites become pairs.
 */
#ifndef DH_IR_WHOLE_RACE_H
#define DH_IR_WHOLE_RACE_H

#include "ir/whole/team.h"

/* A lock that is determined by the address of the access. */
struct dh_w_rank {
    LLVMValueRef data, lock;        /* global variables; NULL: both are in one object, from its begin ... */
    u32 data_content, lock_content; /* ... or what they hold, see struct dh_w_address */
    int64_t data_off, lock_off;
    u32 data_stride, lock_stride; /* 0: the index is a constant */
    u32 length;                   /* of the access */
    u32 in_element;               /* not 0: from the begin of an element, whichever (begin.c) */
};
struct dh_w_delta {
    int64_t distance; /* between what is accessed and the lock, if it is constant */
    u32 flags;        /* DH_W_DELTA_... */
    u32 lock;         /* the held lock */
    struct dh_w_rank rank;
};
enum {
    DH_W_DELTA_SHARED = 1,
    DH_W_DELTA_INDEXED = 2,
    DH_W_DELTA_LOADED = 4,  /* through loads: for relay only */
    DH_W_DELTA_LONG = 8,    /* the access is longer than the lock: for relay only */
    DH_W_DELTA_RANKED = 16, /* `rank` counts, not the distance */
    DH_W_DELTA_POINTER = 32 /* at the distance is a pointer, and the lock at rank.lock_off behind it */
};

struct dh_w_guard {
    struct dh_w_state state;
    u32 deltas; /* pool of arrays of struct dh_w_delta */
};

/* Marks of an access for what may be assumed beyond the papers. */
enum {
    DH_W_MARK_FRESH = 2, /* to memory that this function has allocated and not yet published */
    DH_W_MARK_SPINS = 4,
    DH_W_MARK_STRANGE = 8 /* to memory that this thread does not own, if it is handed over at all */
};

struct dh_w_class {
    u32 type;   /* by the rules of the language (alias.c) */
    u32 member; /* according to the source (member.c) */
    u32 cover,
        own_cover; /* what it touches: shared with other roots, with other threads of its root (cover.h) */
    u32 guards;    /* pool of arrays of struct dh_w_guard */
    u32 element;   /* of an array whose elements a team of threads is given (team.h); 0: none */
    u32 region;    /* what is known of the cell that it hangs from (region.h); 0: nothing */
    u32 own;       /* not 0: the address is the thread's own argument, or an element by an index made of it */
    u8 access, root, marks;
    bool relaxed; /* it races with atomic accesses too */
};

/* Two sites that may race, as found so far. */
struct dh_w_found {
    u32 site[2];
    u32 flags, reasons;
    u32 unless[DH_W_STYLES]; /* DH_PAIRS_IF_... that would not drop one of its ways to happen */
    u32 locks[2];
    u64 roots[2];
    u32 object, offset;
    /* Not NULL: all sites of each side, ascending, site[] the first. Each of one side may race with each of
     * the other (bundle.c). */
    const u32 *alike[2];
    u32 n_alike[2];
};

struct dh_w_races {
    struct dh_w *w;
    struct dh_w_flow *flow;
    struct dh_w_teams *teams;
    struct dh_w_pool deltas, guards;
    struct dh_w_table found_of; /* by sites */
    u64 apart;                  /* comparisons that types decided */
    struct dh_w_found *found;
    size_t n_found, cap_found;
    struct dh_w_bundles *bundles; /* not NULL: what is found are these (bundle.h) */
    u32 entry[DH_W_MAX_ROOTS];    /* in the result */
    const void **object_types;    /* of blocks of the heap, for their names; NULL: unknown */
    u32 *sharer_entry;
    struct dh_w_table entries_of; /* by mask of roots: a list of entries in the result */
    struct dh_w_owner *owner;     /* owner.h */
    struct dh_w_regions *regions; /* region.h; NULL: nothing is asked for */
    struct dh_w_publish *publish; /* publish.c; NULL: nothing is asked for */
    struct dh_w_only { /* by instance: its only call; caller is DH_W_NONE: there is none, or there are several
                        */
        u32 caller, op;
    } *only;
    struct dh_w_table renewed; /* by spot: locks made while other threads run; they exclude nobody for sure */
};

void dh_w_escape(struct dh_w *w);
/* begin.c: how far the base of an address of the instance is from the begin of its object; false: it is not
 * known. */
bool dh_w_begin(struct dh_w_races *r, u32 inst, const struct dh_w_address *a, int64_t *ret_off);
/* begin.c: whether the bases of two addresses are in one object, which there is one of, or are equal. */
bool dh_w_in_one_object(const struct dh_w *w, u32 inst, const struct dh_w_address *a,
                        const struct dh_w_address *b);
/* begin.c: the object of a global variable; DH_PTS_NONE: it has none, or one for each thread. */
dh_pts_object dh_w_object_of(const struct dh_w *w, LLVMValueRef global);
/* begin.c: whether two addresses are at one index each of two arrays in one element, of an array of
 * structures, that has the first array for itself. Their offsets become those in the first element. */
bool dh_w_in_element(const struct dh_w *w, u32 inst, struct dh_w_address *a, struct dh_w_address *b);
/* region.c, region_guard.c: what the address of an access tells of the cell that the node hangs from, and its
 * lock; and whether two accesses to one object are therefore none to one node at one time. */
void dh_w_regions_find(struct dh_w_races *r);
void dh_w_regions_done(struct dh_w_races *r);
u32 dh_w_region_guard(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer);
bool dh_w_region_excludes(const struct dh_w_races *r, u32 object, u32 a, u32 b);
/* guard.c */
/* The rank of a lock relative to the access. false: there is none. */
bool dh_w_rank_of(const struct dh_w_address *access, const struct dh_w_address *lock, u32 length,
                  struct dh_w_rank *ret);
/* Whether equal addresses of the accesses mean equal locks. */
bool dh_w_same_rank(const struct dh_w_rank *x, const struct dh_w_rank *y);
void dh_w_guards_find_renewed(struct dh_w_races *r);
u32 dh_w_guards(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer);
struct dh_w_verdict {
    u32 flags, reasons, unless[DH_W_STYLES];
    u32 locks[2]; /* held on each side, where it may race */
};
/* DH_PAIRS_IF_OWNED is said as if the object were handed over. */
struct dh_w_verdict dh_w_judge(struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b);
/* mark.c */
void dh_w_only_calls_find(struct dh_w_races *r);
u8 dh_w_marks(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer);
/* For accesses by the thread's own argument: equal for those that no two threads make to one place. Else 0.
 */
u32 dh_w_own(const struct dh_w *w, u32 inst, dh_w_value pointer);
/* ticket.c: the number (team.h) of an element whose index no other thread has, since a counter has given it
 * out; or 0. */
u32 dh_w_ticket(struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer);
/* take.c: the locks held at an op, whenever other threads run, as a style has it: a set. */
u32 dh_w_held_at(struct dh_w_races *r, u32 inst, u32 op, int style);
/* owner.c: which objects are handed from thread to thread (owner.h) */
void dh_w_owner_find(struct dh_w_races *r);
void dh_w_owner_done(struct dh_w_races *r);
bool dh_w_owner_handed(const struct dh_w_races *r, u32 object);
/* Whether an access is made by a thread that does not own the target of the pointer. */
bool dh_w_owner_strange(const struct dh_w_races *r, u32 inst, u32 op, dh_w_value pointer);
/* Two classes may race at two places of an object, and so become the pair `found`. */
struct dh_w_place {
    u32 object;
    dh_pts_location at[2];
    u32 length[2];
};
void dh_w_owner_raced(struct dh_w_races *r, const struct dh_w_place *place, const struct dh_w_class *a,
                      const struct dh_w_class *b, const struct dh_w_verdict *v);
void dh_w_owner_found(struct dh_w_races *r, u32 object, u32 found);
/* To be called when all pairs are found: determines those that the assumption drops. */
void dh_w_owner_settle(struct dh_w_races *r);
/* publish.c: two classes that may race in an object, one of them before it has shown it to others. */
struct dh_w_postponed {
    u32 met;
    u32 object, places;
    const struct dh_w_place *place; /* all of them */
};
void dh_w_publish_find(struct dh_w_races *r);
void dh_w_publish_done(struct dh_w_races *r);
/* Whether it is postponed. */
bool dh_w_publish_postpone(struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b,
                           const struct dh_w_postponed *way);
/* There is a pair at a place. */
void dh_w_publish_raced(struct dh_w_races *r, const struct dh_w_place *place);
/* To be called when all pairs but the postponed ones are found: emits those that remain, which may lead to
 * more. */
void dh_w_publish_settle(struct dh_w_races *r, void (*name)(void *, const struct dh_w_postponed *),
                         void *arg);
/* race.c */
void dh_w_races_find(struct dh_w_races *r);
/* safe.c: the accesses that cannot race. r: NULL if there is only one thread */
struct dh_whole_safe;
void dh_w_safe_tell(struct dh_w *w, struct dh_w_races *r, struct dh_whole_safe *to);
/* emit.c */
struct dh_whole_sites;
void dh_w_emit(struct dh_w_races *r, const struct dh_whole_sites *to);
/* types.c: what objects are in the source, once the pairs are found. v has its storage already. */
void dh_w_types_find(struct dh_w_races *r);
void dh_w_types_describe(struct dh_w_races *r, u32 object, u32 offset, struct dh_pairs_variable *v);
/* single.c: objects of which there is certainly only one at run time */
void dh_w_single_find(struct dh_w_races *r);
DH_INLINE bool dh_w_single(const struct dh_w *w, u32 object)
{
    return w->objects[object].single;
}

#endif
