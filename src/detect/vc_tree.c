/*
 * vc_tree.c - see vc_tree.h.
 */
#include "detect/vc_tree.h"

enum { CLOCKS = 31, CHILDREN = 15, LEVELS_MAX = 8 };

/* Both kinds begin with the count of references. */
struct dh_vc_node {
    union {
        u32 refs;
        struct {
            u32 unused_leaf;
            u32 clocks[CLOCKS];
        };
        struct {
            u64 unused_above;
            struct dh_vc_node *children[CHILDREN];
        };
    };
};
_Static_assert(sizeof(struct dh_vc_node) == 128,
               "two lines; the detector's memory is given out in powers of two");

/* Where a thread is: at[0] in its leaf, at[1] above it and so on. */
struct way {
    u8 at[LEVELS_MAX];
};

static struct way way_to(u32 tid)
{
    struct way way;
    way.at[0] = (u8)(tid % CLOCKS);
    tid /= CLOCKS;
    for (u32 i = 1; i < LEVELS_MAX; i++, tid /= CHILDREN)
        way.at[i] = (u8)(tid % CHILDREN);
    return way;
}

u32 dh_vc_tree_levels(u32 tid)
{
    u32 levels = 1;
    for (tid /= CLOCKS; tid; tid /= CHILDREN)
        levels++;
    return levels;
}

u32 dh_vc_tree_get(const struct dh_vc_node *node, u32 levels, u32 tid)
{
    u32 place = tid % CLOCKS;
    u8 at[LEVELS_MAX];
    tid /= CLOCKS;
    for (u32 i = 1; i < levels; i++, tid /= CHILDREN)
        at[i] = (u8)(tid % CHILDREN);
    if (tid)
        return 0; /* beyond the tree */
    for (u32 i = levels; node && i-- > 1;)
        node = node->children[at[i]];
    return node ? node->clocks[place] : 0;
}

struct dh_vc_node *dh_vc_tree_share(struct dh_vc_node *node)
{
    if (node)
        node->refs++;
    return node;
}

void dh_vc_tree_drop(struct dh_detector *d, struct dh_vc_node *node, u32 levels)
{
    if (!node || --node->refs)
        return;
    for (u32 i = 0; levels > 1 && i < CHILDREN; i++)
        dh_vc_tree_drop(d, node->children[i], levels - 1);
    dh_detect_free(d, node, sizeof(*node));
}

/* A node with the same content that may be changed: the caller's reference is the only one. NULL: no memory,
 * and the caller keeps its reference. */
static struct dh_vc_node *own(struct dh_detector *d, struct dh_vc_node *node, u32 levels)
{
    if (node && node->refs == 1)
        return node;
    struct dh_vc_node *copy = dh_detect_alloc(d, sizeof(*copy));
    if (!copy)
        return NULL;
    if (node) {
        *copy = *node;
        for (u32 i = 0; levels > 1 && i < CHILDREN; i++)
            dh_vc_tree_share(copy->children[i]);
        node->refs--;
    }
    copy->refs = 1;
    return copy;
}

struct dh_vc_node *dh_vc_tree_raise(struct dh_detector *d, struct dh_vc_node *node, u32 from, u32 to)
{
    DH_ASSERT(from <= to && to <= LEVELS_MAX);
    for (; node && from < to; from++) {
        struct dh_vc_node *above = own(d, NULL, from + 1);
        if (!above) {
            dh_vc_tree_drop(d, node, from);
            return NULL;
        }
        above->children[0] = node;
        node = above;
    }
    return node;
}

struct dh_vc_node *dh_vc_tree_set(struct dh_detector *d, struct dh_vc_node *node, u32 levels, u32 tid,
                                  u32 clock)
{
    DH_ASSERT(dh_vc_tree_levels(tid) <= levels);
    struct way way = way_to(tid);
    struct dh_vc_node **at = &node;
    for (u32 level = levels; level > 0; level--) {
        struct dh_vc_node *mine = own(d, *at, level);
        if (!mine)
            return node;
        *at = mine;
        if (level == 1)
            mine->clocks[way.at[0]] = clock;
        else
            at = &mine->children[way.at[level - 1]];
    }
    return node;
}

static struct dh_vc_node *join_leaf(struct dh_detector *d, struct dh_vc_node *node, struct dh_vc_node *other)
{
    u32 behind = 0, ahead = 0;
    for (u32 i = 0; i < CLOCKS; i++) {
        behind |= node->clocks[i] < other->clocks[i];
        ahead |= node->clocks[i] > other->clocks[i];
    }
    if (!behind)
        return node;
    if (!ahead) {
        dh_vc_tree_drop(d, node, 1);
        return dh_vc_tree_share(other);
    }
    struct dh_vc_node *mine = own(d, node, 1);
    if (!mine)
        return node;
    for (u32 i = 0; i < CLOCKS; i++)
        mine->clocks[i] = mine->clocks[i] > other->clocks[i] ? mine->clocks[i] : other->clocks[i];
    return mine;
}

/* What is the same in the end as in one of the two is shared with it. */
struct dh_vc_node *dh_vc_tree_join(struct dh_detector *d, struct dh_vc_node *node, struct dh_vc_node *other,
                                   u32 levels)
{
    if (node == other || !other)
        return node;
    if (!node)
        return dh_vc_tree_share(other);
    if (levels == 1)
        return join_leaf(d, node, other);
    bool as_other = true;
    for (u32 i = 0; i < CHILDREN; i++) {
        struct dh_vc_node *child = node->children[i], *more = other->children[i], *both;
        if (child != more && more) {
            bool shared = node->refs > 1;
            both = dh_vc_tree_join(d, shared ? dh_vc_tree_share(child) : child, more, levels - 1);
            if (shared && both == child) {
                dh_vc_tree_drop(d, both, levels - 1);
            } else {
                struct dh_vc_node *mine = own(d, node, levels);
                if (!mine) {
                    dh_vc_tree_drop(d, both, levels - 1);
                    return node;
                }
                if (shared)
                    dh_vc_tree_drop(d, child, levels - 1);
                node = mine;
                node->children[i] = both;
            }
        }
        as_other &= node->children[i] == more;
    }
    if (!as_other)
        return node;
    dh_vc_tree_drop(d, node, levels);
    return dh_vc_tree_share(other);
}
