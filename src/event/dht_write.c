/*
 * dht_write.c - see dht_write.h.
 */
#include "event/dht_write.h"

#include <errno.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the state of a hash on the stack */
#include <xxhash.h>
#include <zstd.h>

#include "base/pool.h"
#include "base/sys.h"
#include "event/dht_head.h"

/* Packing runs beside the program and must keep up with it. The tables of a recording are small and can take
 * longer; names, of converted text, can be many. */
enum { LEVEL = 3, TABLES_LEVEL = 9 };

static int write_all(struct dh_dht_writer *w, const void *p, size_t n)
{
    const char *at = p, *end = at + n;
    while (!w->error && at < end) {
        long k = dh_sys3(SYS_write, w->fd, (long)at, end - at);
        if (k <= 0 && k != -EINTR)
            w->error = k ? (int)k : -EIO;
        at += k > 0 ? k : 0;
        w->bytes += k > 0 ? (u64)k : 0;
    }
    return w->error;
}

int dh_dht_write_begin(struct dh_dht_writer *w, int fd, u32 flags, u64 pid)
{
    struct dh_dht_header h = {.version = DH_DHT_VERSION, .flags = flags, .pid = pid};
    memcpy(h.magic, DH_DHT_MAGIC, sizeof(h.magic));
    h.check = XXH64(&h, offsetof(struct dh_dht_header, check), 0);
    *w = (struct dh_dht_writer){.fd = fd};
    w->zstd = ZSTD_createCCtx();
    if (!w->zstd)
        return w->error = -ENOMEM;
    return write_all(w, &h, sizeof(h));
}

static int reserve(struct dh_dht_writer *w, size_t n)
{
    if (n <= w->packed_cap)
        return 0;
    void *more = dh_pool_alloc(n);
    if (!more)
        return w->error = -ENOMEM;
    dh_pool_free(w->packed, w->packed_cap);
    w->packed = more;
    w->packed_cap = n;
    return 0;
}

/* n bytes to `to`, packed if that makes them fewer than `most`. How many they are there. */
static size_t pack(struct dh_dht_writer *w, u8 *to, size_t room, const void *raw, size_t n, size_t most,
                   int level)
{
    size_t packed = ZSTD_compressCCtx(w->zstd, to, room, raw, n, level);
    if (!ZSTD_isError(packed) && packed < most)
        return packed;
    if (n)
        memcpy(to, raw, n);
    return n;
}

static int level_of(u32 type)
{
    return type == DH_DHT_MODULES || type == DH_DHT_SYMBOLS || type == DH_DHT_STACKS ? TABLES_LEVEL : LEVEL;
}

/* A length, then as many bytes, or fewer: packed. */
static size_t pack_calls(struct dh_dht_writer *w, u8 *to, size_t room, const void *calls, size_t n)
{
    if (n == 0)
        return 0;
    u8 *at = dh_varint_put(to, n);
    return (size_t)(at - to) + pack(w, at, room - (size_t)(at - to), calls, n, n, LEVEL);
}

int dh_dht_write_events(struct dh_dht_writer *w, struct dh_dht_chunk *head, const void *raw, size_t len,
                        const void *calls, size_t calls_len)
{
    if (w->error)
        return w->error;
    if (len > DH_DHT_TABLE_BYTES || calls_len > DH_DHT_CHUNK_BYTES)
        return -EMSGSIZE;
    size_t bound = ZSTD_compressBound(len), room = ZSTD_compressBound(calls_len) + DH_VARINT_MAX;
    if (reserve(w, bound + room) != 0)
        return w->error;
    /* What was made from text is read over and over, and fast only if it need not be unpacked. */
    size_t most = head->type == DH_DHT_ORDERED ? len - len / 3 : len;
    size_t n = pack(w, w->packed, bound, raw, len, most, level_of(head->type));
    size_t behind = pack_calls(w, (u8 *)w->packed + n, room, calls, calls_len);
    if (head->type == DH_DHT_EVENTS || head->type == DH_DHT_WORDS || head->type == DH_DHT_ORDERED)
        w->events += head->events;
    head->magic = DH_DHT_CHUNK_MAGIC;
    head->raw_len = (u32)len;
    head->packed_len = (u32)n;
    head->events |= (u64)behind << DH_DHT_CALLS_SHIFT;
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, head, offsetof(struct dh_dht_chunk, check));
    XXH64_update(&state, w->packed, n + behind);
    head->check = XXH64_digest(&state);
    u8 bytes[DH_DHT_HEAD_MAX];
    write_all(w, bytes, dh_dht_put_head(bytes, head));
    return write_all(w, w->packed, n + behind);
}

int dh_dht_write_chunk(struct dh_dht_writer *w, struct dh_dht_chunk *head, const void *raw, size_t len)
{
    return dh_dht_write_events(w, head, raw, len, NULL, 0);
}

int dh_dht_write_end(struct dh_dht_writer *w)
{
    struct dh_dht_chunk head = {.type = DH_DHT_END, .first = DH_DHT_NO_TICKET, .events = w->events};
    return dh_dht_write_chunk(w, &head, NULL, 0);
}

void dh_dht_write_done(struct dh_dht_writer *w)
{
    ZSTD_freeCCtx(w->zstd);
    dh_pool_free(w->packed, w->packed_cap);
    w->zstd = w->packed = NULL;
}
