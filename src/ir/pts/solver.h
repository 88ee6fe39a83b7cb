/*
 * solver.h - the solver's tables, shared by the files of this directory only.
 *
 * Everything is an index into a growing array, so ids stay valid while the arrays move; pointers into them do
 * not survive a call that may add a node, a location, an object or a use. Nodes are merged by union-find:
 * `find` gives the one that holds sets, edges and uses.
 *
 * The state of a node: `all` is its set so far, by its number (intern.h); `fresh` is the part of it that its
 * edges and uses have not seen (difference propagation). A node with fresh members is in the list of dirty
 * nodes, once.
 *
 * A location has up to two nodes: what a load from it reads and what a store to it writes. They differ for
 * DH_PTS_ANY only, where a load reads what is in any field and a store reaches every field, without the
 * fields seeing each other's contents.
 */
#ifndef DH_IR_PTS_SOLVER_H
#define DH_IR_PTS_SOLVER_H

#include "ir/pts/intern.h"
#include "ir/pts/pts.h"
#include "ir/pts/set.h"

enum use_kind {
    USE_OFFSET,    /* other = this + offset (+ i * stride) */
    USE_ANY,       /* other = this + anything */
    USE_LOAD,      /* other = *(this + offset) */
    USE_STORE,     /* *(this + offset) = other */
    USE_COPY_FROM, /* object other = `length` bytes at this: the first half of a memcpy */
    USE_COPY_TO,   /* `length` bytes at this = object other: the second half */
    USE_WATCH      /* tell the client */
};

/* What a node is used for, apart from plain copies; a list a node. */
struct use {
    uint32_t next;
    uint32_t other;
    int64_t offset;
    uint32_t stride; /* 0: none */
    uint32_t length;
    uint32_t weight; /* of the cycles it is in; 0: in none that adds something */
    uint32_t watch;  /* USE_COPY_*, USE_WATCH: who remembers what it was applied to */
    uint32_t step;   /* USE_OFFSET: 1 + the number of its step; 0: not looked up since it changed */
    uint8_t kind;
};

/* What a USE_OFFSET does to a location. */
struct step {
    int64_t offset;
    uint32_t stride, length, weight;
};

struct node {
    uint32_t parent; /* union-find; itself if it is the representative */
    uint32_t uses;   /* first, DH_PTS_NONE at the end */
    uint32_t last_use;
    bool dirty;
    uint32_t all, fresh; /* interned sets */
    struct dh_set next;  /* copy edges; targets may be merged away since */
};

struct location {
    uint32_t object;
    uint32_t offset;
    uint32_t reads;   /* the node a load reads, DH_PTS_NONE until one is needed */
    uint32_t writes;  /* the node a store writes */
    uint32_t forward; /* the location this one became when the object got coarser; itself if it stands */
    uint32_t next;    /* in the object */
};

/* Offsets in [start, end) are equal modulo stride. */
struct fold {
    uint32_t start, end, stride;
    bool bounds; /* known from a type: pointers to its elements do not leave it */
};

/* `length` bytes at from + from_offset are copied to to + to_offset. */
struct link {
    uint32_t next; /* of the same source object */
    uint32_t from_offset;
    uint32_t to, to_offset;
    uint32_t length;
};

enum { MAX_FOLDS = 64, MAX_GUESSES = 12 }; /* of one object; with more it collapses */
enum { MAX_COPIED = 32 }; /* changes of one object by copied arrays; from there on they reach its ends */

struct object {
    uint32_t size; /* DH_PTS_ANY: unknown */
    uint32_t first, last;
    uint32_t fields; /* locations that stand */
    uint32_t any;    /* the location at DH_PTS_ANY, or DH_PTS_NONE */
    uint32_t links;
    uint8_t folds_n;
    bool collapsed, function;
    bool coarser;         /* since the sets were last restated */
    uint8_t copied_folds; /* changes by arrays that came with copies */
    uint32_t folds_cap;
    struct fold *folds; /* outer ones before the ones nested in them, in whose coordinates those are */
};

/* What a use has seen already, where doing it twice is not harmless. */
struct watch {
    void *call;
    struct dh_set seen; /* objects (functions only) or locations */
    bool functions;
};

struct pair {
    uint32_t a, b;
};

struct late {
    uint32_t use, set;
};

#define VECTOR(type)     \
    struct {             \
        type *at;        \
        uint32_t n, cap; \
    }

struct dh_pts {
    struct dh_pts_options options;
    int failed; /* 0 or -ENOMEM */
    VECTOR(struct node) nodes;
    VECTOR(struct object) objects;
    VECTOR(struct location) locations;
    VECTOR(struct use) uses;
    VECTOR(struct link) links;
    VECTOR(struct watch) watches;
    VECTOR(struct step) steps; /* all different */
    uint32_t *step_index;      /* hash of a step to 1 + its number; 0: free */
    uint32_t step_index_cap;
    VECTOR(uint32_t) dirty;
    VECTOR(struct pair) merges; /* to be done before the next sweep */
    VECTOR(struct late)
    late; /* what uses have missed, to be told before the next sweep */
    VECTOR(uint32_t)
    hatched; /* locations that got their nodes and are not connected yet */
    VECTOR(uint32_t)
    refolded;        /* objects whose folds are not told to their links yet */
    uint32_t *index; /* hash of (object, offset) to location */
    uint32_t index_cap;
    bool stale;     /* some object is coarser */
    uint32_t epoch; /* counts restatements: what was computed from sets before one is not to be used after */
    struct dh_intern sets;
    /* widen.c: the node of all huge sets, or DH_PTS_NONE; its two uses, and what they read and write */
    uint32_t crowd, crowd_use, crowd_reads, crowd_writes;
    bool solved;
    /* Filled by dh_pts_solve for dh_pts_fields: the locations that stand, by object. */
    uint32_t *field_list;
    uint32_t *field_start;
    /* order.c: the nodes of the next sweep, each after those that feed it unless in a cycle. */
    VECTOR(uint32_t) sequence;
    uint32_t *scratch; /* members of one set, see dh_pts_snapshot */
    uint32_t scratch_cap;
    struct dh_pts_stats stats;
};

