/*
 * dht_rest.c - see dht_reader.h: delivers the rest of an event that covers many variables.
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
    while (x->skip && x->at < x->end && !dh_cells_page(&r->cells, x->at >> DH_CELLS_SHIFT, false))
        x->at = DH_ALIGN_DOWN(x->at, DH_CELLS_PAGE) + DH_CELLS_PAGE;
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
        u64 lo = r->cells.pages.keys[x->page++] << DH_CELLS_SHIFT, hi = lo + DH_CELLS_PAGE;
        x->at = lo > x->lo ? lo : x->lo;
        x->end = hi < x->hi ? hi : x->hi;
        if (x->at < x->end)
            return true;
    }
    return false;
}

/* The next run of numbered variables that become new memory. 0: none here. */
static long next_new(struct dh_dht *r, struct dh_event *e)
{
    struct dh_dht_rest *x = &r->rest;
    u32 first = 0, n = 0;
    while (x->at < x->end && n < UINT16_MAX - 8) {
        struct dh_cells_page *p = dh_cells_page(&r->cells, x->at >> DH_CELLS_SHIFT, false);
        if (!p) {
            if (n)
                break;
            x->at = DH_ALIGN_DOWN(x->at, DH_CELLS_PAGE) + DH_CELLS_PAGE;
            continue;
        }
        u32 w = (u32)(x->at & (DH_CELLS_PAGE - 1)) >> 3;
        u32 before = dh_cells_bits(p->cuts[w] & 0xfe & ((2u << (x->at & 7)) - 1));
        u32 count = dh_cells_count(p, w) - before;
        if (DH_ALIGN_DOWN(x->at, 8) + 8 > x->end) /* the rest of the word stays */
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

/* The word at addr; NULL: nothing was ever given out of its page. */
static struct dh_cells_page *word_at(struct dh_dht *r, u64 addr, u32 *ret_word)
{
    *ret_word = (u32)(addr & (DH_CELLS_PAGE - 1)) >> 3;
    return dh_cells_page(&r->cells, addr >> DH_CELLS_SHIFT, false);
}

/* Whether two words are cut alike; of bytes (step 1), whether each is a variable by itself. */
static bool same_pieces(const struct dh_cells_page *p, u32 from, u64 from_addr, const struct dh_cells_page *q,
                        u32 to, u64 to_addr, u32 step)
{
    u32 a = p->cuts[from] & 0xfe, b = q ? q->cuts[to] & 0xfe : 0;
    if (step == 8)
        return a == b;
    u32 i = from_addr & 7, j = to_addr & 7;
    return (((a | 0x101) >> i) & 3) == 3 && (((b | 0x101) >> j) & 3) == 3;
}

/* The next word, or byte, that moves. */
static long next_move(struct dh_dht *r, struct dh_event *e)
{
    struct dh_dht_rest *x = &r->rest;
    while (x->at < x->end) {
        u64 ahead = x->down ? x->end - x->at - x->step : 0, to_addr = x->at + ahead,
            from_addr = x->from + ahead;
        u32 from, to, size, n = 1;
        struct dh_cells_page *p = word_at(r, from_addr, &from), *q = word_at(r, to_addr, &to);
        bool source = p && p->first[from], target = q && q->first[to];
        u64 step = x->step;
        if (!p && !q) /* nor is there anything up to the end of either page, in the direction it goes */
            step = x->down ? dh_cells_within_below(to_addr + x->step, from_addr + x->step, x->end - x->at)
                           : dh_cells_within(to_addr, from_addr, x->end - x->at);
        if (x->down) {
            x->end -= step;
        } else {
            x->at += step;
            x->from += step;
        }
        if (!source && !target)
            continue;
        source = source && same_pieces(p, from, from_addr, q, to, to_addr, x->step);
        u32 cell = dh_cells_at(&r->cells, to_addr, &size);
        u32 before = source ? dh_cells_at(&r->cells, from_addr, &size) : 0;
        if (cell == UINT32_MAX || before == UINT32_MAX)
            return dh_dht_no_room(r, r->current);
        if (x->step == 8)
            n = dh_cells_count(word_at(r, to_addr, &to), to);
        *e = (struct dh_event){.op = source ? x->op : DH_OP_RANGE_NEW,
                               .mode = source ? 0 : DH_BLANK,
                               .size = (u16)n,
                               .thread = x->thread,
                               .target = cell,
                               .site = before};
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
    case DH_OP_RANGE_COPY:
        return next_move(r, e);
    default:
        return next_access(r, e);
    }
}
