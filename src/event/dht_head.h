/*
 * dht_head.h - the head of a chunk as bytes in a file.
 *
 * Small recordings consist of heads to a good part, so from version 4 on a head is numbers of any length:
 *
 *   byte DH_DHT_HEAD_MARK, v(type), v(thread + 1), v(number), v(raw_len), v(packed_len), v(first + 1),
 *   v(low half of events), v(high half of events), 8 bytes check
 *
 * thread + 1 and first + 1 wrap around: 0 is nobody, or no ticket. Up to version 2 it is struct dh_dht_chunk
 * as it is. The checksum is over that struct in all versions.
 */
#ifndef DH_EVENT_DHT_HEAD_H
#define DH_EVENT_DHT_HEAD_H

#include "event/dht.h"
#include "event/varint.h"

enum {
    DH_DHT_HEAD_MARK = 'k',
    DH_DHT_HEAD_NUMBERS = 8,
    DH_DHT_HEAD_MAX = 1 + DH_DHT_HEAD_NUMBERS * DH_VARINT_MAX + sizeof(u64),
};

_Static_assert(DH_DHT_HEAD_MAX >= sizeof(struct dh_dht_chunk), "room for a head of any version");

/* How many bytes of `to`, which has room for DH_DHT_HEAD_MAX. */
u32 dh_dht_put_head(u8 *to, const struct dh_dht_chunk *head);
/* The head at the beginning of n bytes, all that the file has or DH_DHT_HEAD_MAX. How many bytes it is; 0: it
 * is cut short; -EBADMSG: there is none. */
int dh_dht_get_head(u32 version, const u8 *from, size_t n, struct dh_dht_chunk *ret);

#endif
