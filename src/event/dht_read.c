/*
 * dht_read.c - see dht_read.h: the file, its chunks and tables.
 */
#include <errno.h>
#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the state of a hash on the stack */
#include <xxhash.h>
#include <zstd.h>

#include "base/fmt.h"
#include "base/pool.h"
#include "base/sys.h"
#include "event/dht_head.h"
#include "event/dht_reader.h"

enum { CALLS_MAX = DH_DHT_CHUNK_BYTES + DH_VARINT_MAX };

int dh_dht_bad(struct dh_dht *r, u64 offset, const char *what)
{
    struct dh_fmt f;
    dh_fmt_init(&f, r->error, sizeof(r->error));
    dh_fmt_str(&f, "offset ");
    dh_fmt_u64(&f, offset);
    dh_fmt_str(&f, ": ");
    dh_fmt_str(&f, what);
    return -EBADMSG;
}

bool dh_dht_grow(void **items, u32 n, u32 *cap, size_t size)
{
    if (n < *cap)
        return true;
    u32 more = *cap ? *cap * 2 : 64;
    void *p = more ? dh_pool_alloc(more * size) : NULL;
    if (!p)
        return false;
    if (n)
        memcpy(p, *items, n * size);
    dh_pool_free(*items, *cap * size);
    *items = p;
    *cap = more;
    return true;
}

/* n bytes at offset; fewer only at the end of the file. How many, or a negative errno. */
static long read_at(struct dh_dht *r, u64 offset, void *buf, size_t n)
{
    size_t got = 0;
    while (got < n) {
        long k = dh_sys6(SYS_pread64, r->fd, (long)((char *)buf + got), (long)(n - got), (long)(offset + got),
                         0, 0);
        if (k == -EINTR)
            continue;
        if (k < 0)
            return k;
        if (k == 0)
            break;
        got += (size_t)k;
    }
    return (long)got;
}

/* The head at offset. How many bytes it is; 0: the file ends before it does, *ret_left says after how many;
 * or a negative errno, which is -EBADMSG if there is no head. */
static int read_head(struct dh_dht *r, u64 offset, struct dh_dht_chunk *ret, long *ret_left)
{
    u8 bytes[DH_DHT_HEAD_MAX];
    *ret_left = read_at(r, offset, bytes, sizeof(bytes));
    return *ret_left < 0 ? (int)*ret_left : dh_dht_get_head(r->version, bytes, (size_t)*ret_left, ret);
}

/* The packed bytes of a chunk, checked and unpacked into `raw`, which has room for them. */
static int unpack(struct dh_dht *r, u64 offset, const struct dh_dht_chunk *head, u32 head_len, u8 *raw)
{
    size_t len = (size_t)head->packed_len + dh_dht_calls_len(head);
    if (len > r->buf_cap) {
        u8 *buf = dh_pool_alloc(len);
        if (!buf)
            return -ENOMEM;
        dh_pool_free(r->buf, r->buf_cap);
        r->buf = buf;
        r->buf_cap = len;
    }
    long n = read_at(r, offset + head_len, r->buf, len);
    if (n < 0)
        return (int)n;
    r->pass_bytes += (u64)n + head_len;
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, head, offsetof(struct dh_dht_chunk, check));
    XXH64_update(&state, r->buf, (size_t)n);
    if ((size_t)n != len || XXH64_digest(&state) != head->check)
        return dh_dht_bad(r, offset, "the checksum of the chunk is wrong");
    if (head->packed_len == head->raw_len) {
        if (head->raw_len)
            memcpy(raw, r->buf, head->raw_len);
        return 0;
    }
    size_t got = ZSTD_decompressDCtx(r->zstd, raw, head->raw_len, r->buf, head->packed_len);
    return got == head->raw_len
               ? 0
               : dh_dht_bad(r, offset, "the chunk does not unpack to the length its head says");
}

/* ---- The index ---- */

