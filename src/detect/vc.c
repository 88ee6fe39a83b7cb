/*
 * vc.c - see vc.h.
 */
#include "detect/vc.h"

#include <string.h>

bool dh_vc_reserve(struct dh_detector *d, struct dh_vc *v, u32 tid)
{
    return DH_ROOM(d, v->c, v->n, tid);
}

bool dh_vc_join(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src)
{
    if (src->n > dst->n && !dh_vc_reserve(d, dst, src->n - 1))
        return false;
    u32 *restrict a = dst->c;
    const u32 *restrict b = src->c;
    for (u32 i = 0; i < src->n; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return true;
}

bool dh_vc_copy(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src)
{
    if (src->n > dst->n && !dh_vc_reserve(d, dst, src->n - 1))
        return false;
    if (src->n)
        memcpy(dst->c, src->c, src->n * sizeof(*dst->c));
    if (dst->n > src->n)
        memset(dst->c + src->n, 0, (dst->n - src->n) * sizeof(*dst->c));
    return true;
}

void dh_vc_clear(struct dh_vc *v)
{
    if (v->n)
        memset(v->c, 0, v->n * sizeof(*v->c));
}

void dh_vc_drop(struct dh_detector *d, struct dh_vc *v)
{
    dh_detect_free(d, v->c, v->n * sizeof(*v->c));
    *v = (struct dh_vc){0};
}

bool dh_marks_reserve(struct dh_detector *d, struct dh_marks *v, u32 tid)
{
    return DH_ROOM(d, v->m, v->n, tid);
}

void dh_marks_copy(struct dh_detector *d, struct dh_marks *to, const struct dh_marks *from)
{
    to->m = dh_detect_dup(d, from->m, from->n * sizeof(*from->m));
    to->n = to->m ? from->n : 0;
}

void dh_marks_drop(struct dh_detector *d, struct dh_marks *v)
{
    dh_detect_free(d, v->m, v->n * sizeof(*v->m));
    *v = (struct dh_marks){0};
}

bool dh_marks_exceed(const struct dh_marks *v, const struct dh_vc *c)
{
    u32 both = v->n < c->n ? v->n : c->n, exceeds = 0;
    for (u32 i = 0; i < both; i++)
        exceeds |= v->m[i].clock > c->c[i];
    for (u32 i = both; i < v->n; i++)
        exceeds |= v->m[i].clock != 0;
    return exceeds != 0;
}

void dh_marks_report(struct dh_detector *d, const struct dh_event *e, const struct dh_marks *v,
                     const struct dh_vc *c, bool write)
{
    for (u32 i = 0; i < v->n; i++) {
        if (v->m[i].clock > dh_vc_get(c, i))
            dh_detect_race(d, e, i, v->m[i].site, write);
    }
}

void dh_rw_check_read(struct dh_detector *d, const struct dh_event *e, const struct dh_rw *x,
                      const struct dh_vc *c)
{
    if (DH_UNLIKELY(dh_marks_exceed(&x->w, c)))
        dh_marks_report(d, e, &x->w, c, true);
}

void dh_rw_check_write(struct dh_detector *d, const struct dh_event *e, const struct dh_rw *x,
                       const struct dh_vc *c)
{
    dh_rw_check_read(d, e, x, c);
    if (DH_UNLIKELY(dh_marks_exceed(&x->r, c)))
        dh_marks_report(d, e, &x->r, c, false);
}

void dh_rw_soon(const struct dh_event *e, const void *cell)
{
    const struct dh_rw *x = cell;
    __builtin_prefetch(x->w.m, 1);
    dh_marks_soon(&x->r, e->thread);
}

void dh_rw_copy(struct dh_detector *d, void *to, const void *from)
{
    struct dh_rw *x = to;
    const struct dh_rw *y = from;
    dh_marks_copy(d, &x->r, &y->r);
    dh_marks_copy(d, &x->w, &y->w);
}

void dh_rw_drop(struct dh_detector *d, void *cell)
{
    struct dh_rw *x = cell;
    dh_marks_drop(d, &x->r);
    dh_marks_drop(d, &x->w);
}
