/*
 * member.h - the members of a structure that an access of some bytes may be to. Inside the report room, for
 * field.c.
 */
#ifndef DH_REPORT_MEMBER_H
#define DH_REPORT_MEMBER_H

#include "report/types.h"

enum { DH_MEMBER_NESTED = 12, DH_MEMBER_PATH = 200 };

struct dh_member {
    struct dh_type along[DH_MEMBER_NESTED]; /* from the whole to the structure that has the member */
    size_t n_along;
    char path[DH_MEMBER_PATH]; /* "peer.port", "buf[3]" */
    size_t len;
    bool direct;     /* for the caller: a variable points to the whole */
    bool is_element; /* the whole is one of many in an array */
    u64 element;
};

struct dh_members {
    struct dh_member *list; /* of max */
    size_t n, max;
    u64 size;                 /* of the access */
    u32 steps;                /* taken, all together */
    struct dh_object *object; /* that is looked into */
    bool overflow;            /* there are more than were followed */
};

/* Adds those members of the type that are exactly the bytes accessed, `offset` bytes into it. There are
 * several in a union, and where bit-fields share the bytes. whole: with which the search begins, an empty
 * path. */
void dh_member_find(struct dh_members *m, const struct dh_type *type, u64 offset,
                    const struct dh_member *whole);

#endif