static struct dh_dht_stream *stream_of(struct dh_dht *r, u32 uid)
{
    if (uid == DH_DHT_NOBODY && r->nobody)
        return r->nobody;
    while (uid != DH_DHT_NOBODY && uid >= r->by_uid_cap) {
        u32 cap = r->by_uid_cap;
        if (!dh_dht_grow((void **)&r->by_uid, cap, &r->by_uid_cap, sizeof(*r->by_uid)))
            return NULL;
    }
    if (uid != DH_DHT_NOBODY && r->by_uid[uid])
        return r->streams[r->by_uid[uid] - 1];
    if (!dh_dht_grow((void **)&r->streams, r->n_streams, &r->cap_streams, sizeof(struct dh_dht_stream *)))
        return NULL;
    struct dh_dht_stream *s = dh_pool_alloc(sizeof(*s));
    if (!s)
        return NULL;
    s->uid = uid;
    s->thread = UINT32_MAX;
    r->streams[r->n_streams++] = s;
    if (uid == DH_DHT_NOBODY)
        r->nobody = s;
    else
        r->by_uid[uid] = r->n_streams;
    return s;
}

static int index_events(struct dh_dht *r, u64 offset, const struct dh_dht_chunk *head, u32 head_len)
{
    bool ordered = head->type == DH_DHT_ORDERED;
    u32 calls = dh_dht_calls_len(head);
    u64 events = head->events - ((u64)calls << DH_DHT_CALLS_SHIFT);
    if (ordered != ((r->flags & DH_DHT_NAMED) != 0))
        return dh_dht_bad(r, offset, "the chunk belongs into another kind of file");
    if (ordered ? head->thread != 0 : head->thread >= DH_DHT_THREADS && head->thread != DH_DHT_NOBODY)
        return dh_dht_bad(r, offset, "the chunk is of an impossible thread");
    if (head->raw_len > (ordered ? (u32)DH_DHT_ORDERED_BYTES : (u32)DH_DHT_CHUNK_BYTES) ||
        events > DH_DHT_CHUNK_EVENTS || events == 0)
        return dh_dht_bad(r, offset, "the chunk has an impossible number of events");
    if (calls > (r->version < DH_DHT_WITH_CALLS ? 0 : CALLS_MAX))
        return dh_dht_bad(r, offset, "the contexts of the chunk have an impossible length");
    struct dh_dht_stream *s = stream_of(r, head->thread);
    if (!s || !dh_dht_grow((void **)&s->refs, s->n, &s->cap, sizeof(*s->refs)))
        return -ENOMEM;
    /* Chunks of one thread come nearly in order: its slots are packed as they are found. */
    u32 at = s->n++;
    for (; at > 0 && s->refs[at - 1].number > head->number; at--)
        s->refs[at] = s->refs[at - 1];
    s->refs[at] = (struct dh_dht_ref){.offset = offset,
                                      .first = head->first,
                                      .events = events,
                                      .raw_len = head->raw_len,
                                      .packed_len = head->packed_len,
                                      .calls_len = calls,
                                      .head_len = head_len,
                                      .number = head->number,
                                      .so_far = head->type == DH_DHT_SO_FAR,
                                      .words = head->type == DH_DHT_WORDS};
    r->counted_here += head->type == DH_DHT_SO_FAR ? 0 : events;
    return 0;
}

/* ---- Tables ---- */

static bool append(void **to, u64 *len, u64 *cap, const void *from, u64 n)
{
    if (*len + n > *cap) {
        u64 more = *cap ? *cap : 4096;
        while (more < *len + n)
            more *= 2;
        void *p = dh_pool_alloc(more);
        if (!p)
            return false;
        if (*len)
            memcpy(p, *to, *len);
        dh_pool_free(*to, *cap);
        *to = p;
        *cap = more;
    }
    if (n)
        memcpy((char *)*to + *len, from, n);
    *len += n;
    return true;
}

