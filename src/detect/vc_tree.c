/*
 * vc_tree.c - see vc_tree.h.
 */
#include "detect/vc_tree.h"

enum { CLOCKS = 31, CHILDREN = 15, LEVELS_MAX = 8, MEMO_LEAST = 4096 };

/* A cache of pairs of nodes, by their stamps, where the first is nowhere behind the second. A pair may evict
 * another. There are as many slots as threads: with fewer, the clock nodes of a few dozen locks evict each
 * other, and every join compares whole clocks. */
struct dh_vc_memo {
    u32 stamps; /* given out so far */
    u32 places; /* a power of two */
    struct {
        u32 node, other;
    } *within;
};

/* Both kinds begin with the count of references. */
struct dh_vc_node {
    union {
        u32 refs;
        struct {
            u32 unused_leaf;
            u32 clocks[CLOCKS];
        };
        struct {
            u32 unused_above;
            u32 stamp; /* 0: none, there are no more */
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

static u32 next_stamp(struct dh_detector *d)
{
    struct dh_vc_memo *memo = d->vc_memo ? d->vc_memo : dh_detect_alloc(d, sizeof(*memo));
    d->vc_memo = memo;
    if (!memo || memo->stamps == UINT32_MAX)
        return 0;
    u32 last = d->n_threads > MEMO_LEAST ? d->n_threads - 1 : MEMO_LEAST - 1;
    return DH_ROOM(d, memo->within, memo->places, last) ? ++memo->stamps : 0;
}

/* *ret_place: where the memo has the pair if it has it. */
static bool is_remembered(struct dh_detector *d, const struct dh_vc_node *node,
                          const struct dh_vc_node *other, u32 *ret_place)
{
    const struct dh_vc_memo *memo = d->vc_memo;
    *ret_place = 0;
    if (!node->stamp || !other->stamp)
        return false;
    *ret_place = dh_hash64((u64)node->stamp << 32 | other->stamp) & (memo->places - 1);
    return memo->within[*ret_place].node == node->stamp && memo->within[*ret_place].other == other->stamp;
}

static void remember(struct dh_detector *d, const struct dh_vc_node *node, const struct dh_vc_node *other,
                     u32 place)
{
    if (node->stamp && other->stamp) {
        d->vc_memo->within[place].node = node->stamp;
        d->vc_memo->within[place].other = other->stamp;
    }
}

/* A node with the same content that is going to be changed: the caller's reference is the only one. NULL: no
 * memory, and the caller keeps its reference. */
static struct dh_vc_node *own(struct dh_detector *d, struct dh_vc_node *node, u32 levels)
{
    struct dh_vc_node *mine = node;
    if (!node || node->refs > 1) {
        mine = dh_detect_alloc(d, sizeof(*mine));
        if (!mine)
            return NULL;
        if (node) {
            *mine = *node;
            for (u32 i = 0; levels > 1 && i < CHILDREN; i++)
                dh_vc_tree_share(mine->children[i]);
            node->refs--;
        }
        mine->refs = 1;
    }
    if (levels > 1)
        mine->stamp = next_stamp(d);
    return mine;
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

/* The result of joining two nodes, which has taken over the caller's reference to the first. */
struct joined {
    struct dh_vc_node *node;
    bool changed; /* it is another node, or the first with another content */
};

static struct joined join_leaves(struct dh_detector *d, struct dh_vc_node *node, struct dh_vc_node *other)
{
    u32 behind = 0, ahead = 0;
    for (u32 i = 0; i < CLOCKS; i++) {
        behind |= node->clocks[i] < other->clocks[i];
        ahead |= node->clocks[i] > other->clocks[i];
    }
    if (!behind)
        return (struct joined){.node = node};
    if (!ahead) {
        dh_vc_tree_drop(d, node, 1);
        return (struct joined){.node = dh_vc_tree_share(other), .changed = true};
    }
    struct dh_vc_node *mine = own(d, node, 1);
    if (!mine)
        return (struct joined){.node = node};
    for (u32 i = 0; i < CLOCKS; i++)
        mine->clocks[i] = mine->clocks[i] > other->clocks[i] ? mine->clocks[i] : other->clocks[i];
    return (struct joined){.node = mine, .changed = true};
}

static struct joined join(struct dh_detector *d, struct dh_vc_node *node, struct dh_vc_node *other,
                          u32 levels);

/* With the child joined, which is not the other's. */
static struct joined join_child(struct dh_detector *d, struct dh_vc_node *node, u32 i,
                                struct dh_vc_node *more, u32 levels)
{
    struct dh_vc_node *child = node->children[i];
    bool shared = node->refs > 1;
    struct joined both = join(d, shared ? dh_vc_tree_share(child) : child, more, levels - 1);
    struct dh_vc_node *mine = both.changed ? own(d, node, levels) : NULL;
    if (!mine) {
        if (shared)
            dh_vc_tree_drop(d, both.node, levels - 1);
        else
            node->children[i] = both.node;
        return (struct joined){.node = node};
    }
    if (shared)
        dh_vc_tree_drop(d, child, levels - 1);
    mine->children[i] = both.node;
    return (struct joined){.node = mine, .changed = true};
}

/* What is the same in the end as in one of the two is shared with it. */
static struct joined join(struct dh_detector *d, struct dh_vc_node *node, struct dh_vc_node *other,
                          u32 levels)
{
    struct joined result = {.node = node};
    bool as_other = true;
    u32 place;
    if (node == other || !other)
        return result;
    if (!node)
        return (struct joined){.node = dh_vc_tree_share(other), .changed = true};
    if (levels == 1)
        return join_leaves(d, node, other);
    if (is_remembered(d, node, other, &place))
        return result;
    for (u32 i = 0; i < CHILDREN && !d->failed; i++) {
        struct dh_vc_node *more = other->children[i];
        if (result.node->children[i] != more && more) {
            struct joined now = join_child(d, result.node, i, more, levels);
            result = (struct joined){.node = now.node, .changed = result.changed || now.changed};
        }
        as_other &= result.node->children[i] == more;
    }
    if (as_other && !d->failed) {
        dh_vc_tree_drop(d, result.node, levels);
        return (struct joined){.node = dh_vc_tree_share(other), .changed = true};
    }
    if (!result.changed && !d->failed)
        remember(d, node, other, place);
    return result;
}

struct dh_vc_node *dh_vc_tree_join(struct dh_detector *d, struct dh_vc_node *node, struct dh_vc_node *other,
                                   u32 levels)
{
    return join(d, node, other, levels).node;
}
