/*
 * intercept/stream.c - see stream.h; docs/design/io.md says what counts as an access, and why.
 *
 * A buffer given by setvbuf belongs to the stream until it is closed or gets another one: what is in it is
 * indeterminate, says C, so every call on the stream counts as a write to all of it. The stream's lock keeps
 * two such calls apart, and orders nothing else (intercept/stdio.c). So they are recorded as atomic: they do
 * not race with each other, and race with every other access. When the stream gives the buffer back, all of
 * them are over, and only the call that did so is left in the history.
 *
 * The memory behind fmemopen and open_memstream is where the data goes, and one thread finds there what
 * another has put there. That is synchronisation like that of a pipe, in both directions since a call also
 * depends on the place that earlier ones left: the stream's lock is an edge for these. It is held until the
 * call is recorded, so that calls are recorded in the order in which they happen.
 *
 * fmemopen: the bytes from the place where a call begins to that where it ends are read or written by it.
 * What is written may wait in libc until it is flushed, so flushing writes it once more, with the NUL behind
 * it. open_memstream: text, size and the pointer to the text are written by fflush and fclose; libc's own
 * blocks go through our malloc and free.
 *
 * Streams beyond the last slot are not remembered.
 */
#define _GNU_SOURCE 1
#define __NO_INLINE__ 1 /* or libc's headers define functions that are defined here */
#include "runtime/intercept/stream.h"

#include "runtime/intercept/touch.h"
#include "runtime/sink/sink.h"

struct dh_stream {
    FILE *file; /* NULL: free; BUSY: belongs to the thread that set it */
    /* setvbuf */
    char *buffer; /* NULL: none */
    size_t buffer_size;
    u64 user; /* who wrote it last, and in which epoch */
    /* fmemopen */
    char *memory; /* NULL: none */
    size_t memory_size;
    size_t waits_lo, waits_hi; /* written and not flushed; under the stream's lock */
    /* open_memstream */
    char **ret_text; /* NULL: none */
    size_t *ret_size;
};

#define BUSY ((FILE *)1)
static struct dh_stream streams[256];
static u32 streams_end; /* no slot from here on was ever taken */
u32 dh_streams;

extern DH_HIDDEN size_t (*dh_real_strnlen)(const char *, size_t);
extern DH_HIDDEN void (*dh_real_flockfile)(FILE *);
extern DH_HIDDEN void (*dh_real_funlockfile)(FILE *);

/* ---- Which there are ---------------------------------------------------------------------------- */

struct dh_stream *dh_stream_find(FILE *f)
{
    u32 end = __atomic_load_n(&streams_end, __ATOMIC_ACQUIRE);
    for (u32 i = 0; f != NULL && i < end; i++)
        if (__atomic_load_n(&streams[i].file, __ATOMIC_ACQUIRE) == f)
            return &streams[i];
    return NULL;
}

