/*
 * vc.c - see vc.h.
 */
#include "detect/vc.h"

#include <string.h>

/* The array becomes a tree. */
static bool grow_tree(struct dh_detector *d, struct dh_vc *v, u32 levels)
{
    if (v->levels) {
        v->root = dh_vc_tree_raise(d, v->root, v->levels, levels);
        v->levels = levels;
        return !d->failed;
    }
    struct dh_vc_node *root = NULL;
    for (u32 i = 0; i < v->n; i++) {
        if (v->c[i])
            root = dh_vc_tree_set(d, root, levels, i, v->c[i]);
    }
    dh_detect_free(d, v->c, v->n * sizeof(*v->c));
    *v = (struct dh_vc){.root = root, .levels = levels};
    return !d->failed;
}

bool dh_vc_set_far(struct dh_detector *d, struct dh_vc *v, u32 tid, u32 clock)
{
    if (!v->levels && tid < DH_VC_PLAIN) {
        if (!DH_ROOM(d, v->c, v->n, tid))
            return false;
        v->c[tid] = clock;
        return true;
    }
    u32 levels = dh_vc_tree_levels(tid);
    if ((!v->levels || v->levels < levels) && !grow_tree(d, v, levels))
        return false;
    v->root = dh_vc_tree_set(d, v->root, v->levels, tid, clock);
    return !d->failed;
}

static bool join_trees(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src)
{
    if (dst->levels < src->levels && !grow_tree(d, dst, src->levels))
        return false;
    struct dh_vc_node *other = dh_vc_tree_raise(d, dh_vc_tree_share(src->root), src->levels, dst->levels);
    if (!d->failed)
        dst->root = dh_vc_tree_join(d, dst->root, other, dst->levels);
    dh_vc_tree_drop(d, other, dst->levels);
    return !d->failed;
}

bool dh_vc_join(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src)
{
    if (DH_UNLIKELY(src->levels))
        return join_trees(d, dst, src);
    if (DH_UNLIKELY(dst->levels)) {
        for (u32 i = 0; i < src->n; i++) {
            if (src->c[i] > dh_vc_get(dst, i) && !dh_vc_set(d, dst, i, src->c[i]))
                return false;
        }
        return true;
    }
    if (src->n > dst->n && !DH_ROOM(d, dst->c, dst->n, src->n - 1))
        return false;
    u32 *restrict a = dst->c;
    const u32 *restrict b = src->c;
    u32 n = src->n; /* a store to the clock might be one to it, for all the compiler knows */
    for (u32 i = 0; i < n; i++)
        a[i] = a[i] > b[i] ? a[i] : b[i];
    return true;
}

bool dh_vc_copy(struct dh_detector *d, struct dh_vc *dst, const struct dh_vc *src)
{
    if (DH_UNLIKELY(src->levels || dst->levels)) {
        struct dh_vc copy = *src;
        if (src->levels)
            dh_vc_tree_share(src->root);
        else
            copy.c = dh_detect_dup(d, src->c, src->n * sizeof(*src->c));
        if (d->failed)
            return false;
        dh_vc_drop(d, dst);
        *dst = copy;
        return true;
    }
    if (src->n > dst->n) {
        u32 *copy = dh_detect_dup(d, src->c, src->n * sizeof(*copy));
        if (!copy)
            return false;
        dh_detect_free(d, dst->c, dst->n * sizeof(*dst->c));
        *dst = (struct dh_vc){.c = copy, .n = src->n};
        return true;
    }
    if (src->n)
        memcpy(dst->c, src->c, src->n * sizeof(*dst->c));
    if (dst->n > src->n)
        memset(dst->c + src->n, 0, (dst->n - src->n) * sizeof(*dst->c));
    return true;
}

void dh_vc_clear(struct dh_detector *d, struct dh_vc *v)
{
    if (v->levels)
        dh_vc_drop(d, v);
    else if (v->n)
        memset(v->c, 0, v->n * sizeof(*v->c));
}

void dh_vc_drop(struct dh_detector *d, struct dh_vc *v)
{
    if (v->levels)
        dh_vc_tree_drop(d, v->root, v->levels);
    else
        dh_detect_free(d, v->c, v->n * sizeof(*v->c));
    *v = (struct dh_vc){0};
}

void dh_marks_copy(struct dh_detector *d, struct dh_marks *to, const struct dh_marks *from)
{
    if (dh_by_thread_copy(d, &to->by, &from->by, sizeof(struct dh_mark)))
        to->all = from->all;
}

void dh_marks_drop(struct dh_detector *d, struct dh_marks *v)
{
    dh_by_thread_drop(d, &v->by, sizeof(struct dh_mark));
    v->all = (struct dh_known){0};
}

static bool run_exceeds(const struct dh_by_thread_run *run, const struct dh_vc *c)
{
    const struct dh_mark *m = run->items;
    u32 both = run->first ? 0 : run->n < c->n ? run->n : c->n, exceeds = 0;
    for (u32 i = 0; i < both; i++)
        exceeds |= m[i].clock > c->c[i];
    for (u32 i = both; i < run->n && !exceeds; i++)
        exceeds = m[i].clock && m[i].clock > dh_vc_get(c, run->first + i);
    return exceeds != 0;
}

static bool marks_exceed(const struct dh_marks *v, const struct dh_vc *c)
{
    struct dh_by_thread_run run;
    for (u32 i = 0; dh_by_thread_run(&v->by, i, &run); i++) {
        if (run_exceeds(&run, c))
            return true;
    }
    return false;
}

void dh_marks_report(struct dh_detector *d, const struct dh_event *e, const struct dh_marks *v,
                     const struct dh_vc *c, bool write)
{
    struct dh_by_thread_run run;
    u32 reported = 0;
    for (u32 i = 0; reported < DH_RACES_OF_ACCESS && dh_by_thread_run(&v->by, i, &run); i++) {
        const struct dh_mark *m = run.items;
        for (u32 k = 0; k < run.n && reported < DH_RACES_OF_ACCESS; k++) {
            if (m[k].clock && m[k].clock > dh_vc_get(c, run.first + k)) {
                dh_detect_race(d, e, run.first + k, m[k].site, write);
                reported++;
            }
        }
    }
}

static void check(struct dh_detector *d, const struct dh_event *e, struct dh_marks *v, const struct dh_vc *c,
                  bool write)
{
    if (dh_is_known(&v->all, c))
        return;
    if (DH_UNLIKELY(marks_exceed(v, c)))
        dh_marks_report(d, e, v, c, write);
    else
        v->all = (struct dh_known){.tid = e->thread, .clock = dh_vc_get(c, e->thread)};
}

void dh_rw_check_read(struct dh_detector *d, const struct dh_event *e, struct dh_rw *x, const struct dh_vc *c)
{
    check(d, e, &x->w, c, true);
}

void dh_rw_check_write(struct dh_detector *d, const struct dh_event *e, struct dh_rw *x,
                       const struct dh_vc *c)
{
    check(d, e, &x->w, c, true);
    check(d, e, &x->r, c, false);
}

void dh_rw_soon(const struct dh_event *e, const void *cell)
{
    const struct dh_rw *x = cell;
    __builtin_prefetch(x->w.by.items, 1);
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
