/*
 * change.c - what happens between the entry of an instance and one of its operations, and how it translates
 * to a caller.
 */
#include <string.h>

#include "ir/whole/flow.h"

enum { MAX_RELEASES = 24 };

u32 dh_w_change_intern(struct dh_w_flow *f, const struct dh_w_change *c)
{
    struct dh_w_change clean;
    memset(&clean, 0, sizeof clean);
    if (c->reached) {
        clean.reached = true;
        clean.releases_all = c->releases_all;
        clean.through = c->through;
        clean.plus = c->plus;
        clean.minus = c->minus;
        memcpy(clean.born, c->born, sizeof clean.born);
        memcpy(clean.dead, c->dead, sizeof clean.dead);
        clean.barriers = c->barriers;
    }
    return dh_w_pool_add(&f->changes, &clean, sizeof clean);
}

/* Which ones no longer matters: so that large cycles of calls settle. */
static void release_all(struct dh_w_change *c)
{
    c->releases_all = true;
    c->minus = 0;
}

void dh_w_change_release_all(struct dh_w_change *c)
{
    c->plus = 0;
    release_all(c);
}

void dh_w_change_release(struct dh_w_flow *f, struct dh_w_change *c, u32 held)
{
    bool exact;
    size_t n;
    c->plus = dh_w_set_without(&f->locks, c->plus, held, &exact);
    if (exact || c->releases_all)
        return;
    c->minus = dh_w_set_with(&f->locks, c->minus, held);
    dh_w_set(&f->locks, c->minus, &n);
    if (n >= MAX_RELEASES)
        release_all(c);
}

void dh_w_change_start(struct dh_w_change *c, int style, u64 roots)
{
    c->born[style] |= roots;
    c->dead[style] &= ~roots;
}

void dh_w_change_end(struct dh_w_change *c, int style, u64 roots)
{
    c->born[style] &= ~roots;
    c->dead[style] |= roots;
}

bool dh_w_change_merge(struct dh_w_flow *f, struct dh_w_change *to, const struct dh_w_change *from)
{
    if (!from->reached)
        return false;
    if (!to->reached) {
        *to = *from;
        return true;
    }
    struct dh_w_change old = *to;
    to->releases_all |= from->releases_all;
    to->through |= from->through;
    to->plus = dh_w_set_meet(&f->locks, to->plus, from->plus);
    to->minus = dh_w_set_join(&f->locks, to->minus, from->minus);
    size_t n;
    dh_w_set(&f->locks, to->minus, &n);
    if (to->releases_all || n >= MAX_RELEASES)
        release_all(to);
    for (int s = 0; s < DH_W_STYLES; s++) {
        to->born[s] |= from->born[s];
        to->dead[s] &= from->dead[s];
    }
    to->barriers |= from->barriers;
    return to->releases_all != old.releases_all || to->through != old.through || to->plus != old.plus ||
           to->minus != old.minus || memcmp(to->born, old.born, sizeof old.born) != 0 ||
           memcmp(to->dead, old.dead, sizeof old.dead) != 0 || to->barriers != old.barriers;
}

struct dh_w_change dh_w_change_call(struct dh_w_flow *f, struct dh_w_change c, u32 caller,
                                    const struct dh_w_call *call, u32 by, const struct dh_w_change *callee)
{
    size_t n;
    const u32 *at = dh_w_set(&f->locks, callee->minus, &n);
    u32 copy[64];
    DH_CHECK(n <= DH_ARRAY_LEN(copy));
    memcpy(copy, at, n * sizeof *at);
    if (callee->releases_all)
        dh_w_change_release_all(&c);
    for (size_t i = 0; i < n; i++)
        dh_w_change_release(f, &c, dh_w_held_to_caller(&f->locks, copy[i], caller, call, by));
    at = dh_w_set(&f->locks, callee->plus, &n);
    memcpy(copy, at, n * sizeof *at);
    for (size_t i = 0; i < n; i++)
        c.plus = dh_w_set_with(&f->locks, c.plus, dh_w_held_to_caller(&f->locks, copy[i], caller, call, by));
    for (int s = 0; s < DH_W_STYLES; s++) {
        dh_w_change_end(&c, s, callee->dead[s]);
        dh_w_change_start(&c, s, callee->born[s]);
    }
    c.barriers = callee->barriers | (callee->through ? c.barriers : 0);
    c.through = callee->through && c.through;
    return c;
}

struct dh_w_state dh_w_flow_apply(struct dh_w_flow *f, const struct dh_w_state *s,
                                  const struct dh_w_change *c)
{
    struct dh_w_state to = *s;
    size_t n;
    bool exact;
    if (c->releases_all)
        to.locks = 0;
    const u32 *at = dh_w_set(&f->locks, c->minus, &n);
    for (size_t i = 0; i < n && to.locks != 0; i++)
        to.locks = dh_w_set_without(&f->locks, to.locks, at[i], &exact);
    to.locks = dh_w_set_join(&f->locks, to.locks, c->plus);
    for (int i = 0; i < DH_W_STYLES; i++)
        to.alive[i] = (s->alive[i] & ~c->dead[i]) | c->born[i];
    to.barriers = c->barriers | (c->through ? s->barriers : 0);
    return to;
}