static int take_modules(struct dh_dht *r, u64 offset, const u8 *raw, u32 len)
{
    bool old = r->version < DH_DHT_WITH_CALLS;
    size_t size = old ? (size_t)DH_DHT_OLD_MODULE : sizeof(struct dh_dht_module);
    for (u32 at = 0; at < len;) {
        struct dh_dht_module m = {0};
        if (len - at < size)
            return dh_dht_bad(r, offset, "a module is cut short");
        memcpy(&m, raw + at, size);
        at += (u32)size;
        m.tls_below = old ? 0 : m.tls_below;
        if (m.path_len > len - at || m.build_id_len > sizeof(m.build_id))
            return dh_dht_bad(r, offset, "a module is cut short");
        if (!append((void **)&r->modules, &r->modules_len, &r->modules_cap, &m, sizeof(m)) ||
            !append((void **)&r->modules, &r->modules_len, &r->modules_cap, raw + at, m.path_len))
            return -ENOMEM;
        at += m.path_len;
    }
    return 0;
}

static bool parse_number(const u8 **at, const u8 *end, u32 base, u64 *ret)
{
    const u8 *start = *at;
    u64 v = 0;
    for (; *at < end; ++*at) {
        u8 c = **at;
        u32 digit = c >= '0' && c <= '9' ? c - (u32)'0' : c >= 'a' && c <= 'f' ? c - 'a' + 10u : 99;
        if (digit >= base || v > UINT64_MAX / base - 1)
            break;
        v = v * base + digit;
    }
    *ret = v;
    return *at > start;
}

static int take_symbols(struct dh_dht *r, u64 offset, const u8 *raw, u32 len)
{
    const u8 *at = raw, *end = raw + len;
    while (at < end) {
        const u8 *stop = memchr(at, '\n', (size_t)(end - at));
        u64 pc;
        if (!stop || !parse_number(&at, stop, 16, &pc) || *at != '\t')
            return dh_dht_bad(r, offset, "a symbol is not as it should be");
        at++;
        u32 n = dh_pages_add(&r->symbol_keys, pc);
        if (n == DH_PAGES_NONE ||
            !dh_dht_grow((void **)&r->symbol_at, n, &r->symbol_cap, sizeof(*r->symbol_at)))
            return -ENOMEM;
        r->symbol_at[n] = r->symbols_len;
        if (!append((void **)&r->symbols, &r->symbols_len, &r->symbols_cap, at, (u64)(stop - at)) ||
            !append((void **)&r->symbols, &r->symbols_len, &r->symbols_cap, "", 1))
            return -ENOMEM;
        at = stop + 1;
    }
    return 0;
}

static int take_names(struct dh_dht *r, u64 offset, const u8 *raw, u32 len)
{
    const u8 *at = raw, *end = raw + len;
    while (at < end) {
        const u8 *stop = memchr(at, '\n', (size_t)(end - at));
        static const char kinds[] = "tlv";
        const char *kind = stop ? memchr(kinds, *at, 3) : NULL;
        u64 number;
        if (!kind || stop - at < 4 || at[1] != ' ')
            return dh_dht_bad(r, offset, "a name is not as it should be");
        at += 2;
        struct dh_names *names = &r->names[kind - kinds];
        if (!parse_number(&at, stop, 10, &number) || *at != ' ' || number != names->n)
            return dh_dht_bad(r, offset, "names are not in order");
        at++;
        u32 n = dh_names_intern(names, (const char *)at, (size_t)(stop - at));
        if (n == UINT32_MAX)
            return -ENOMEM;
        if (n != number)
            return dh_dht_bad(r, offset, "a name stands for two things");
        at = stop + 1;
    }
    return 0;
}

