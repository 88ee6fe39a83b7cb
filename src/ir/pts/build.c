/*
 * build.c - adding values, objects and constraints.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_FIELDS = 1024 };

int dh_pts_new(const struct dh_pts_options *options, struct dh_pts **ret_pts)
{
    struct dh_pts *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    if (options)
        p->options = *options;
    if (!p->options.max_fields)
        p->options.max_fields = DEFAULT_FIELDS;
    if (dh_intern_init(&p->sets)) {
        dh_pts_free(p);
        return -ENOMEM;
    }
    p->crowd = DH_PTS_NONE;
    *ret_pts = p;
    return 0;
}

void dh_pts_free(struct dh_pts *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->nodes.n; i++)
        dh_set_done(&p->nodes.at[i].next);
    for (uint32_t i = 0; i < p->objects.n; i++)
        free(p->objects.at[i].folds);
    for (uint32_t i = 0; i < p->watches.n; i++)
        dh_set_done(&p->watches.at[i].seen);
    dh_intern_done(&p->sets);
    free(p->nodes.at);
    free(p->objects.at);
    free(p->locations.at);
    free(p->uses.at);
    free(p->links.at);
    free(p->watches.at);
    free(p->steps.at);
    free(p->step_index);
    free(p->dirty.at);
    free(p->merges.at);
    free(p->late.at);
    free(p->hatched.at);
    free(p->refolded.at);
    free(p->sequence.at);
    free(p->index);
    free(p->field_list);
    free(p->field_start);
    free(p->scratch);
    free(p);
}

dh_pts_node dh_pts_value(struct dh_pts *p)
{
    p->stats.nodes++;
    return dh_pts_node_add(p);
}

dh_pts_object dh_pts_object_add(struct dh_pts *p, uint32_t size, unsigned flags)
{
    struct object *o = p->failed ? NULL : PUSH(p, p->objects);
    if (!o)
        return DH_PTS_NONE;
    *o = (struct object){.size = size ? size : DH_PTS_ANY,
                         .first = DH_PTS_NONE,
                         .last = DH_PTS_NONE,
                         .any = DH_PTS_NONE,
                         .links = DH_PTS_NONE,
                         .function = flags & DH_PTS_FUNCTION,
                         .collapsed = flags & DH_PTS_COLLAPSED};
    return p->objects.n - 1;
}

void dh_pts_array(struct dh_pts *p, dh_pts_object o, uint32_t start, uint32_t length, uint32_t stride)
{
    if (p->failed || o == DH_PTS_NONE)
        return;
    uint64_t end = length == DH_PTS_ANY ? UINT32_MAX : (uint64_t)start + length;
    dh_pts_fold(p, o, start, end > UINT32_MAX ? UINT32_MAX : (uint32_t)end, stride, true);
    p->solved = false;
}

/* A constraint between two nodes: is there anything to do? */
static bool begin(struct dh_pts *p, uint32_t a, uint32_t b)
{
    if (p->failed || a == DH_PTS_NONE || b == DH_PTS_NONE)
        return false;
    p->stats.constraints++;
    p->solved = false;
    return true;
}

void dh_pts_address(struct dh_pts *p, dh_pts_node dst, dh_pts_object o, uint32_t offset)
{
    if (!begin(p, dst, o))
        return;
    const struct object *object = &p->objects.at[o];
    if (!object->function && offset > object->size && offset != DH_PTS_ANY) {
        p->stats.outside++;
        offset = DH_PTS_ANY;
    }
    dh_pts_member(p, dst, dh_pts_location_at(p, o, dh_pts_canon(object, offset)));
}

void dh_pts_copy(struct dh_pts *p, dh_pts_node dst, dh_pts_node src)
{
    if (begin(p, dst, src))
        dh_pts_edge(p, src, dst);
}

/*
 * Farther than any object reaches. (The sum with an offset in it must not overflow, nor the sum round a
 * cycle.)
 */
static bool far(struct dh_pts *p, int64_t offset)
{
    bool is = offset > UINT32_MAX || offset < -(int64_t)UINT32_MAX;
    p->stats.outside += is;
    return is;
}

void dh_pts_element(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, int64_t offset, uint32_t stride,
                    uint32_t length)
{
    if (!begin(p, dst, src) || far(p, offset))
        return;
    if (offset == 0 && stride == 0)
        dh_pts_edge(p, src, dst);
    else
        dh_pts_use_add(p, src,
                       &(struct use){.kind = USE_OFFSET,
                                     .other = dst,
                                     .offset = offset,
                                     .stride = stride,
                                     .length = stride ? length : 0});
}

void dh_pts_offset(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, int64_t offset)
{
    dh_pts_element(p, dst, src, offset, 0, 0);
}

void dh_pts_any(struct dh_pts *p, dh_pts_node dst, dh_pts_node src)
{
    if (begin(p, dst, src))
        dh_pts_use_add(p, src, &(struct use){.kind = USE_ANY, .other = dst});
}

void dh_pts_load(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, int64_t offset)
{
    if (begin(p, dst, src) && !far(p, offset))
        dh_pts_use_add(p, src, &(struct use){.kind = USE_LOAD, .other = dst, .offset = offset});
}

void dh_pts_store(struct dh_pts *p, dh_pts_node dst, int64_t offset, dh_pts_node src)
{
    if (begin(p, dst, src) && !far(p, offset))
        dh_pts_use_add(p, dst, &(struct use){.kind = USE_STORE, .other = src, .offset = offset});
}

static uint32_t new_watch(struct dh_pts *p, void *call, bool functions)
{
    struct watch *w = PUSH(p, p->watches);
    if (!w)
        return DH_PTS_NONE;
    *w = (struct watch){.call = call, .functions = functions};
    return p->watches.n - 1;
}

static void add_watched(struct dh_pts *p, uint32_t node, struct use u, void *call, bool functions)
{
    u.watch = new_watch(p, call, functions);
    if (u.watch != DH_PTS_NONE)
        dh_pts_use_add(p, node, &u);
}

void dh_pts_memcpy(struct dh_pts *p, dh_pts_node dst, dh_pts_node src, uint32_t length)
{
    if (!begin(p, dst, src) || length == 0)
        return;
    uint32_t middle = dh_pts_object_add(p, length, 0);
    if (middle == DH_PTS_NONE)
        return;
    add_watched(p, src, (struct use){.kind = USE_COPY_FROM, .other = middle, .length = length}, NULL, false);
    add_watched(p, dst, (struct use){.kind = USE_COPY_TO, .other = middle, .length = length}, NULL, false);
}

void dh_pts_call(struct dh_pts *p, dh_pts_node callee, void *call)
{
    if (begin(p, callee, callee))
        add_watched(p, callee, (struct use){.kind = USE_WATCH}, call, true);
}

void dh_pts_watch(struct dh_pts *p, dh_pts_node node, void *call)
{
    if (begin(p, node, node))
        add_watched(p, node, (struct use){.kind = USE_WATCH}, call, false);
}
