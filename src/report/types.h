/*
 * types.h - which structures the pointers around a piece of code lead to. Inside the report room, for
 * field.c.
 *
 * A heap block has no declaration: what it is can only be told from the types of what points to it. So of a
 * function the types are collected that its parameters and variables, its result and the globals of its file
 * point to, and those that pointers in these lead to, up to two steps further.
 */
#ifndef DH_REPORT_TYPES_H
#define DH_REPORT_TYPES_H

#include "report/object.h"

struct dh_type {
    struct dh_object *object;
    Dwarf_Die die;
    const char *name; /* without scopes; that of a typedef, if the structure has none; NULL: neither */
    u64 size;
    bool complete;   /* otherwise it is only declared here, and its size is not known */
    bool open_ended; /* its last member is an array without a length */
    bool scalar;     /* no structure: a number, an address */
    u8 steps;        /* from a variable: 0 if that is a pointer to it */
};

struct dh_types {
    struct dh_object_unit *unit;
    struct dh_type *types;
    size_t n;
    const struct dh_types *more; /* of the globals; NULL: these are they */
};

bool dh_types_is_aggregate(Dwarf_Die *type);
struct dh_type dh_types_describe(struct dh_object *o, Dwarf_Die *type, const char *typedef_name);

/* Around the code of a frame. NULL: there is no debug information. */
const struct dh_types *dh_types_around(const struct dh_symbol_frame *f);
/* Does the function return the address of what is no structure? Then that is what it allocates. */
bool dh_types_returns_scalars(const struct dh_symbol_frame *f);

/* Do two descriptions, perhaps from two units or files, mean the same type? */
bool dh_types_same(const struct dh_type *a, const struct dh_type *b);
/* Is it declared in a header of the system? */
bool dh_types_is_system(const struct dh_types *set, const struct dh_type *t);
/* "struct conn", "ns::Conn". */
const char *dh_types_name(struct dh_arena *arena, const struct dh_type *t);
/* The same without the word for its kind. */
const char *dh_types_plain_name(const struct dh_type *t);

#endif