static int take_table(struct dh_dht *r, u64 offset, const struct dh_dht_chunk *head, u32 head_len)
{
    r->tables +=
        head->type == DH_DHT_NAMES ? 0 : head->raw_len; /* names are all different: they pack little */
    if (r->tables > DH_DHT_TABLES_BYTES)
        return dh_dht_bad(r, offset, "the tables of modules, symbols and contexts are larger than 256 MB");
    if (head->type == DH_DHT_STACKS) {
        if (!dh_dht_grow((void **)&r->stacks.refs, r->stacks.n, &r->stacks.refs_cap, sizeof(*r->stacks.refs)))
            return -ENOMEM;
        r->stacks.refs[r->stacks.n++] =
            (struct dh_dht_ref){.offset = offset, .raw_len = head->raw_len, .packed_len = head->packed_len};
        return 0;
    }
    u8 *raw = dh_pool_alloc(head->raw_len + 1);
    if (!raw)
        return -ENOMEM;
    int rc = unpack(r, offset, head, head_len, raw);
    if (!rc && head->type == DH_DHT_MODULES)
        rc = take_modules(r, offset, raw, head->raw_len);
    else if (!rc && head->type == DH_DHT_SYMBOLS)
        rc = take_symbols(r, offset, raw, head->raw_len);
    else if (!rc)
        rc = take_names(r, offset, raw, head->raw_len);
    dh_pool_free(raw, head->raw_len + 1);
    return rc;
}

static int take_chunk(struct dh_dht *r, u64 offset, const struct dh_dht_chunk *head, u32 head_len)
{
    if (head->packed_len > head->raw_len || head->raw_len > DH_DHT_TABLE_BYTES)
        return dh_dht_bad(r, offset, "the chunk has an impossible length");
    r->chunks++;
    switch (head->type) {
    case DH_DHT_EVENTS:
    case DH_DHT_SO_FAR:
    case DH_DHT_WORDS:
    case DH_DHT_ORDERED:
        return index_events(r, offset, head, head_len);
    case DH_DHT_MODULES:
    case DH_DHT_SYMBOLS:
    case DH_DHT_NAMES:
    case DH_DHT_STACKS:
        return take_table(r, offset, head, head_len);
    case DH_DHT_END:
        if (head->raw_len != 0)
            return dh_dht_bad(r, offset, "the last chunk is not empty");
        r->complete = true;
        r->counted = head->events;
        return unpack(r, offset, head, head_len, NULL); /* its checksum */
    default:
        return dh_dht_bad(r, offset, "the chunk is of an unknown kind");
    }
}

/* All chunks; a last one that is cut short is where the recorder was killed. */
static int scan(struct dh_dht *r)
{
    u64 offset = sizeof(struct dh_dht_header);
    for (;;) {
        struct dh_dht_chunk head;
        long left;
        int n = read_head(r, offset, &head, &left);
        if (left < 0)
            return n;
        if (left == 0 || (n == 0 && !r->complete))
            break;
        if (r->complete)
            return dh_dht_bad(r, offset, "there is something behind the last chunk");
        if (n < 0)
            return dh_dht_bad(r, offset, "no chunk begins here");
        u64 end = offset + (u32)n + head.packed_len + dh_dht_calls_len(&head);
        if (end > r->size)
            break;
        int rc = take_chunk(r, offset, &head, (u32)n);
        if (rc)
            return rc;
        offset = end;
    }
    if (r->complete && r->counted != r->counted_here)
        return dh_dht_bad(r, offset, "the file has not as many events as its end says");
    return 0;
}

/* Of several chunks with one number, in file order, the last is valid if the others were incomplete
 * (SO_FAR). */
static void drop_superseded(struct dh_dht_stream *s)
{
    u32 kept = 0;
    for (u32 k = 0; k < s->n; k++) {
        if (kept > 0 && s->refs[kept - 1].number == s->refs[k].number && s->refs[kept - 1].so_far)
            kept--;
        s->refs[kept++] = s->refs[k];
    }
    s->n = kept;
}

