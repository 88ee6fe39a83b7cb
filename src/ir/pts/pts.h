/*
 * pts.h - an inclusion-based points-to solver (Andersen), field-sensitive, independent of LLVM.
 *
 * Vocabulary. A NODE is anything that can hold pointers: a value of the program, or the contents of a
 * location. An OBJECT is a piece of memory (a global, a stack variable, an allocation site, a function). A
 * LOCATION is an object and a byte offset in it, or the object and DH_PTS_ANY: "somewhere in it". The
 * points-to set of a node is a set of locations.
 *
 * Offsets are canonical: in a part of an object that is known to be an array (declared by dh_pts_array, or
 * learnt from a strided constraint) they are folded into the first element, so a[0].f, a[1].f and a[i].f are
 * one location. An object in which more than max_fields locations are used collapses: all its offsets become
 * DH_PTS_ANY. Both can happen while solving; afterwards every set holds canonical locations only.
 *
 * What it assumes (and a client has to include in its list of assumptions):
 *  - a pointer is read at the offset it was written at; pointers split into pieces smaller than a copied
 * field are left to the client (it may use dh_pts_copy on anything that carries a pointer's bits);
 *  - in a copy of known length from an unknown place, pointers are at multiples of eight bytes;
 *  - a constant offset from an array element, if it is shorter than the array, stays in the array;
 *  - a constant offset does not leave an object of known size (one past its end is allowed), as C requires:
 *    offsets outside are dropped, and counted (stats.outside, each time).
 *
 * Errors. Running out of memory is remembered: nodes are then DH_PTS_NONE, which every function accepts
 * and ignores, and dh_pts_solve returns -ENOMEM. So constraints can be added without checking each call.
 * (CRoaring, which holds the larger sets, does not report every failure of its own allocations.)
 *
 * Results do not depend on addresses or hash seeds: the same calls in the same order give the same ids and
 * sets.
 */
#ifndef DH_IR_PTS_PTS_H
#define DH_IR_PTS_PTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t dh_pts_node;
typedef uint32_t dh_pts_object;
typedef uint32_t dh_pts_location;

#define DH_PTS_NONE UINT32_MAX
/* As an offset: any offset in the object. As a length: up to the object's end. */
#define DH_PTS_ANY UINT32_MAX

struct dh_pts;

enum {
    DH_PTS_FUNCTION = 1, /* code: has no contents; reported to dh_pts_call */
    DH_PTS_COLLAPSED = 2 /* field-insensitive from the start */
};

/*
 * Something new flowed into a watched node. `call` is the value passed to dh_pts_call or dh_pts_watch. May
 * add nodes, objects and constraints, and watch further nodes. Called once for each pair of watch and object
 * (dh_pts_call) or watch and location (dh_pts_watch).
 */
typedef void dh_pts_on_flow(void *client, void *call, dh_pts_object object, uint32_t offset);

struct dh_pts_options {
    uint32_t max_fields; /* 0: 1024 */
    uint32_t huge;       /* nodes with this many locations share one set (widen.c); 0: none do */
    bool no_cycles;      /* no cycle elimination: for tests and measurements */
    bool collect_always; /* free unused sets before each round, not only when there are many: for tests */
    dh_pts_on_flow *on_flow;
    /* How many bytes of pointers a copy of unknown length starting there can move, or DH_PTS_ANY; may be
     * NULL. */
    uint32_t (*reach)(void *client, dh_pts_object object, uint32_t offset);
    /*
     * The part of the object, from byte *ret_start up to but excluding *ret_end, that steps of `stride` bytes
     * from an offset cannot leave: because it is an array or, if there is no room for a step, because it is
     * not one. false: nothing is known. May be NULL. Called when such a step is encountered.
     */
    bool (*array)(void *client, dh_pts_object object, uint32_t offset, uint32_t stride, uint32_t *ret_start,
                  uint32_t *ret_end);
    void *client;
};

struct dh_pts_stats {
    uint64_t nodes, objects, locations; /* created so far */
    uint64_t constraints;               /* added by the client */
    uint64_t edges;                     /* copy and offset edges at the end, of unmerged nodes */
    uint64_t merged;                    /* nodes that share another's set */
    uint64_t collapsed;                 /* objects that lost their fields */
    uint64_t folded;                    /* arrays learnt while solving */
    uint64_t stretched;      /* objects whose arrays grew so often that they were extended to its ends */
    uint64_t outside;        /* offsets that left their object, and were dropped */
    uint64_t confined;       /* arrays learnt whose bounds the client knew */
    uint64_t strided_cycles; /* cycles that add an offset in each iteration */
    uint64_t widened;        /* nodes that were merged because their sets are huge */
    uint64_t rounds;         /* sweeps over the graph */
    uint64_t propagations;   /* sets sent along an edge */
    uint64_t set_bytes;      /* memory of sets, edges and nodes */
    uint64_t set_members;    /* of all nodes together */
    uint64_t set_largest;
};

/* options may be NULL. */
int dh_pts_new(const struct dh_pts_options *options, struct dh_pts **ret_pts);
void dh_pts_free(struct dh_pts *p);

/*
 * ---- Building. All of these may also be called from on_flow, and after dh_pts_solve (then solve again).
 * ----
 */

