/*
 * trace_out.c - see trace_out.h.
 */
#include "cli/trace_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/dht_code.h"

enum { NAMES_CHUNK = 1 << 20 };

struct stream {
    u8 *buf;
    u32 number;
    struct dh_dht_encoder code;
};

struct dh_trace_out {
    struct dh_dht_writer writer;
    struct stream **streams; /* by thread; NULL: not seen yet */
    u32 cap;
    u32 last; /* thread of the last event */
    u64 ticket;
    char *names;
    size_t names_len;
};

int dh_trace_out_new(struct dh_trace_out **ret, int fd)
{
    struct dh_trace_out *o = calloc(1, sizeof(*o));
    *ret = NULL;
    if (!o || !(o->names = malloc(NAMES_CHUNK))) {
        free(o);
        return -ENOMEM;
    }
    o->last = UINT32_MAX;
    int rc = dh_dht_write_begin(&o->writer, fd, DH_DHT_NAMED, 0);
    if (rc) {
        dh_trace_out_free(o);
        return rc;
    }
    *ret = o;
    return 0;
}

void dh_trace_out_free(struct dh_trace_out *o)
{
    if (!o)
        return;
    for (u32 i = 0; i < o->cap; i++) {
        if (o->streams[i])
            free(o->streams[i]->buf);
        free(o->streams[i]);
    }
    free(o->streams);
    free(o->names);
    dh_dht_write_done(&o->writer);
    free(o);
}

static struct stream *stream_of(struct dh_trace_out *o, u32 thread)
{
    if (thread >= o->cap) {
        u32 cap = o->cap ? o->cap : 64;
        while (cap <= thread)
            cap *= 2;
        struct stream **grown = realloc(o->streams, cap * sizeof(struct stream *));
        if (!grown)
            return NULL;
        memset(grown + o->cap, 0, (cap - o->cap) * sizeof(struct stream *));
        o->streams = grown;
        o->cap = cap;
    }
    struct stream *s = o->streams[thread];
    if (!s && (s = calloc(1, sizeof(*s)))) {
        s->buf = malloc(DH_DHT_CHUNK_BYTES);
        if (!s->buf) {
            free(s);
            return NULL;
        }
        o->streams[thread] = s;
        dh_dht_encode_begin(&s->code, s->buf, DH_DHT_CHUNK_BYTES);
    }
    return s;
}

static int end_chunk(struct dh_trace_out *o, u32 thread)
{
    struct stream *s = o->streams[thread];
    if (s->code.events == 0)
        return 0;
    dh_dht_encode_flush(&s->code);
    struct dh_dht_chunk head = {.type = DH_DHT_EVENTS,
                                .thread = thread,
                                .number = s->number++,
                                .first = s->code.first,
                                .events = s->code.events};
    int rc = dh_dht_write_chunk(&o->writer, &head, s->buf, (size_t)(s->code.at - s->buf));
    dh_dht_encode_begin(&s->code, s->buf, DH_DHT_CHUNK_BYTES);
    return rc;
}

static int put(struct dh_trace_out *o, u32 thread, struct dh_dht_event *e)
{
    struct stream *s = stream_of(o, thread);
    u32 operands = dh_dht_operands(e->op);
    if (!s)
        return -ENOMEM;
    if (!dh_dht_encode_fits(&s->code)) {
        int rc = end_chunk(o, thread);
        if (rc)
            return rc;
    }
    if (operands & DH_DHT_HAS_TICKET)
        e->ticket = o->ticket++;
    if (operands)
        dh_dht_encode_slow(&s->code, e, operands);
    else
        dh_dht_encode_access(&s->code, e->addr, e->size, e->op, e->mode, e->pc);
    return 0;
}

int dh_trace_out_event(struct dh_trace_out *o, const struct dh_event *e)
{
    bool access = dh_event_is_access(e);
    u32 operands = dh_dht_operands(e->op);
    /* Atomic operations are whole in this format, their accesses are not apart; memory has no names. */
    if ((operands & (DH_DHT_BAD_OP | DH_DHT_HAS_BYTES)) || (access && (e->mode & DH_ATOMIC)))
        return 1;
    if (e->thread != o->last && !(operands & DH_DHT_HAS_TICKET)) {
        struct dh_dht_event mark = {.op = DH_DHT_OP_MARK};
        int rc = put(o, e->thread, &mark);
        if (rc)
            return rc;
    }
    o->last = e->thread;
    struct dh_dht_event out = {.pc = e->site,
                               .addr = access ? (u64)e->target * 8 : e->target,
                               .size = access ? 8 : 0,
                               .op = e->op,
                               .mode = e->mode};
    return put(o, e->thread, &out);
}

static int end_names(struct dh_trace_out *o)
{
    struct dh_dht_chunk head = {.type = DH_DHT_NAMES, .first = DH_DHT_NO_TICKET};
    int rc = o->names_len ? dh_dht_write_chunk(&o->writer, &head, o->names, o->names_len) : 0;
    o->names_len = 0;
    return rc;
}

int dh_trace_out_name(struct dh_trace_out *o, char kind, u32 number, const char *name)
{
    size_t need = strlen(name) + 32;
    if (need > NAMES_CHUNK)
        return -EMSGSIZE;
    if (o->names_len + need > NAMES_CHUNK) {
        int rc = end_names(o);
        if (rc)
            return rc;
    }
    o->names_len += (size_t)snprintf(o->names + o->names_len, need, "%c %u %s\n", kind, number, name);
    return 0;
}

int dh_trace_out_end(struct dh_trace_out *o)
{
    int rc = 0;
    for (u32 i = 0; i < o->cap && !rc; i++)
        if (o->streams[i])
            rc = end_chunk(o, i);
    if (!rc)
        rc = end_names(o);
    return rc ? rc : dh_dht_write_end(&o->writer);
}
