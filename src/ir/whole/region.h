/*
 * region.h - lists, trees and other heap structures, each reachable from a single cell.
 *
 *     lock(&m[i]); n = malloc(...); n->next = slot[i]; slot[i] = n; unlock(&m[i]);
 *
 * No node is reachable from two slots, so a thread that has locked m[i] has exclusive access to the nodes of
 * slot[i]. A REGION is inferred for each node and each pointer: the CELL from which the node can be reached,
 * which is an element of an array in a global variable, or the rest of one. The invariant, for a set of
 * objects:
 *
 *  - a cell is in its own region; each node is in one region, permanently;
 *  - what is stored in a cell or node of a region, if it is a pointer to such an object, leads to that
 * region.
 *
 * It is inferred as types are (Hindley and Milner; regions: Tofte and Talpin, POPL 1994): in each instance,
 * values have classes; a load, a store, an offset or a copy unifies two classes, a call unifies the classes
 * of arguments and result with those of the callee, and the address of a cell gives its class a ROOT. A class
 * with two different roots is BROKEN: the objects that its values may point to are in no region, and the
 * inference is repeated without them. A new allocation has a class without a root, until it is stored.
 *
 * A root is an address (address.h) with an index, or, where it is unknown which cell it is, the operation
 * that has chosen it. It denotes one cell as long as none of the values in it is recomputed. So these values
 * must dominate all of the class; or what is allocated, or given, comes first, and they are computed once for
 * it, and it is not carried round a loop (is_steady).
 */
#ifndef DH_IR_WHOLE_REGION_H
#define DH_IR_WHOLE_REGION_H

#include "ir/whole/race.h"

/* An array in a global variable, or what of it is in no array. */
struct dh_w_cells {
    u32 object;
    int64_t begin;
    u32 stride, bytes; /* stride 0: it is no array */
};

struct dh_w_cell {
    u32 cells;              /* a number; DH_W_NONE: nobody can tell */
    u32 op, part;           /* then: what has chosen it */
    struct dh_w_address at; /* of the element's begin; of what is no array: of the variable's */
};

/* Where a value is that may point into an array of cells (region_place.c). */
struct dh_w_where {
    u32 state;
    struct dh_pts_place at; /* OUT: at a distance from there, in its element */
    int64_t distance;
};

struct dh_w_classes {
    u32 *up;   /* by local: its class, or one on the way there */
    u32 *root; /* by class: 1 + the number of its root; 0: none */
    bool *broken;
    struct dh_w_where *where; /* by local */
    struct dh_w_cell *roots;
    size_t n_roots, cap_roots;
    bool known;
};

struct dh_w_regions {
    struct dh_w_races *r;
    bool *in;        /* by object: it has the invariant */
    bool *has_cells; /* by object */
    struct dh_w_cells *cells;
    size_t n_cells, cap_cells;
    struct dh_w_classes *of;   /* by instance */
    struct dh_w_table tracked; /* by points-to set: 1 if it has such objects */
    struct dh_w_table arrays;  /* by points-to set: 1 if it has variables with arrays of cells */
    struct dh_w_pool guards;
    bool changed;
};

/* ---- region_cell.c ---- */
/* An object has the invariant no longer. */
void dh_w_region_lose(struct dh_w_regions *g, u32 object);
/* Finds the arrays of all variables that have cells. */
void dh_w_cells_find(struct dh_w_regions *g);
/* The cell that an address is in. false: the address is in no variable that has cells. A cell that is not
 * known is not `at` anything. */
bool dh_w_cell_at(struct dh_w_regions *g, const struct dh_w_address *a, struct dh_w_cell *ret);
/* The cells that a value is in for sure, if it is in any memory, and how far from the begin of the variable
 * if it is in the first of them. */
bool dh_w_cell_pointed(const struct dh_w_regions *g, u32 inst, dh_w_value v, u32 *ret_cells, u32 *ret_offset);
bool dh_w_cell_equal(const struct dh_w_cell *a, const struct dh_w_cell *b);
/* Whether a root means one cell for a value, wherever the value is used. *ret_first: the value is there
 * before the cell is known. */
bool dh_w_cell_is_steady(const struct dh_w_regions *g, const struct dh_w_fn *fn, const struct dh_w_cell *c,
                         dh_w_value v, bool *ret_first);
/* Whether the cell is known wherever the op is reached. */
bool dh_w_cell_is_known_at(const struct dh_w_regions *g, const struct dh_w_fn *fn, const struct dh_w_cell *c,
                           u32 op);

/* Whether, of an element, an offset in the first one stands for nothing else. */
bool dh_w_cell_is_exact(const struct dh_w_regions *g, const struct dh_w_cells *c, u32 offset);

/* ---- region_place.c ---- */
bool dh_w_place_matters(struct dh_w_regions *g, u32 inst, dh_w_value v);
void dh_w_places_find(struct dh_w_regions *g, u32 inst);
/* Whether a value, where the op uses it, leads to no other cell than that of its region. */
bool dh_w_place_is_proper(struct dh_w_regions *g, u32 inst, u32 op, dh_w_value v);
/* Whether a value that leads to a cell leads to that of its region. */
bool dh_w_place_is_in(struct dh_w_regions *g, u32 inst, dh_w_value v);
bool dh_w_place_is_no_cell(struct dh_w_regions *g, u32 inst, u32 op, dh_w_value v);
/* The cells that an access may touch. */
enum dh_w_touches { DH_W_TOUCHES_ANY, DH_W_TOUCHES_OWN, DH_W_TOUCHES_NONE };
enum dh_w_touches dh_w_place_touches(struct dh_w_regions *g, u32 inst, u32 op, dh_w_value v, u32 length);

/* ---- region.c ---- */
u32 dh_w_region_class(const struct dh_w_classes *c, dh_w_value v);

#endif
