/*
 * vclock.c - see vclock.h.
 */
#include "clock/vclock.h"

#include <string.h>

#include "base/pool.h"

bool dh_vclock_reserve(struct dh_vclock *v, u32 n, u32 **ret_old, u32 *ret_old_cap)
{
    *ret_old = NULL;
    *ret_old_cap = 0;
    if (n <= v->cap)
        return true;
    u32 cap = v->cap ? v->cap : 8;
    while (cap < n)
        cap *= 2;
    u32 *c = dh_pool_alloc(cap * sizeof(u32));
    if (!c)
        return false;
    if (v->n)
        memcpy(c, v->c, v->n * sizeof(u32));
    *ret_old = v->c;
    *ret_old_cap = v->cap;
    __atomic_store_n(&v->c, c, __ATOMIC_RELEASE);
    v->cap = cap;
    return true;
}

u32 dh_publish_len(const struct dh_publish *p)
{
    if (!p->snap)
        return 0;
    u32 n = p->snap->n;
    return !dh_slot_is_none(p->slot) && dh_slot_raw(p->slot) >= n ? dh_slot_raw(p->slot) + 1 : n;
}

bool dh_vclock_patchy;

bool dh_vclock_knows(const struct dh_vclock *v, const struct dh_publish *p)
{
    if (!p->snap)
        return true;
    if (DH_UNLIKELY(__atomic_load_n(&dh_vclock_patchy, __ATOMIC_RELAXED)))
        return false;
    /* An epoch of a releaser is only ever acquired together with its whole clock at that release, because a
     * thread starts a new epoch after every release that published something new. */
    return !dh_slot_is_none(p->slot) && dh_vclock_get(v, p->slot) >= p->clock;
}

bool dh_vclock_covers(const struct dh_vclock *v, const struct dh_publish *p)
{
    if (!p->snap)
        return true;
    bool all = dh_slot_is_none(p->slot) || dh_vclock_get(v, p->slot) >= p->clock;
    for (u32 i = 0; i < p->snap->n && all; i++)
        all = dh_vclock_get(v, dh_slot_from(i)) >= p->snap->c[i];
    return all;
}

static bool raise(u32 *c, u32 to)
{
    if (*c >= to)
        return false;
    *c = to;
    return true;
}

bool dh_vclock_join(struct dh_vclock *v, const struct dh_publish *p)
{
    if (dh_vclock_knows(v, p))
        return false;
    u32 len = dh_publish_len(p);
    DH_CHECK(len <= v->cap);
    if (len > v->n) /* after the array that holds it (reserve): the collector reads both while we work */
        __atomic_store_n(&v->n, len, __ATOMIC_RELEASE);
    u32 grew = 0;
    for (u32 i = 0; i < p->snap->n; i++) {
        u32 theirs = p->snap->c[i], ours = v->c[i];
        grew |= theirs > ours;
        v->c[i] = theirs > ours ? theirs : ours;
    }
    if (!dh_slot_is_none(p->slot))
        grew |= raise(dh_vclock_at(v, p->slot), p->clock);
    return grew != 0;
}

/* Short ones fill one cache line and can grow in it. */
enum { SNAP_SHORT = (64 - sizeof(struct dh_snap)) / sizeof(u32), COPY_MAX = 128 };

static struct dh_snap *snap_new(u32 n)
{
    u32 cap = n < SNAP_SHORT ? SNAP_SHORT : n;
    struct dh_snap *s = dh_pool_alloc(sizeof(*s) + cap * sizeof(u32));
    if (s) {
        s->refs = 1;
        s->n = n;
        s->cap = cap;
    }
    return s;
}

struct dh_snap *dh_snap_of(const struct dh_vclock *v)
{
    struct dh_snap *s = snap_new(v->n);
    if (s && v->n)
        memcpy(s->c, v->c, v->n * sizeof(u32));
    return s;
}

struct dh_snap *dh_snap_join(const struct dh_publish *p, const struct dh_vclock *v)
{
    u32 len = dh_publish_len(p);
    struct dh_snap *s = snap_new(len > v->n ? len : v->n);
    if (!s)
        return NULL;
    if (v->n)
        memcpy(s->c, v->c, v->n * sizeof(u32));
    for (u32 i = 0; p->snap && i < p->snap->n; i++)
        raise(&s->c[i], p->snap->c[i]);
    if (p->snap && !dh_slot_is_none(p->slot))
        raise(dh_snap_at(s, p->slot), p->clock);
    return s;
}

struct dh_snap *dh_snap_ref(struct dh_snap *s)
{
    __atomic_fetch_add(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void dh_snap_unref(struct dh_snap *s)
{
    if (s && __atomic_fetch_sub(&s->refs, 1, __ATOMIC_ACQ_REL) == 1)
        dh_pool_free(s, sizeof(*s) + s->cap * sizeof(u32));
}

/* Is p its only holder, with room for n? No one else can take a reference without p's lock. Long ones are
 * shared rather than copied. */
static bool writable(const struct dh_publish *p, u32 n)
{
    return p->snap && n <= p->snap->cap && n <= COPY_MAX &&
           __atomic_load_n(&p->snap->refs, __ATOMIC_ACQUIRE) == 1;
}

bool dh_publish_rewrite(struct dh_publish *p, const struct dh_vclock *v, dh_slot_t slot, u32 own)
{
    if (!writable(p, v->n))
        return false;
    struct dh_snap *s = p->snap;
    s->n = v->n;
    for (u32 i = 0; i < v->n; i++)
        s->c[i] = v->c[i];
    *dh_snap_at(s, slot) = own;
    p->slot = slot;
    p->clock = own;
    return true;
}

bool dh_publish_raise(struct dh_publish *p, const struct dh_vclock *v)
{
    u32 len = dh_publish_len(p), n = len > v->n ? len : v->n;
    if (!writable(p, n))
        return false;
    struct dh_snap *s = p->snap;
    for (u32 i = s->n; i < n; i++)
        s->c[i] = 0;
    s->n = n;
    for (u32 i = 0; i < v->n; i++)
        raise(&s->c[i], v->c[i]);
    if (!dh_slot_is_none(p->slot))
        raise(dh_snap_at(s, p->slot), p->clock);
    p->slot = DH_SLOT_NONE;
    p->clock = 0;
    return true;
}

void dh_publish_clear(struct dh_publish *p)
{
    dh_snap_unref(p->snap);
    *p = (struct dh_publish){0};
}

void dh_publish_copy(struct dh_publish *dst, const struct dh_publish *src)
{
    struct dh_snap *s = src->snap ? dh_snap_ref(src->snap) : NULL;
    dh_snap_unref(dst->snap);
    *dst = *src;
    dst->snap = s;
}
