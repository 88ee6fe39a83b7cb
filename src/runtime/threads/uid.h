/*
 * uid.h - the number of a thread, from 1 on, in order of creation. Never reused: reports name threads by it.
 */
#ifndef DH_RUNTIME_THREADS_UID_H
#define DH_RUNTIME_THREADS_UID_H

#include "base/base.h"

typedef struct {
    u32 v;
} dh_uid_t;
_Static_assert(sizeof(dh_uid_t) == 4, "the header of a heap block has room for so much");

/* Not known. */
#define DH_UID_NONE ((dh_uid_t){0})

/* As a number, for iterating over threads, packing and printing. */
DH_INLINE dh_uid_t dh_uid_from(u32 raw)
{
    return (dh_uid_t){raw};
}

DH_INLINE u32 dh_uid_raw(dh_uid_t u)
{
    return u.v;
}

DH_INLINE bool dh_uid_is_none(dh_uid_t u)
{
    return u.v == 0;
}

DH_INLINE bool dh_uid_eq(dh_uid_t a, dh_uid_t b)
{
    return a.v == b.v;
}

#endif
