/*
 * dht_head.c - see dht_head.h.
 */
#include "event/dht_head.h"

#include <errno.h>
#include <string.h>

u32 dh_dht_put_head(u8 *to, const struct dh_dht_chunk *head)
{
    u8 *at = to;
    *at++ = DH_DHT_HEAD_MARK;
    at = dh_varint_put(at, head->type);
    at = dh_varint_put(at, head->thread + 1);
    at = dh_varint_put(at, head->number);
    at = dh_varint_put(at, head->raw_len);
    at = dh_varint_put(at, head->packed_len);
    at = dh_varint_put(at, head->first + 1);
    at = dh_varint_put(at, (u32)head->events);
    at = dh_varint_put(at, head->events >> 32);
    memcpy(at, &head->check, sizeof(head->check));
    return (u32)(at - to + sizeof(head->check));
}

static int get_old(const u8 *from, size_t n, struct dh_dht_chunk *ret)
{
    if (n < sizeof(*ret))
        return 0;
    memcpy(ret, from, sizeof(*ret));
    return ret->magic == DH_DHT_CHUNK_MAGIC ? (int)sizeof(*ret) : -EBADMSG;
}

int dh_dht_get_head(u32 version, const u8 *from, size_t n, struct dh_dht_chunk *ret)
{
    enum { TYPE, THREAD, NUMBER, RAW_LEN, PACKED_LEN, FIRST, LOW, HIGH };
    if (version < DH_DHT_WITH_CALLS)
        return get_old(from, n, ret);
    const u8 *at = from, *end = from + n;
    u64 v[DH_DHT_HEAD_NUMBERS], check;
    if (at == end)
        return 0;
    if (*at++ != DH_DHT_HEAD_MARK)
        return -EBADMSG;
    for (u32 i = 0; i < DH_DHT_HEAD_NUMBERS; i++) {
        if (!dh_varint_get(&at, end, &v[i]))
            return at == end ? 0 : -EBADMSG;
        if (v[i] > UINT32_MAX && i != FIRST)
            return -EBADMSG;
    }
    if ((size_t)(end - at) < sizeof(check))
        return 0;
    memcpy(&check, at, sizeof(check));
    *ret = (struct dh_dht_chunk){.magic = DH_DHT_CHUNK_MAGIC,
                                 .type = (u32)v[TYPE],
                                 .thread = (u32)v[THREAD] - 1,
                                 .number = (u32)v[NUMBER],
                                 .raw_len = (u32)v[RAW_LEN],
                                 .packed_len = (u32)v[PACKED_LEN],
                                 .first = v[FIRST] - 1,
                                 .events = v[HIGH] << 32 | v[LOW],
                                 .check = check};
    return (int)(at - from + sizeof(check));
}