/* A thread's chunks have no gap; after one, where the recorder was killed, nothing is usable. */
static int check_numbers(struct dh_dht *r)
{
    for (u32 i = 0; i < r->n_streams; i++) {
        struct dh_dht_stream *s = r->streams[i];
        drop_superseded(s);
        for (u32 k = 0; k < s->n; k++) {
            if (s->refs[k].number == k)
                continue;
            if (r->complete || s->refs[k].number < k)
                return dh_dht_bad(r, s->refs[k].offset, "chunks of this thread are missing or twice there");
            s->n = k;
        }
        for (u32 k = 0; k < s->n; k++) {
            r->stored += s->refs[k].events;
            u64 packed = s->refs[k].packed_len + s->refs[k].calls_len + s->refs[k].head_len;
            bool once = (r->flags & DH_DHT_NAMED) || s->refs[k].words;
            r->packed += packed;
            r->pass_total += once ? packed : 2 * packed;
            r->raw += s->refs[k].raw_len;
        }
    }
    return 0;
}

/* ---- Loading events ---- */

u64 dh_dht_offset(const struct dh_dht_stream *s)
{
    return s->next ? s->refs[s->next - 1].offset : 0;
}

void dh_dht_unload(struct dh_dht_stream *s)
{
    dh_pool_free(s->raw, DH_DHT_CHUNK_BYTES);
    dh_pool_free(s->decoder, sizeof(*s->decoder));
    dh_pool_free(s->calls, sizeof(*s->calls));
    s->raw = NULL;
    s->decoder = NULL;
    s->calls = NULL;
}

int dh_dht_unpack_ref(struct dh_dht *r, const struct dh_dht_ref *ref, u8 *raw)
{
    struct dh_dht_chunk head;
    long left;
    int n = read_head(r, ref->offset, &head, &left);
    if (left < 0)
        return n;
    if (n <= 0 || head.raw_len != ref->raw_len || head.packed_len != ref->packed_len ||
        dh_dht_calls_len(&head) != ref->calls_len)
        return dh_dht_bad(r, ref->offset, "the file changes while it is read");
    return unpack(r, ref->offset, &head, (u32)n, raw);
}

/* The contexts of the chunk that was unpacked last, whose bytes are still there. */
static int load_calls(struct dh_dht *r, struct dh_dht_stream *s, const struct dh_dht_ref *ref)
{
    const u8 *at = r->buf + ref->packed_len, *end = at + ref->calls_len;
    u64 n = 0;
    if (!s->calls && !(s->calls = dh_pool_alloc(sizeof(*s->calls))))
        return -ENOMEM;
    bool ok = at == end || (dh_varint_get(&at, end, &n) && n <= DH_DHT_CHUNK_BYTES);
    size_t left = (size_t)(end - at);
    if (ok && left >= n)
        memcpy(s->calls->raw, at, n);
    else if (ok)
        ok = ZSTD_decompressDCtx(r->zstd, s->calls->raw, n, at, left) == n;
    if (!ok)
        return dh_dht_bad(r, ref->offset, "the contexts of the chunk do not unpack");
    dh_dht_calls_begin(&s->calls->in, s->calls->raw, n);
    return 0;
}

int dh_dht_load(struct dh_dht *r, struct dh_dht_stream *s)
{
    if (s->next == s->n) {
        dh_dht_unload(s);
        return 0;
    }
    const struct dh_dht_ref *ref = &s->refs[s->next++];
    if (!s->raw &&
        (!(s->raw = dh_pool_alloc(DH_DHT_CHUNK_BYTES)) || !(s->decoder = dh_pool_alloc(sizeof(*s->decoder)))))
        return -ENOMEM;
    int rc = dh_dht_unpack_ref(r, ref, s->raw);
    if (!rc && r->watch)
        rc = load_calls(r, s, ref);
    if (rc)
        return rc;
    dh_dht_decode_begin(s->decoder, s->raw, ref->raw_len, ref->events);
    return 1;
}

/* ---- Opening ---- */

