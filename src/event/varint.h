/*
 * varint.h - variable-length numbers in files: seven bits per byte, low ones first, and a continuation bit. A
 * sign is folded into bit 0.
 */
#ifndef DH_EVENT_VARINT_H
#define DH_EVENT_VARINT_H

#include "base/base.h"

enum { DH_VARINT_MAX = 10 }; /* bytes */

DH_INLINE u8 *dh_varint_put(u8 *p, u64 v)
{
    while (v >= 0x80) {
        *p++ = (u8)(v | 0x80);
        v >>= 7;
    }
    *p++ = (u8)v;
    return p;
}

/* False: there is none before `end`. */
DH_INLINE bool dh_varint_get(const u8 **at, const u8 *end, u64 *ret)
{
    u64 v = 0;
    for (u32 shift = 0; shift < 64 && *at < end; shift += 7) {
        u8 b = *(*at)++;
        v |= (u64)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

/* The same towards lower addresses. */
DH_INLINE u8 *dh_varint_put_down(u8 *p, u64 v)
{
    while (v >= 0x80) {
        *--p = (u8)(v | 0x80);
        v >>= 7;
    }
    *--p = (u8)v;
    return p;
}

DH_INLINE bool dh_varint_get_down(const u8 **at, const u8 *start, u64 *ret)
{
    u64 v = 0;
    for (u32 shift = 0; shift < 64 && *at > start; shift += 7) {
        u8 b = *--*at;
        v |= (u64)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *ret = v;
            return true;
        }
    }
    return false;
}

DH_INLINE u64 dh_varint_fold(u64 v)
{
    return v << 1 ^ (u64)((int64_t)v >> 63);
}

DH_INLINE u64 dh_varint_unfold(u64 v)
{
    return v >> 1 ^ -(v & 1);
}

#endif
