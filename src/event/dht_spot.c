/*
 * dht_spot.c - see dht_look.h: what the memory at an address was, as runtime/report/place.c and
 * runtime/shadow/heap.c say it of a running program.
 *
 * Blocks of the heap have 16 bytes of the runtime's before them. A block is remembered after it was freed,
 * until a new one takes the place where it began or begins between there and the address.
 */
#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "event/dht_watch.h"

enum { BEFORE = 16 };

/* The first of those at or above addr. */
static size_t find_first(const struct dh_dht_watch *w, u64 addr)
{
    return DH_SEARCH_BELOW(w->blocks, w->n_blocks, addr, addr);
}

static u64 reach(u64 end, u64 more)
{
    return end + more < end ? UINT64_MAX : end + more;
}

void dh_dht_spot_block(struct dh_dht_watch *w, const struct dh_dht_event *e, u32 uid)
{
    u64 lo = e->addr < BEFORE ? 0 : e->addr - BEFORE, end = reach(e->addr, e->bytes);
    for (size_t i = find_first(w, lo); i < w->n_blocks && w->blocks[i].addr <= reach(end, w->largest); i++) {
        struct dh_dht_block *b = &w->blocks[i];
        /* One byte more than was asked for: the byte past an array is worth naming. */
        if (b->addr >= e->addr && b->addr <= end) {
            bool known = e->pc != 0;
            *b = (struct dh_dht_block){.addr = b->addr,
                                       .start = e->addr,
                                       .size = e->bytes,
                                       .pc = e->pc,
                                       .ctx = e->ctx,
                                       .owner = known && uid != DH_DHT_NOBODY ? uid + 1 : 0};
            w->largest = e->bytes > w->largest ? e->bytes : w->largest;
        } else if ((b->start >= lo && b->start < end) || (e->addr > b->start && e->addr <= b->addr)) {
            b->start = 0;
        }
    }
}

/* Memory that the program mapped: blocks that were there, with what is before them, are gone. */
void dh_dht_spot_new(struct dh_dht_watch *w, const struct dh_dht_event *e)
{
    u64 end = reach(e->addr, e->bytes);
    for (size_t i = find_first(w, e->addr); i < w->n_blocks && w->blocks[i].addr < end; i++) {
        struct dh_dht_block *b = &w->blocks[i];
        if (b->start >= BEFORE && b->start - BEFORE >= e->addr && reach(b->start, b->size) <= end)
            b->start = 0;
    }
}

/* ---- Stacks and thread-local memory ---- */

static bool is_module(const struct dh_dht_module *m, u64 below)
{
    return m->tls_below && below <= m->tls_below && m->tls_below - below < m->tls_size;
}

/* How far below thread pointers the segments of modules reach. */
static u64 tls_depth(const struct dh_dht *r)
{
    u64 depth = 0;
    struct dh_dht_module m;
    for (u64 at = 0; dh_dht_next_module(r, &at, &m);)
        depth = m.tls_below > depth ? m.tls_below : depth;
    return depth;
}

static void find_tls(const struct dh_dht *r, u64 below, struct dh_dht_spot *ret)
{
    struct dh_dht_module m;
    for (u64 at = 0; dh_dht_next_module(r, &at, &m);) {
        if (!is_module(&m, below))
            continue;
        dh_dht_place_of(r, m.lo, &ret->place);
        ret->offset = m.tls_below - below;
    }
}

/* Live threads first: memory is reused. Thread-local memory grows downwards by libraries that are opened, in
 * memory that counts as the stack's otherwise. */
static bool find_owner(const struct dh_dht *r, u64 addr, struct dh_dht_spot *ret)
{
    u64 depth = tls_depth(r), tp = 0;
    bool alive = false;
    const struct dh_dht_thread *t;
    for (u32 n = 0; (t = dh_dht_nth_thread(r, n)); n++) {
        if (t->uid >= r->dense_cap || !r->dense[t->uid])
            continue; /* it has not begun */
        bool in_stack = addr >= t->stack_lo && addr < t->stack_hi;
        bool stack_has_tls = t->tls_lo >= t->stack_lo && t->tls_lo < t->stack_hi;
        bool tls = addr < t->tls_hi && (addr >= t->tls_lo || addr >= t->tp - depth);
        tls = tls && (in_stack || !stack_has_tls); /* its end is a guess, and another thread's may follow */
        bool lives = !r->threads[r->dense[t->uid] - 1].ended;
        if ((!tls && !in_stack) || (alive && !lives) || (alive == lives && ret->owner > t->uid))
            continue;
        alive = lives;
        ret->owner = t->uid + 1;
        ret->kind = tls ? DH_DHT_TLS : DH_DHT_STACK;
        ret->offset = t->stack_hi - addr;
        tp = t->tp;
    }
    if (ret->kind == DH_DHT_TLS) {
        ret->offset = 0;
        if (addr < tp)
            find_tls(r, tp - addr, ret);
    }
    return ret->owner != 0;
}

/* The activation that holds an address of a stack, if it was told and has not returned: its return address is
 * where the next one out calls, and in the context of what the thread did last. */
static void find_frame(const struct dh_dht *r, u64 addr, struct dh_dht_spot *ret)
{
    const struct dh_dht_watched *t = dh_dht_watch_thread(r->watch, r->dense[ret->owner - 1] - 1);
    u64 pcs[256];
    bool folded;
    for (u32 i = 0; t && i + 1 < t->n_frames; i++) {
        if (addr < t->frames[i].sp || addr >= t->frames[i].cfa)
            continue;
        size_t n = dh_dht_stack(r, t->ctx, t->pc, pcs, DH_ARRAY_LEN(pcs), &folded);
        for (size_t k = 0; k < n; k++)
            if (pcs[k] == t->frames[i + 1].pc)
                ret->frame = t->frames[i];
        return;
    }
}

static bool find_block(const struct dh_dht_watch *w, u64 addr, struct dh_dht_spot *ret)
{
    size_t i = find_first(w, addr);
    if (i == w->n_blocks || w->blocks[i].addr != addr || !w->blocks[i].start)
        return false;
    const struct dh_dht_block *b = &w->blocks[i];
    *ret = (struct dh_dht_spot){.kind = DH_DHT_HEAP,
                                .owner = b->owner,
                                .ctx = b->ctx,
                                .pc = b->pc,
                                .start = b->start,
                                .size = b->size,
                                .offset = addr - b->start};
    return true;
}

void dh_dht_spot_find(const struct dh_dht *r, u64 addr, struct dh_dht_spot *ret)
{
    *ret = (struct dh_dht_spot){0};
    if (find_block(r->watch, addr, ret))
        return;
    if (find_owner(r, addr, ret)) {
        if (ret->kind == DH_DHT_STACK)
            find_frame(r, addr, ret);
        return;
    }
    if (dh_dht_place_of(r, addr, &ret->place)) {
        ret->kind = DH_DHT_GLOBAL;
        ret->offset = ret->place.offset;
    }
}