/* With the fields of `is`. NULL: there are too many. */
static struct dh_stream *add(FILE *f, struct dh_stream is)
{
    for (u32 i = 0; i < DH_ARRAY_LEN(streams); i++) {
        FILE *none = NULL;
        if (!__atomic_compare_exchange_n(&streams[i].file, &none, BUSY, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        is.file = BUSY;
        streams[i] = is;
        u32 end = __atomic_load_n(&streams_end, __ATOMIC_RELAXED);
        while (end <= i && !__atomic_compare_exchange_n(&streams_end, &end, i + 1, false, __ATOMIC_ACQ_REL,
                                                        __ATOMIC_RELAXED))
            ;
        __atomic_store_n(&streams[i].file, f, __ATOMIC_RELEASE);
        __atomic_add_fetch(&dh_streams, 1, __ATOMIC_RELEASE);
        return &streams[i];
    }
    return NULL;
}

/* Its slot is BUSY. */
static void drop(struct dh_stream *s)
{
    dh_sink_forget(s, sizeof *s);
    __atomic_sub_fetch(&dh_streams, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&s->file, NULL, __ATOMIC_RELEASE);
}

/* ---- What a call touches ------------------------------------------------------------------------ */

static void write_buffer(struct dh_thread *t, struct dh_stream *s)
{
    u64 me = (u64)dh_uid_raw(dh_thread_uid(t)) << 32 | t->stamp;
    if (s->buffer == NULL || (!dh_sink_wants_all() && __atomic_load_n(&s->user, __ATOMIC_RELAXED) == me))
        return;
    dh_sink_access(t, s->buffer, s->buffer_size, DH_WRITE | DH_ATOMIC | DH_RANGE);
    me = (u64)dh_uid_raw(dh_thread_uid(t)) << 32 | t->stamp; /* to record may begin a new run of ids */
    __atomic_store_n(&s->user, me, __ATOMIC_RELAXED);
}

/* The stream does not use its buffer any more. */
static void give_buffer_back(struct dh_thread *t, struct dh_stream *s)
{
    if (s->buffer == NULL)
        return;
    s->user = 0;
    write_buffer(t, s);
    dh_sink_clear(t, s->buffer, s->buffer_size);
    s->user = 0;
    write_buffer(t, s);
    s->buffer = NULL;
}

static void touch_memory(struct dh_thread *t, const struct dh_stream *s, size_t lo, size_t hi, u32 kind)
{
    hi = hi < s->memory_size ? hi : s->memory_size;
    if (lo < hi)
        dh_sink_access(t, s->memory + lo, hi - lo, kind | DH_RANGE);
}

/* A call that began at `at` is done; `now` is where the stream is. */
static void moved(struct dh_thread *t, struct dh_stream *s, enum dh_stream_way way, long at, long now)
{
    if (way == DH_STREAM_SEEK || way == DH_STREAM_FLUSH) {
        if (s->waits_lo < s->waits_hi)
            touch_memory(t, s, s->waits_lo, s->waits_hi + 1, DH_WRITE);
        s->waits_lo = s->waits_hi = 0;
        return;
    }
    if (at < 0 || now <= at)
        return;
    size_t lo = (size_t)at, hi = (size_t)now;
    touch_memory(t, s, lo, hi, way == DH_STREAM_OUT ? DH_WRITE : DH_READ);
    if (way == DH_STREAM_OUT) {
        s->waits_lo = s->waits_lo < s->waits_hi && s->waits_lo < lo ? s->waits_lo : lo;
        s->waits_hi = s->waits_hi > hi ? s->waits_hi : hi;
    }
}

static void shown(struct dh_thread *t, const struct dh_stream *s)
{
    DH_TOUCH_OUT(t, s->ret_text);
    DH_TOUCH_OUT(t, s->ret_size);
    if (*s->ret_text != NULL)
        dh_touch_write(t, *s->ret_text, *s->ret_size + 1);
}

static long place_of(FILE *f)
{
    int saved = errno;
    long at = ftell(f);
    errno = saved;
    return at;
}

/* ---- A call ------------------------------------------------------------------------------------- */

void dh_stream_begin(struct dh_stream_call *c, struct dh_scope *sc, FILE *f, enum dh_stream_way way)
{
    struct dh_stream *s = dh_stream_find(f);
    if (s == NULL)
        return;
    c->stream = s;
    c->way = way;
    write_buffer(sc->t, s);
    if (s->memory == NULL && s->ret_text == NULL)
        return;
    DH_RESOLVE(flockfile);
    DH_RESOLVE(funlockfile);
    dh_scope_block(sc);
    REAL(flockfile)(f);
    dh_scope_unblock(sc);
    c->locked = f;
    dh_order_acquire(sc->t, s);
    if (s->memory != NULL)
        c->at = place_of(f);
}

void dh_stream_leave(struct dh_stream_call *c)
{
    if (DH_UNLIKELY(c->locked != NULL))
        REAL(funlockfile)(c->locked);
    c->locked = NULL;
}

void dh_stream_end(struct dh_stream_call *c, struct dh_thread *t)
{
    struct dh_stream *s = c->stream;
    if (c->locked == NULL)
        return;
    if (s->memory != NULL)
        moved(t, s, c->way, c->at, place_of(c->locked));
    if (s->ret_text != NULL && c->way == DH_STREAM_FLUSH)
        shown(t, s);
    dh_order_release(t, s);
    dh_stream_leave(c);
}

/* NULL: it is none of these. Else it is out of the table. */
struct dh_stream *dh_stream_closes(struct dh_scope *sc, FILE *f)
{
    struct dh_stream_call c = {.stream = NULL};
    if (__atomic_load_n(&dh_streams, __ATOMIC_RELAXED) != 0)
        dh_stream_begin(&c, sc, f, DH_STREAM_FLUSH);
    if (c.stream == NULL)
        return NULL;
    if (c.stream->memory != NULL)
        moved(sc->t, c.stream, DH_STREAM_FLUSH, 0, 0);
    dh_stream_leave(&c);
    __atomic_store_n(&c.stream->file, BUSY, __ATOMIC_RELEASE);
    return c.stream;
}

void dh_stream_closed(struct dh_thread *t, struct dh_stream *s)
{
    if (s == NULL)
        return;
    if (s->ret_text != NULL)
        shown(t, s);
    give_buffer_back(t, s);
    drop(s);
}

/* What waited in any of them is in its memory now. Whether that was so before is not known without their
 * locks: no access, only the order. */
void dh_stream_all_flushed(struct dh_thread *t)
{
    u32 end = __atomic_load_n(&streams_end, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < end; i++)
        if ((uptr)__atomic_load_n(&streams[i].file, __ATOMIC_ACQUIRE) > (uptr)BUSY)
            dh_order_acquire(t, &streams[i]);
}

/* ---- Memory is given ---------------------------------------------------------------------------- */

/* After a call that told f to use these n bytes; NULL: none of the program's. */
static void uses(struct dh_thread *t, FILE *f, char *buffer, size_t n)
{
    struct dh_stream *s = dh_stream_find(f);
    if (s != NULL)
        give_buffer_back(t, s);
    if (s == NULL && buffer != NULL && n != 0)
        s = add(f, (struct dh_stream){.file = NULL});
    if (s == NULL)
        return;
    s->user = 0;
    s->buffer_size = n;
    s->buffer = n != 0 ? buffer : NULL;
    write_buffer(t, s);
    if (s->buffer == NULL && s->memory == NULL && s->ret_text == NULL) {
        __atomic_store_n(&s->file, BUSY, __ATOMIC_RELEASE);
        drop(s);
    }
}

/* Without a buffer only the mode changes, unless it is the one that has none. */
DH_INTERCEPTOR(int, setvbuf, FILE *f, char *buffer, int mode, size_t n)
{
    DH_ENTER(setvbuf, f, buffer, mode, n);
    int rc = DH_BLOCKING(REAL(setvbuf)(f, buffer, mode, n));
    if (rc == 0 && (buffer != NULL || mode == _IONBF))
        uses(sc.t, f, mode != _IONBF ? buffer : NULL, n);
    DH_RETURN(rc);
}

DH_INTERCEPTOR(void, setbuf, FILE *f, char *buffer)
{
    DH_ENTER(setbuf, f, buffer);
    dh_scope_block(&sc);
    REAL(setbuf)(f, buffer);
    dh_scope_unblock(&sc);
    uses(sc.t, f, buffer, BUFSIZ);
    DH_RETURN_VOID;
}

DH_INTERCEPTOR(void, setbuffer, FILE *f, char *buffer, size_t n)
{
    DH_ENTER(setbuffer, f, buffer, n);
    dh_scope_block(&sc);
    REAL(setbuffer)(f, buffer, n);
    dh_scope_unblock(&sc);
    uses(sc.t, f, buffer, n);
    DH_RETURN_VOID;
}

/* "w+" truncates, which is to write a NUL; "a" looks for the end of the text. Without memory it is libc's
 * own. */
DH_INTERCEPTOR(FILE *, fmemopen, void *memory, size_t n, const char *mode)
{
    DH_ENTER(fmemopen, memory, n, mode);
    DH_RESOLVE(strnlen);
    FILE *f = DH_BLOCKING(REAL(fmemopen)(memory, n, mode));
    if (f != NULL && memory != NULL && n != 0) {
        struct dh_stream is = {.memory = memory, .memory_size = n};
        if (mode[0] == 'w' && (mode[1] == '+' || (mode[1] == 'b' && mode[2] == '+')))
            touch_memory(sc.t, &is, 0, 1, DH_WRITE);
        if (mode[0] == 'a')
            touch_memory(sc.t, &is, 0, REAL(strnlen)(memory, n) + 1, DH_READ);
        add(f, is);
    }
    DH_RETURN(f);
}

DH_INTERCEPTOR(FILE *, open_memstream, char **ret_text, size_t *ret_size)
{
    DH_ENTER(open_memstream, ret_text, ret_size);
    FILE *f = DH_BLOCKING(REAL(open_memstream)(ret_text, ret_size));
    if (f != NULL)
        add(f, (struct dh_stream){.ret_text = ret_text, .ret_size = ret_size});
    DH_RETURN(f);
}

/* ---- Calls that matter for these streams alone --------------------------------------------------- */

#define ONLY_KNOWN(f, way, name, ...)   \
    DH_RESOLVE(name);                   \
    if (!dh_stream_known(f))            \
        return REAL(name)(__VA_ARGS__); \
    DH_ENTER(name, __VA_ARGS__);        \
    DH_RETURN(DH_STREAM_CALL(f, way, REAL(name)(__VA_ARGS__)))

DH_INTERCEPTOR(int, fseek, FILE *f, long by, int whence)
{
    ONLY_KNOWN(f, DH_STREAM_SEEK, fseek, f, by, whence);
}

DH_INTERCEPTOR(int, fseeko, FILE *f, off_t by, int whence)
{
    ONLY_KNOWN(f, DH_STREAM_SEEK, fseeko, f, by, whence);
}

DH_INTERCEPTOR(int, fseeko64, FILE *f, off64_t by, int whence)
{
    ONLY_KNOWN(f, DH_STREAM_SEEK, fseeko64, f, by, whence);
}

/* Positions are memory of the program, whichever stream it is. */
#define GO_TO(name)                                \
    DH_ENTER(name, f, to);                         \
    DH_TOUCH_IN(sc.t, to);                         \
    if (!dh_stream_known(f))                       \
        DH_RETURN(DH_BLOCKING(REAL(name)(f, to))); \
    DH_RETURN(DH_STREAM_CALL(f, DH_STREAM_SEEK, REAL(name)(f, to)))

DH_INTERCEPTOR(int, fsetpos, FILE *f, const fpos_t *to)
{
    GO_TO(fsetpos);
}

DH_INTERCEPTOR(int, fsetpos64, FILE *f, const fpos64_t *to)
{
    GO_TO(fsetpos64);
}

#define WHERE(name)                          \
    DH_ENTER(name, f, at);                   \
    int rc = DH_BLOCKING(REAL(name)(f, at)); \
    if (rc == 0)                             \
        DH_TOUCH_OUT(sc.t, at);              \
    DH_RETURN(rc)

DH_INTERCEPTOR(int, fgetpos, FILE *f, fpos_t *at)
{
    WHERE(fgetpos);
}

DH_INTERCEPTOR(int, fgetpos64, FILE *f, fpos64_t *at)
{
    WHERE(fgetpos64);
}

DH_INTERCEPTOR(void, rewind, FILE *f)
{
    DH_RESOLVE(rewind);
    if (!dh_stream_known(f)) {
        REAL(rewind)(f);
        return;
    }
    DH_ENTER(rewind, f);
    (void)DH_STREAM_CALL(f, DH_STREAM_SEEK, (REAL(rewind)(f), 0));
    DH_RETURN_VOID;
}

DH_INTERCEPTOR(int, putw, int w, FILE *f)
{
    ONLY_KNOWN(f, DH_STREAM_OUT, putw, w, f);
}

DH_INTERCEPTOR(int, getw, FILE *f)
{
    ONLY_KNOWN(f, DH_STREAM_IN, getw, f);
}

/* Most of these are inlined, and then libc is only called when the buffer is full, or empty. */

DH_INTERCEPTOR(int, fputc_unlocked, int c, FILE *f)
{
    ONLY_KNOWN(f, DH_STREAM_OUT, fputc_unlocked, c, f);
}

DH_INTERCEPTOR(int, putc_unlocked, int c, FILE *f)
{
    ONLY_KNOWN(f, DH_STREAM_OUT, putc_unlocked, c, f);
}

DH_INTERCEPTOR(int, __overflow, FILE *f, int c)
{
    ONLY_KNOWN(f, DH_STREAM_OUT, __overflow, f, c);
}

DH_INTERCEPTOR(int, fgetc_unlocked, FILE *f)
{
    ONLY_KNOWN(f, DH_STREAM_IN, fgetc_unlocked, f);
}

DH_INTERCEPTOR(int, getc_unlocked, FILE *f)
{
    ONLY_KNOWN(f, DH_STREAM_IN, getc_unlocked, f);
}

DH_INTERCEPTOR(int, __uflow, FILE *f)
{
    ONLY_KNOWN(f, DH_STREAM_IN, __uflow, f);
}
