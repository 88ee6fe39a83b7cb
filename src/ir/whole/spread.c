/*
 * spread.c - see spread.h.
 */
#include "ir/whole/spread.h"

#include <stdlib.h>

void dh_w_spread_object(struct dh_w_spread *s, u32 object)
{
    if (s->reached[object])
        return;
    s->reached[object] = true;
    s->stack = dh_util_grow(s->stack, s->n, &s->cap, sizeof *s->stack);
    s->stack[s->n++] = object;
}

void dh_w_spread_node(struct dh_w_spread *s, dh_pts_node node)
{
    dh_pts_location l;
    if (node == DH_PTS_NONE)
        return;
    struct dh_w_key key = DH_W_KEY(dh_pts_set_number(s->w->pts, node));
    if (dh_w_table_get(&s->done, key) != DH_W_TABLE_NONE)
        return;
    dh_w_table_put(&s->done, key, 0);
    for (struct dh_pts_iter it = dh_pts_iter(s->w->pts, node); dh_pts_next(&it, &l);)
        dh_w_spread_object(s, dh_pts_place(s->w->pts, l).object);
}

void dh_w_spread_finish(struct dh_w_spread *s)
{
    while (s->n > 0) {
        const dh_pts_location *fields;
        u32 n = dh_pts_fields(s->w->pts, s->stack[--s->n], &fields);
        for (u32 i = 0; i < n; i++)
            dh_w_spread_node(s, dh_pts_contents(s->w->pts, fields[i]));
    }
    free(s->stack);
    dh_w_table_done(&s->done);
}