/* graph.c */
/* Room for one more in an array of *cap elements; on failure the array is as it was. */
void *dh_pts_grow(struct dh_pts *p, void *at, uint32_t *cap, size_t size);
#define PUSH(p, v)                                                                                   \
    ((v).n < (v).cap || ((v).at = dh_pts_grow(p, (v).at, &(v).cap, sizeof *(v).at), (v).n < (v).cap) \
         ? &(v).at[(v).n++]                                                                          \
         : NULL)
uint32_t dh_pts_root(struct dh_pts *p, uint32_t node); /* find, with path halving */
uint32_t dh_pts_root_const(const struct dh_pts *p, uint32_t node);
uint32_t dh_pts_node_add(struct dh_pts *p);
void dh_pts_mark_dirty(struct dh_pts *p, uint32_t root);
void dh_pts_member(struct dh_pts *p, uint32_t node, uint32_t location); /* add one location to a set */
void dh_pts_send(struct dh_pts *p, uint32_t node, uint32_t set);        /* add a set to a set */
void dh_pts_edge(struct dh_pts *p, uint32_t from, uint32_t to);
void dh_pts_use_add(struct dh_pts *p, uint32_t node, const struct use *u);
void dh_pts_merge(struct dh_pts *p, uint32_t a, uint32_t b);
/* A copy of the members, valid until the next call. */
uint32_t dh_pts_snapshot(struct dh_pts *p, const struct dh_set *set, const uint32_t **ret_list);

/* field.c */
uint32_t dh_pts_location_at(struct dh_pts *p, uint32_t object, uint32_t canonical_offset);
uint32_t dh_pts_lookup(const struct dh_pts *p, uint32_t object, uint32_t offset); /* no location is made */
uint32_t dh_pts_standing(const struct dh_pts *p, uint32_t location);
/* The nodes of a location, made when first asked for; DH_PTS_NONE for code. */
uint32_t dh_pts_reads(struct dh_pts *p, uint32_t location);
uint32_t dh_pts_writes(struct dh_pts *p, uint32_t location);
void dh_pts_collapse(struct dh_pts *p, uint32_t object);
/* After the folds changed: forward the locations that are no longer canonical. */
void dh_pts_refold(struct dh_pts *p, uint32_t object);

/* link.c */
/* Copy `length` bytes between objects, now and whenever a field appears. */
void dh_pts_link(struct dh_pts *p, uint32_t from, uint32_t from_offset, uint32_t to, uint32_t to_offset,
                 uint32_t length);
/* Connect the locations that got nodes, and tell folds, until nothing is left to connect. */
void dh_pts_settle(struct dh_pts *p);

/* fold.c */
uint32_t dh_pts_canon(const struct object *o, uint32_t offset);
void dh_pts_fold(struct dh_pts *p, uint32_t object, uint32_t start, uint32_t end, uint32_t stride,
                 bool bounds);
/* The array came along with a copy. */
void dh_pts_fold_copied(struct dh_pts *p, uint32_t object, uint32_t start, uint32_t end, uint32_t stride);
/* Where location + offset is. */
uint32_t dh_pts_step(struct dh_pts *p, uint32_t location, int64_t offset);
/* The same, if it can happen again and again, adding a multiple of `weight` each time. */
uint32_t dh_pts_step_round(struct dh_pts *p, uint32_t location, int64_t offset, uint32_t weight);
/* Where location + offset + i * stride is; length as for dh_pts_element. */
uint32_t dh_pts_step_element(struct dh_pts *p, uint32_t location, int64_t offset, uint32_t stride,
                             uint32_t length);

/* widen.c */
void dh_pts_widen(struct dh_pts *p); /* the nodes that got huge join the crowd */
void dh_pts_join_crowd(struct dh_pts *p, const uint32_t *nodes, uint32_t n);
static inline bool dh_pts_is_crowd(const struct dh_pts *p, uint32_t root)
{
    return root == p->crowd; /* whoever joins it becomes part of it, not the other way round */
}

/* order.c */
void dh_pts_order(struct dh_pts *p);

/* apply.c */
/* A use meets one member of its node's set; or all members of a set. Doing it twice changes nothing. */
void dh_pts_apply(struct dh_pts *p, uint32_t use, uint32_t location);
void dh_pts_apply_all(struct dh_pts *p, uint32_t use, uint32_t set);
uint32_t dh_pts_anywhere(struct dh_pts *p, uint32_t set); /* "anywhere" in the objects of a set */

#endif
