/*
 * dht_named.c - see dht_read.h: the events of a file made from text, which are in order already.
 *
 * Numbers of threads, locks and variables are those of the file's names, so none can be larger than what the
 * file itself holds.
 */
#include <errno.h>
#include <string.h>

#include "base/pool.h"
#include "event/dht_reader.h"

enum { RAW = DH_DHT_ORDERED_BYTES + DH_COLUMNS_SLACK };

void dh_dht_named_done(struct dh_dht *r)
{
    dh_pool_free(r->named.raw, RAW);
}

/* The next chunk. 1; 0: there is none; or an error. */
static int load(struct dh_dht *r)
{
    struct dh_dht_named *x = &r->named;
    struct dh_dht_stream *s = r->n_streams ? r->streams[0] : NULL;
    if (!s || s->next == s->n)
        return 0;
    if (!x->raw && !(x->raw = dh_pool_alloc(RAW)))
        return -ENOMEM;
    const struct dh_dht_ref *ref = &s->refs[s->next++];
    int rc = dh_dht_unpack_ref(r, ref, x->raw);
    if (rc)
        return rc;
    x->offset = ref->offset;
    if (!dh_columns_begin(&x->in, x->raw, ref->raw_len, ref->events))
        return dh_dht_bad(r, ref->offset, "the columns of the chunk are not as its head says");
    return 1;
}

static u32 names_of(const struct dh_dht *r, u8 op)
{
    switch (dh_event_space(op)) {
    case DH_SPACE_VARIABLE:
        return r->names[2].n;
    case DH_SPACE_LOCK:
        return r->names[1].n;
    case DH_SPACE_THREAD:
        return r->names[0].n;
    default:
        return UINT32_MAX;
    }
}

static bool is_known(u8 op)
{
    return op != DH_OP_SKIP && op < DH_OP_COUNT && op != DH_OP_RANGE_NEW && op != DH_OP_RANGE_FREE &&
           op != DH_OP_RANGE_MOVE && op != DH_OP_RANGE_COPY;
}

/* Anything but a read or write by a thread that has acted before: those are always well-formed. */
static DH_NOINLINE int check(struct dh_dht *r, const struct dh_event *e, u64 number)
{
    if (!is_known(e->op))
        return dh_dht_bad(r, r->named.offset, "an event that a text cannot have");
    if (e->thread >= r->names[0].n || e->target >= names_of(r, e->op))
        return dh_dht_bad(r, r->named.offset, "an event about something without a name");
    enum dh_form_error error = dh_form_next(&r->form, e, number);
    return error == DH_FORM_OK ? 0 : dh_dht_bad(r, r->named.offset, dh_dht_form_text(error));
}

/* n events, of those left in the chunk. */
static long decode(struct dh_dht *r, struct dh_event *events, size_t n)
{
    struct dh_columns_in c = r->named.in; /* a copy, for the compiler: nothing written here is in it */
    u32 variables = r->names[2].n, thread = r->named.thread;
    for (size_t i = 0; i < n; i++) {
        struct dh_event *e = &events[i]; /* field by field: put together elsewhere it would stall */
        u8 op = c.ops[i], mode = 0;
        u32 target = dh_column_next(&c.targets);
        if (DH_UNLIKELY(op & DH_COLUMNS_THREAD))
            thread = dh_column_next(&c.threads);
        if (DH_UNLIKELY(op & DH_COLUMNS_MODE))
            mode = *c.modes++;
        e->op = op & DH_COLUMNS_OP;
        e->mode = mode;
        e->size = 0;
        e->thread = thread;
        e->target = target;
        e->site = dh_column_next(&c.sites);
        /* `op` has no flag here if it is one of these. */
        if (DH_LIKELY((op == DH_OP_READ || op == DH_OP_WRITE) && target < variables))
            continue;
        int rc = check(r, e, r->number + i);
        if (rc)
            return rc;
    }
    c.ops += n;
    c.left -= (u32)n;
    r->named.in = c;
    r->named.thread = thread;
    return (long)n;
}

long dh_dht_named_read(struct dh_dht *r, struct dh_event *events, size_t cap)
{
    struct dh_columns_in *c = &r->named.in;
    while (c->left == 0) {
        int rc = load(r);
        if (rc < 0)
            return rc;
        if (rc == 0) {
            if (!r->ended)
                dh_form_end(&r->form);
            r->ended = true;
            return 0;
        }
    }
    long n = decode(r, events, cap < c->left ? cap : c->left);
    if (n > 0)
        r->number += (u64)n;
    return n;
}
