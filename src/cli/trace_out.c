/*
 * trace_out.c - see trace_out.h.
 */
#include "cli/trace_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/dht_columns.h"

enum { NAMES_CHUNK = 1 << 20 };

struct dh_trace_out {
    struct dh_dht_writer writer;
    struct dh_columns_out columns;
    u32 number; /* of the next chunk */
    u8 raw[DH_DHT_ORDERED_BYTES];
    char names[NAMES_CHUNK];
    size_t names_len;
};

int dh_trace_out_new(struct dh_trace_out **ret, int fd)
{
    struct dh_trace_out *o = calloc(1, sizeof(*o));
    *ret = NULL;
    if (!o)
        return -ENOMEM;
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
    dh_dht_write_done(&o->writer);
    free(o);
}

static int end_chunk(struct dh_trace_out *o)
{
    struct dh_dht_chunk head = {
        .type = DH_DHT_ORDERED, .number = o->number, .first = DH_DHT_NO_TICKET, .events = o->columns.n};
    if (o->columns.n == 0)
        return 0;
    o->number++;
    return dh_dht_write_chunk(&o->writer, &head, o->raw, dh_columns_end(&o->columns, o->raw));
}

int dh_trace_out_event(struct dh_trace_out *o, const struct dh_event *e)
{
    struct dh_event out = *e;
    switch (e->op) {
    case DH_OP_SKIP:
    case DH_OP_RANGE_NEW: /* memory has no names */
    case DH_OP_RANGE_FREE:
    case DH_OP_RANGE_MOVE:
    case DH_OP_RANGE_COPY:
        return 1;
    default:
        break;
    }
    if (dh_event_space(e->op) == DH_SPACE_NONE)
        out.target = 0;
    if (dh_columns_put(&o->columns, &out))
        return 0;
    int rc = end_chunk(o);
    dh_columns_put(&o->columns, &out);
    return rc;
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
    int rc = end_chunk(o);
    if (!rc)
        rc = end_names(o);
    return rc ? rc : dh_dht_write_end(&o->writer);
}
