/*
 * member.h - the members of a structure that an access may refer to. Internal to the report room, for
 * field.c.
 */
#ifndef DH_REPORT_MEMBER_H
#define DH_REPORT_MEMBER_H

#include "report/types.h"

enum { DH_MEMBER_NESTED = 12, DH_MEMBER_PATH = 200 };

struct dh_member {
    struct dh_type along[DH_MEMBER_NESTED]; /* from the outermost structure to the one that has the member */
    size_t n_along;
    char path[DH_MEMBER_PATH]; /* "peer.port", "buf[3]" */
    size_t len;
    bool direct;     /* for the caller: a variable points to the outermost structure */
    bool is_element; /* the outermost structure is an array element */
    u64 element;
};

struct dh_members {
    struct dh_member *list; /* of max */
    size_t n, max;
    u64 size;                 /* of the access */
    u32 steps;                /* total number taken */
    struct dh_object *object; /* whose debug information is searched */
    bool overflow;            /* not all of them were followed */
};

/* Adds the members of the type that occupy exactly the bytes accessed, `offset` bytes into it. There are
 * several in a union, and where bit-fields share bytes. whole: the starting point of the search, with an
 * empty path. */
void dh_member_find(struct dh_members *m, const struct dh_type *type, u64 offset,
                    const struct dh_member *whole);

#endif