static int open_file(struct dh_dht *r)
{
    struct dh_dht_header h;
    long size = dh_sys3(SYS_lseek, r->fd, 0, 2 /* SEEK_END */);
    if (size < 0)
        return (int)size;
    r->size = (u64)size;
    long n = read_at(r, 0, &h, sizeof(h));
    if (n < 0)
        return (int)n;
    if ((size_t)n < sizeof(h) || memcmp(h.magic, DH_DHT_MAGIC, sizeof(h.magic)) != 0)
        return dh_dht_bad(r, 0, "this is no recording of deadheat");
    if (h.version > DH_DHT_VERSION)
        return dh_dht_bad(r, 8, "the recording is of a newer version of deadheat; use that one to read it");
    if (h.version == DH_DHT_DRAFT)
        return dh_dht_bad(r, 8, "the recording is of version 3, which was a draft; record the program again");
    if (h.version < DH_DHT_OLDEST)
        return dh_dht_bad(r, 8, "the recording is of a version of deadheat that never was");
    if (h.check != XXH64(&h, offsetof(struct dh_dht_header, check), 0) || (h.flags & ~(u32)DH_DHT_NAMED))
        return dh_dht_bad(r, 0, "the checksum of the header is wrong");
    r->version = h.version;
    r->flags = h.flags;
    r->pid = h.pid;
    int rc = scan(r);
    if (!rc)
        rc = check_numbers(r);
    if (rc || (r->flags & DH_DHT_NAMED) || r->tables_only)
        return rc;
    rc = dh_dht_cut(r);
    return rc ? rc : dh_dht_merge_begin(r);
}

static int open_as(struct dh_dht **ret, int fd, bool tables_only)
{
    struct dh_dht *r = dh_pool_alloc(sizeof(*r));
    if (!r)
        return -ENOMEM;
    r->fd = fd;
    r->tables_only = tables_only;
    r->cut = DH_DHT_NO_TICKET;
    r->zstd = ZSTD_createDCtx();
    int rc = r->zstd ? open_file(r) : -ENOMEM;
    if (rc == -ENOMEM)
        dh_dht_bad(r, 0, "no memory");
    *ret = r;
    return rc;
}

int dh_dht_open(struct dh_dht **ret, int fd)
{
    return open_as(ret, fd, false);
}

int dh_dht_open_tables(struct dh_dht **ret, int fd)
{
    return open_as(ret, fd, true);
}

void dh_dht_close(struct dh_dht *r)
{
    if (!r)
        return;
    for (u32 i = 0; i < r->n_streams; i++) {
        struct dh_dht_stream *s = r->streams[i];
        dh_dht_unload(s);
        dh_pool_free(s->refs, s->cap * sizeof(*s->refs));
        dh_pool_free(s, sizeof(*s));
    }
    dh_pool_free(r->streams, r->cap_streams * sizeof(*r->streams));
    dh_pool_free(r->heap, r->cap_streams * sizeof(*r->heap));
    dh_pool_free(r->by_uid, r->by_uid_cap * sizeof(*r->by_uid));
    dh_pool_free(r->dense, r->dense_cap * sizeof(*r->dense));
    dh_pool_free(r->threads, r->cap_threads * sizeof(*r->threads));
    dh_pool_free(r->buf, r->buf_cap);
    dh_pool_free(r->modules, r->modules_cap);
    dh_pool_free(r->symbols, r->symbols_cap);
    dh_pool_free(r->symbol_at, r->symbol_cap * sizeof(*r->symbol_at));
    dh_pool_free(r->moves, r->cap_moves * sizeof(*r->moves));
    dh_pool_free(r->language, r->cap_language * sizeof(*r->language));
    dh_dht_named_done(r);
    dh_dht_stacks_done(r);
    dh_pages_done(&r->symbol_keys);
    dh_pages_done(&r->sites);
    dh_cells_done(&r->cells);
    dh_objects_done(&r->objects);
    dh_form_done(&r->form);
    for (u32 i = 0; i < DH_ARRAY_LEN(r->names); i++)
        dh_names_done(&r->names[i]);
    ZSTD_freeDCtx(r->zstd);
    dh_pool_free(r, sizeof(*r));
}
