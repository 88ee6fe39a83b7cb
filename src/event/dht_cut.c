/*
 * dht_cut.c - see dht_read.h: the first pass, which finds where variables begin and end.
 *
 * The order of the threads does not matter for the cuts.
 */
#include <errno.h>

#include "event/dht_reader.h"

enum { ROUNDS = 16 }; /* over the moves */

static int cut_event(struct dh_dht *r, const struct dh_dht_event *e)
{
    bool ok = true;
    switch (e->op) {
    case DH_OP_READ:
    case DH_OP_WRITE:
    case DH_DHT_OP_CHECK:
    case DH_OP_ATOMIC_LOAD:
    case DH_OP_ATOMIC_STORE:
    case DH_OP_ATOMIC_RMW:
        if (((e->addr | e->size) & 7) != 0)
            ok = dh_cells_cut(&r->cells, e->addr, e->size);
        break;
    case DH_OP_RANGE_MOVE:
    case DH_OP_RANGE_COPY:
        ok = dh_dht_grow((void **)&r->moves, r->n_moves, &r->cap_moves, sizeof(*r->moves)) &&
             dh_cells_cut(&r->cells, e->source, e->bytes);
        if (ok) {
            r->moves[r->n_moves].to = e->addr;
            r->moves[r->n_moves].from = e->source;
            r->moves[r->n_moves++].n = e->bytes;
        }
        /* fall through */
    case DH_DHT_OP_READS:
    case DH_DHT_OP_WRITES:
    case DH_OP_RANGE_NEW:
    case DH_OP_RANGE_FREE:
    case DH_DHT_OP_BLOCK:
        ok = ok && dh_cells_cut(&r->cells, e->addr, dh_dht_range_bytes(e));
        break;
    default:
        break;
    }
    return ok ? 0 : -ENOMEM;
}

static int settle_move(struct dh_dht *r, u32 i)
{
    u64 to = r->moves[i].to, from = r->moves[i].from, n = r->moves[i].n;
    if (dh_dht_moves_bytes(to, from, n))
        return dh_cells_same_bytes(&r->cells, to, from, n);
    return dh_dht_moves_words(to, from, n) ? dh_cells_same_cuts(&r->cells, to, from, n) : 0;
}

/*
 * Where data moved, both places have the same cuts. What moved many times, as a garbage collector's objects
 * do, may first be cut at its first place or at its last: hence forward and backward passes until nothing
 * changes. Overlapping moves can take any number of rounds; after a few, the words that still differ lose
 * their history when they move (next_move in dht_rest.c).
 */
static int settle_moves(struct dh_dht *r)
{
    int changed = 1;
    for (u32 round = 0; changed && round < ROUNDS; round++) {
        changed = 0;
        for (u32 i = 0; i < r->n_moves; i++) {
            int rc = settle_move(r, round & 1 ? r->n_moves - 1 - i : i);
            if (rc < 0)
                return -ENOMEM;
            changed |= rc;
        }
    }
    return 0;
}

/* Of one chunk. */
static int cut_chunk(struct dh_dht *r, struct dh_dht_stream *s)
{
    for (;;) {
        struct dh_dht_event e;
        int more = dh_dht_decode_run(s->decoder, &e) ? 1 : dh_dht_decode_next(s->decoder, &e);
        if (more <= 0)
            return more < 0 ? dh_dht_bad(r, dh_dht_offset(s), s->decoder->error) : 0;
        if (e.op <= DH_OP_WRITE && dh_cells_cut_word(&r->cells, e.addr, e.size))
            continue;
        int rc = cut_event(r, &e);
        if (rc)
            return rc;
    }
}

int dh_dht_cut(struct dh_dht *r)
{
    for (u32 i = 0; i < r->n_streams; i++) {
        struct dh_dht_stream *s = r->streams[i];
        while (s->next < s->n) {
            if (s->refs[s->next].words) {
                s->next++;
                continue;
            }
            int rc = dh_dht_load(r, s);
            if (rc > 0)
                rc = cut_chunk(r, s);
            if (rc < 0)
                return rc;
        }
        dh_dht_unload(s);
        s->next = 0;
    }
    return settle_moves(r);
}
