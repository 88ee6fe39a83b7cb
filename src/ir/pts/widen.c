/*
 * widen.c - one set for all pointers that may lead nearly anywhere.
 *
 * In a large program most pointers end up with one of thousands of sets that differ in a few of their
 * thousand members: whatever goes through one heap, one list or one table of functions. To keep them apart
 * costs nearly all of the time, and tells nothing. So a node whose set has grown to options.huge locations
 * becomes one with all others of that kind, the CROWD; and since offsets lead from each of its members to any
 * other, what is in it points anywhere in its object. That is less precise and as sound: sets only get
 * larger. All other nodes go on as before, and so do the objects, whose fields still tell apart what is
 * accessed by name.
 */
#include "ir/pts/solver.h"

#include <errno.h>
#include <stdlib.h>

/* An offset from the crowd into the crowd adds nothing to "anywhere", and would add one field after another.
 */
static void drop_own_offsets(struct dh_pts *p)
{
    uint32_t crowd = dh_pts_root(p, p->crowd), kept = DH_PTS_NONE;
    struct node *n = &p->nodes.at[crowd];
    for (uint32_t u = n->uses, next; u != DH_PTS_NONE; u = next) {
        const struct use *use = &p->uses.at[u];
        next = use->next;
        bool moves = use->kind == USE_OFFSET || (use->kind == USE_ANY && u != p->crowd_use);
        if (moves && dh_pts_root(p, use->other) == crowd) {
            if (kept == DH_PTS_NONE)
                n->uses = next;
            else
                p->uses.at[kept].next = next;
        } else
            kept = u;
    }
    n->last_use = kept;
}

/*
 * The crowd takes in one more. `told` is what the crowd has told its edges and uses; those of the newcomer
 * hear of it what they have not heard, and the rest with all others.
 */
static void take_in(struct dh_pts *p, uint32_t crowd, uint32_t node, uint32_t told)
{
    const struct node *n = &p->nodes.at[node];
    uint32_t heard = dh_intern_minus(&p->sets, n->all, n->fresh);
    uint32_t rest = heard == DH_INTERN_FAILED ? heard : dh_intern_minus(&p->sets, told, heard);
    if (rest == DH_INTERN_FAILED) {
        p->failed = -ENOMEM;
        return;
    }
    dh_pts_tell_rest(p, node, rest, crowd);
    struct node *c = &p->nodes.at[crowd], *x = &p->nodes.at[node];
    c->all = dh_intern_join(&p->sets, c->all, x->all);
    if (c->all == DH_INTERN_FAILED || dh_set_join(&c->next, &x->next)) {
        c->all = 0;
        p->failed = -ENOMEM;
        return;
    }
    dh_set_done(&x->next);
    x->all = x->fresh = 0;
    dh_pts_append_uses(p, crowd, node);
    x->parent = crowd;
    p->stats.merged++;
    p->stats.widened++;
}

/*
 * Copies of memory from or to whatever the crowd points to: of each object in it also "anywhere" is in it, so
 * it is enough to load and store that. Bytes need not be linked to bytes.
 */
static void simplify_copies(struct dh_pts *p)
{
    uint32_t crowd = dh_pts_root(p, p->crowd);
    for (uint32_t u = p->nodes.at[crowd].uses; u != DH_PTS_NONE && !p->failed; u = p->uses.at[u].next) {
        struct use *use = &p->uses.at[u];
        if (use->kind != USE_COPY_FROM && use->kind != USE_COPY_TO)
            continue;
        bool from = use->kind == USE_COPY_FROM;
        uint32_t anywhere = dh_pts_location_at(p, use->other, DH_PTS_ANY);
        use->other = from ? dh_pts_writes(p, anywhere) : dh_pts_reads(p, anywhere);
        use->kind = from ? USE_LOAD : USE_STORE;
        use->offset = 0;
        struct late *l = PUSH(p, p->late);
        if (l)
            *l = (struct late){u, p->nodes.at[crowd].all};
    }
    dh_pts_settle(p);
}

void dh_pts_join_crowd(struct dh_pts *p, const uint32_t *nodes, uint32_t n)
{
    if (!n || p->failed)
        return;
    if (p->crowd == DH_PTS_NONE) {
        p->crowd = dh_pts_root(p, nodes[0]);
        p->crowd_use = p->uses.n;
        p->stats.widened++;
        dh_pts_use_add(p, p->crowd, &(struct use){.kind = USE_ANY, .other = p->crowd});
    }
    /* One by one, as dh_pts_merge does, all uses of the crowd would hear what each newcomer adds. */
    uint32_t crowd = dh_pts_root(p, p->crowd);
    uint32_t told = dh_intern_minus(&p->sets, p->nodes.at[crowd].all, p->nodes.at[crowd].fresh);
    for (uint32_t i = 0; i < n && told != DH_INTERN_FAILED && !p->failed; i++)
        if (dh_pts_root(p, nodes[i]) != crowd)
            take_in(p, crowd, dh_pts_root(p, nodes[i]), told);
    struct node *c = &p->nodes.at[crowd];
    uint32_t fresh = told == DH_INTERN_FAILED || p->failed ? told : dh_intern_minus(&p->sets, c->all, told);
    if (fresh == DH_INTERN_FAILED)
        p->failed = -ENOMEM;
    if (p->failed)
        return;
    c->fresh = fresh;
    if (fresh)
        dh_pts_mark_dirty(p, crowd);
    drop_own_offsets(p);
    simplify_copies(p);
}

void dh_pts_widen(struct dh_pts *p)
{
    VECTOR(uint32_t) huge = {0};
    uint32_t crowd = p->crowd == DH_PTS_NONE ? DH_PTS_NONE : dh_pts_root(p, p->crowd);
    for (uint32_t i = 0; p->options.huge && i < p->dirty.n; i++) {
        uint32_t root = dh_pts_root(p, p->dirty.at[i]);
        if (root == crowd || dh_intern_count(&p->sets, p->nodes.at[root].all) < p->options.huge)
            continue;
        uint32_t *h = PUSH(p, huge);
        if (h)
            *h = root;
    }
    dh_pts_join_crowd(p, huge.at, huge.n);
    free(huge.at);
}
