/*
 * dht_rest.c - see dht_reader.h: what an event that concerns many variables has still to give out.
 */
#include <errno.h>

#include "event/dht_reader.h"

long dh_dht_no_room(struct dh_dht *r, const struct dh_dht_stream *s)
{
    dh_dht_bad(r, dh_dht_offset(s), "no memory for so many variables");
    return -ENOMEM;
}

/* The next variable of an access. */
static long next_access(struct dh_dht *r, struct dh_event *e)
{
    struct dh_dht_rest *x = &r->rest;
    u32 size, cell;
    while (x->skip && x->at < x->end && !dh_cells_page(&r->cells, x->at >> DH_PAGE_SHIFT, false))
        x->at = DH_ALIGN_DOWN(x->at, DH_PAGE) + DH_PAGE;
    if (x->at >= x->end) {
        x->op = DH_OP_SKIP;
        return 0;
    }
    cell = dh_cells_at(&r->cells, x->at, &size);
    if (cell == UINT32_MAX)
        return dh_dht_no_room(r, r->current);
    *e = (struct dh_event){
        .op = x->op, .mode = x->mode, .size = x->size, .thread = x->thread, .target = cell, .site = x->site};
    x->at += size;
    if (x->at >= x->end)
        x->op = DH_OP_SKIP;
    return 1;
}

bool dh_dht_rest_page(struct dh_dht *r)
{
    struct dh_dht_rest *x = &r->rest;
    while (x->page < r->cells.pages.n) {
        u64 lo = r->cells.pages.keys[x->page++] << DH_PAGE_SHIFT, hi = lo + DH_PAGE;
        x->at = lo > x->lo ? lo : x->lo;
        x->end = hi < x->hi ? hi : x->hi;
        if (x->at < x->end)
            return true;
    }
    return false;
}

/* The next run of variables, of those given out, that start a new life. 0: none here. */
static long next_new(struct dh_dht *r, struct dh_event *e)
{
    struct dh_dht_rest *x = &r->rest;
    u32 first = 0, n = 0;
    while (x->at < x->end && n < UINT16_MAX - 8) {
        struct dh_cells_page *p = dh_cells_page(&r->cells, x->at >> DH_PAGE_SHIFT, false);
        if (!p) {
            if (n)
                break;
            x->at = DH_ALIGN_DOWN(x->at, DH_PAGE) + DH_PAGE;
            continue;
        }
        u32 w = (u32)(x->at & (DH_PAGE - 1)) >> 3;
        u32 before = dh_cells_bits(p->cuts[w] & 0xfe & ((2u << (x->at & 7)) - 1));
        u32 count = dh_cells_count(p, w) - before;
        if (DH_ALIGN_DOWN(x->at, 8) + 8 > x->end) /* the rest of the word lives on */
            count -= dh_cells_bits(p->cuts[w] & 0xfe & ~((1u << (x->end & 7)) - 1));
        if (p->first[w] && n && p->first[w] - 1 + before != first + n)
            break;
        if (p->first[w]) {
            first = n ? first : p->first[w] - 1 + before;
            n += count;
        } else if (n) {
            break;
        }
        x->at = DH_ALIGN_DOWN(x->at, 8) + 8;
    }
    if (x->at >= x->end && !(x->hi && dh_dht_rest_page(r)))
        x->op = DH_OP_SKIP;
    *e = (struct dh_event){.op = DH_OP_RANGE_NEW, .size = (u16)n, .thread = x->thread, .target = first};
    return n != 0;
}

/* The next word that moves. */
static long next_move(struct dh_dht *r, struct dh_event *e)
{
    struct dh_dht_rest *x = &r->rest;
    for (; x->at < x->end; x->at += 8, x->from += 8) {
        struct dh_cells_page *p = dh_cells_page(&r->cells, x->from >> DH_PAGE_SHIFT, false);
        struct dh_cells_page *q = dh_cells_page(&r->cells, x->at >> DH_PAGE_SHIFT, p != NULL);
        u32 from = (u32)(x->from & (DH_PAGE - 1)) >> 3, to = (u32)(x->at & (DH_PAGE - 1)) >> 3;
        bool source = p && p->first[from];
        if (!source && (!q || !q->first[to]))
            continue;
        if (source && (!q || (!q->first[to] && !dh_cells_number(&r->cells, q, x->at))))
            return dh_dht_no_room(r, r->current);
        *e = (struct dh_event){.op = source ? DH_OP_RANGE_MOVE : DH_OP_RANGE_NEW,
                               .size = (u16)dh_cells_count(q, to),
                               .thread = x->thread,
                               .target = q->first[to] - 1,
                               .site = source ? p->first[from] - 1 : 0};
        x->at += 8;
        x->from += 8;
        return 1;
    }
    x->op = DH_OP_SKIP;
    return 0;
}

long dh_dht_rest_next(struct dh_dht *r, struct dh_event *e)
{
    switch (r->rest.op) {
    case DH_OP_RANGE_NEW:
        return next_new(r, e);
    case DH_OP_RANGE_MOVE:
        return next_move(r, e);
    default:
        return next_access(r, e);
    }
}