/* A new value. */
dh_pts_node dh_pts_value(struct dh_pts *p);
/* A new object of `size` bytes; 0 or DH_PTS_ANY: unknown. flags: DH_PTS_FUNCTION and so on. */
dh_pts_object dh_pts_object_add(struct dh_pts *p, uint32_t size, unsigned flags);
/*
 * Bytes [start, start + length) of the object are an array of elements of `stride` bytes; length may be
 * DH_PTS_ANY. For arrays in arrays of structures declare the outer one first, and the inner one as it is in
 * the first element.
 */
void dh_pts_array(struct dh_pts *p, dh_pts_object o, uint32_t start, uint32_t length, uint32_t stride);

/* dst = &o + offset (offset may be DH_PTS_ANY) */
void dh_pts_address(struct dh_pts *p, dh_pts_node dst, dh_pts_object o, uint32_t offset);
/* dst = src */
void dh_pts_copy(struct dh_pts *p, dh_pts_node dst, dh_pts_node src);
/* dst = src + offset, in bytes, possibly negative */
void dh_pts_offset(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, int64_t offset);
/* dst = src + something: any location of the objects src points to */
void dh_pts_any(struct dh_pts *p, dh_pts_node dst, dh_pts_node src);
/*
 * dst = src + offset + i * stride for an unknown i: an array element. length 0: nothing is known about the
 * array; i may be negative, and src may be in the middle of it. Otherwise the array is the `length` bytes
 * from src + offset (DH_PTS_ANY: to the end of the object).
 */
void dh_pts_element(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, int64_t offset, uint32_t stride,
                    uint32_t length);
/* dst = *(src + offset) */
void dh_pts_load(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, int64_t offset);
/* *(dst + offset) = src */
void dh_pts_store(struct dh_pts *p, dh_pts_node dst, int64_t offset, dh_pts_node src);
/* memcpy(dst, src, length): all pointers there are copied to the same offsets. */
void dh_pts_memcpy(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, uint32_t length);
/* Call on_flow for each object with DH_PTS_FUNCTION that `callee` may point to. */
void dh_pts_call(struct dh_pts *p, dh_pts_node callee, void *call);
/* Call on_flow for each location, of any object, that `node` may point to. */
void dh_pts_watch(struct dh_pts *p, dh_pts_node node, void *call);

/* Solve what was added. 0 or -ENOMEM; after a failure nothing is solved. */
int dh_pts_solve(struct dh_pts *p);

/* ---- Queries, after dh_pts_solve. No location returned is stale: object and offset are canonical. ---- */

struct dh_pts_place {
    dh_pts_object object;
    uint32_t offset; /* or DH_PTS_ANY */
};

/* Locations in ascending order of id; nothing may be added during iteration. */
struct dh_pts_iter {
    const void *set;
    uint32_t at;
    uint64_t opaque[8];
};
struct dh_pts_iter dh_pts_iter(const struct dh_pts *p, dh_pts_node node);
bool dh_pts_next(struct dh_pts_iter *it, dh_pts_location *ret_location);
uint32_t dh_pts_count(const struct dh_pts *p, dh_pts_node node);

struct dh_pts_place dh_pts_place(const struct dh_pts *p, dh_pts_location l);
/* The canonical location of an offset, or DH_PTS_NONE if no constraint ever used it. */
dh_pts_location dh_pts_find(const struct dh_pts *p, dh_pts_object o, uint32_t offset);
/* The canonical form of an offset in o (0 <= offset < size, or DH_PTS_ANY). */
uint32_t dh_pts_canonical(const struct dh_pts *p, dh_pts_object o, uint32_t offset);
/* Does a canonical offset stand for several: the elements of an array, or anything? */
bool dh_pts_folded(const struct dh_pts *p, dh_pts_object o, uint32_t offset);
/* The node whose set is the result of a load from this location. */
dh_pts_node dh_pts_contents(const struct dh_pts *p, dh_pts_location l);
/* The locations used in an object, in order of creation; *ret_list stays valid until something is added. */
uint32_t dh_pts_fields(const struct dh_pts *p, dh_pts_object o, const dh_pts_location **ret_list);
uint32_t dh_pts_size(const struct dh_pts *p, dh_pts_object o); /* DH_PTS_ANY: unknown */
bool dh_pts_collapsed(const struct dh_pts *p, dh_pts_object o);

/*
 * Nodes with the same representative have the same set. (Others may have equal sets too.) A key for caches of
 * values computed from a set.
 */
dh_pts_node dh_pts_representative(const struct dh_pts *p, dh_pts_node node);
/* The number of the node's set: equal if and only if the sets are equal. */
uint32_t dh_pts_set_number(const struct dh_pts *p, dh_pts_node node);
bool dh_pts_points_to(const struct dh_pts *p, dh_pts_node node, dh_pts_location l);

/* May the two nodes hold the same pointer? */
bool dh_pts_may_alias(const struct dh_pts *p, dh_pts_node a, dh_pts_node b);
/*
 * May `a_size` bytes at a and `b_size` bytes at b have a byte in common? Sizes may be DH_PTS_ANY. Elements of
 * one array are not distinguished. On true, *ret_object (may be NULL) is the first object they share.
 */
bool dh_pts_may_overlap(const struct dh_pts *p, dh_pts_node a, uint32_t a_size, dh_pts_node b,
                        uint32_t b_size, dh_pts_object *ret_object);
/* The same for two locations. */
bool dh_pts_locations_overlap(const struct dh_pts *p, dh_pts_location a, uint32_t a_size, dh_pts_location b,
                              uint32_t b_size);

void dh_pts_statistics(const struct dh_pts *p, struct dh_pts_stats *ret_stats);

#endif
