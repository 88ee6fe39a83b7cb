/*
 * types.h - the structures that pointers around a piece of code refer to. Internal to the report room, for
 * field.c.
 *
 * A heap block has no declaration: its type can only be inferred from the types of pointers to it. So for a
 * function, the types are collected that its parameters and variables, its result and the globals of its file
 * point to, and those reached through pointers in these, up to two steps further.
 */
#ifndef DH_REPORT_TYPES_H
#define DH_REPORT_TYPES_H

#include "report/object.h"

struct dh_type {
    struct dh_object *object;
    Dwarf_Die die;
    const char *name; /* without scopes; the typedef's if the structure has none; NULL: neither */
    u64 size;
    bool complete;   /* otherwise it is only declared, and its size is not known */
    bool open_ended; /* its last member is an array without a length */
    bool scalar;     /* not a structure: a number or an address */
    u8 steps;        /* from a variable; 0 if the variable points to it directly */
};

struct dh_types {
    struct dh_object_unit *unit;
    struct dh_type *types;
    size_t n;
    const struct dh_types *more; /* those of the globals; NULL if this is that set */
};

bool dh_types_is_aggregate(Dwarf_Die *type);
struct dh_type dh_types_describe(struct dh_object *o, Dwarf_Die *type, const char *typedef_name);

/* Around the code of a frame. NULL: there is no debug information. */
const struct dh_types *dh_types_around(const struct dh_symbol_frame *f);
/* Does the function return a pointer to a non-structure? Then that is what it allocates. */
bool dh_types_returns_scalars(const struct dh_symbol_frame *f);

/* Do two descriptions, perhaps from different units or files, describe the same type? */
bool dh_types_same(const struct dh_type *a, const struct dh_type *b);
/* Is it declared in a system header? */
bool dh_types_is_system(const struct dh_types *set, const struct dh_type *t);
/* "struct conn", "ns::Conn". */
const char *dh_types_name(struct dh_arena *arena, const struct dh_type *t);
/* The same without "struct" and the like. */
const char *dh_types_plain_name(const struct dh_type *t);

#endif
