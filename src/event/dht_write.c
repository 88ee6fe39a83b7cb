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

/* Level 3: packing runs beside the program and keeps up with it; more is not much smaller. */
enum { LEVEL = 3 };

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

int dh_dht_write_chunk(struct dh_dht_writer *w, struct dh_dht_chunk *head, const void *raw, size_t len)
{
    if (w->error)
        return w->error;
    if (len > DH_DHT_TABLE_BYTES)
        return -EMSGSIZE;
    size_t bound = ZSTD_compressBound(len);
    if (bound > w->packed_cap) {
        void *more = dh_pool_alloc(bound);
        if (!more)
            return w->error = -ENOMEM;
        dh_pool_free(w->packed, w->packed_cap);
        w->packed = more;
        w->packed_cap = bound;
    }
    const void *payload = w->packed;
    size_t n = ZSTD_compressCCtx(w->zstd, w->packed, w->packed_cap, raw, len, LEVEL);
    /* What was made from text is read over and over, and fast only if it need not be unpacked. */
    bool pays = head->type == DH_DHT_ORDERED ? n < len - len / 3 : n < len;
    if (ZSTD_isError(n) || !pays) {
        payload = raw;
        n = len;
    }
    head->magic = DH_DHT_CHUNK_MAGIC;
    head->raw_len = (u32)len;
    head->packed_len = (u32)n;
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, head, offsetof(struct dh_dht_chunk, check));
    XXH64_update(&state, payload, n);
    head->check = XXH64_digest(&state);
    if (head->type == DH_DHT_EVENTS || head->type == DH_DHT_WORDS || head->type == DH_DHT_ORDERED)
        w->events += head->events;
    write_all(w, head, sizeof(*head));
    return write_all(w, payload, n);
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
