/*
 * cover.h - which shared memory accesses touch.
 *
 * In a large program thousands of pointers have the same points-to set, and only the shared part of that set
 * can race. So what an access touches is reduced to its shared part once for each set, and a COVER is such a
 * part together with the length of the access. Covers are compared with each other, regardless of how many
 * accesses have them, and each with all others at once.
 */
#ifndef DH_IR_WHOLE_COVER_H
#define DH_IR_WHOLE_COVER_H

#include "ir/pts/intern.h"
#include "ir/whole/race.h"

struct dh_w_cover {
    u32 starts; /* set of locations: where the access may begin */
    u32 within; /* the locations that lie in its bytes, the starts among them */
    u32 length;
};

struct dh_w_covers {
    struct dh_w *w;
    u64 guests; /* roots that run on threads of others: they reach what does not escape only on its own thread
                 */
    const bool *many;       /* by root: runs beside itself */
    u64 *readers, *writers; /* by object: roots */
    struct dh_intern sets;
    struct dh_w_pool covers; /* 0: nothing */
    struct dh_w_table noted; /* by set, kind of access and root: its users are known */
    struct dh_w_table parts; /* by the same: its shared part */
    struct dh_w_table cover_of;
    struct dh_w_table inside; /* by location and length: locations in those bytes */
    /* Which covers begin at a location, and which have it within their bytes: a bit for each cover. */
    u32 *row_of; /* by location; DH_W_NONE: none has it */
    u64 *beginning, *having;
    size_t words;                /* of one location */
    u64 *met;                    /* the covers met so far, while dh_w_covers_row works */
    struct dh_w_table places_of; /* by two covers: in lists */
    struct dh_w_pool places;     /* lists of struct dh_w_place */
};

void dh_w_covers_init(struct dh_w_covers *c, struct dh_w *w, const bool *many);
void dh_w_covers_done(struct dh_w_covers *c);
/* All accesses are noted before the first cover is asked for. */
void dh_w_covers_note(struct dh_w_covers *c, dh_pts_node node, u8 access, u32 root);
/* What an access of `length` bytes by this root shares with other roots, or, with `itself`, with other
 * threads of its own root. 0: nothing. */
struct dh_w_touch {
    dh_pts_node node;
    u32 length;
    u8 access;
};
u32 dh_w_cover(struct dh_w_covers *c, const struct dh_w_touch *t, u32 root, bool itself);
/* All covers are known: what follows may be asked. */
void dh_w_covers_index(struct dh_w_covers *c);
/* For each cover whether it has a byte in common with this one: 1 + the first location where, or 0. */
void dh_w_covers_row(struct dh_w_covers *c, u32 cover, u32 *ret_at);

/* All places where they meet, in order of their objects. */
const struct dh_w_place *dh_w_covers_places(struct dh_w_covers *c, u32 a, u32 b, size_t *ret_n);

#endif
