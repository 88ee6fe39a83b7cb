/*
 * dht_calls.c - see dht_calls.h.
 */
#include "event/dht_calls.h"

#include <string.h>

#include "event/varint.h"

static u32 place(u32 before, u32 site, u32 from)
{
    return (u32)(dh_hash64((u64)before << 48 ^ (u64)site << 32 ^ from) >> 40) % DH_DHT_TURNS;
}

static bool is_turn(const struct dh_dht_turn *t, u32 before, u32 site, u32 from)
{
    return t->site == site + 1 && t->before == before && t->from == from;
}

u32 dh_dht_foretold_ctx(const struct dh_dht_foresight *f, u32 site)
{
    if (!dh_dht_is_turning(f, site))
        return f->ctx;
    const struct dh_dht_turn *t = &f->turns[place(f->site, site, f->ctx)];
    return is_turn(t, f->site, site, f->ctx) ? t->to : f->ctx;
}

/* Only changes are stored: where nothing changes, which is nearly everywhere, no entry is needed. */
u32 dh_dht_foresee(struct dh_dht_foresight *f, u32 site, u32 ctx)
{
    u32 foretold = f->ctx;
    if (ctx != f->ctx || dh_dht_is_turning(f, site)) {
        struct dh_dht_turn *t = &f->turns[place(f->site, site, f->ctx)];
        bool known = is_turn(t, f->site, site, f->ctx);
        foretold = known ? t->to : f->ctx;
        if (known || ctx != f->ctx) {
            *t = (struct dh_dht_turn){(u16)f->site, (u16)(site + 1), f->ctx, ctx};
            f->turning[site / 64] |= 1ull << site % 64;
        }
    }
    f->ctx = ctx;
    f->site = site + 1;
    return foretold;
}

static void count_down(struct dh_dht_calls *c)
{
    if (!dh_varint_get_down(&c->at, c->start, &c->left))
        c->left = UINT64_MAX;
}

void dh_dht_calls_begin(struct dh_dht_calls *c, const u8 *raw, size_t n)
{
    c->start = raw;
    c->at = raw + n;
    memset(&c->f, 0, sizeof(c->f));
    count_down(c);
}

u32 dh_dht_calls_next(struct dh_dht_calls *c, u32 site)
{
    u64 ctx = dh_dht_foretold_ctx(&c->f, site);
    if (c->left == 0) {
        if (!dh_varint_get_down(&c->at, c->start, &ctx) || ctx > UINT32_MAX)
            ctx = 0;
        count_down(c);
    } else if (c->left != UINT64_MAX) {
        c->left--;
    }
    dh_dht_foresee(&c->f, site, (u32)ctx);
    return (u32)ctx;
}
