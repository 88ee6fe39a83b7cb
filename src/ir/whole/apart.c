/*
 * apart.c - see team.h: whether two accesses to elements never touch the same bytes.
 *
 * Why two accesses are apart (dh_w_elements_apart):
 *
 * 1. Both are within known byte ranges of one base, and these are disjoint: each of a single place, or of
 * elements whose indices are between constants.
 *
 * 2. Both are made by threads of one team to their own element. The indices of a counting loop
 * differ in each iteration, each iteration creates one thread, and the loop is started once, or again only
 * when all threads have been joined; so two running threads have different indices, and what lies within one
 * stride for one index does not for the other.
 *
 * 3. One is made by the creator, in an iteration of the loop that creates the team, before that iteration's
 * thread is created: all running threads have other indices.
 *
 * 4. One is made by the creator, in an iteration of the loop that joins the team, after that iteration's
 * join: all running threads have other indices.
 *
 * 5. Both are to memory that is allocated separately for each thread of the team: by its threads, or by the
 * creator before it creates the thread, or after the join of that thread.
 *
 * 6. Both are to elements indexed by numbers that one counter hands out (ticket.c), and lie within one
 * stride.
 *
 * 7. Both are made by threads of one team to shares of one array that have no index in common (share.c), and
 * lie within one element, apart from the index.
 *
 * 8. Both are in blocks identified by the index of a loop: allocated by an earlier loop in the iteration with
 * that index (slot.c), or allocated and returned by the thread (result.c). Different indices mean different
 * blocks; which threads run is as in 2, 3 and 4.
 *
 * Threads that a thread of a team creates, and joins before it ends, are a FAMILY with it. Two families are
 * apart if what they were given is, by these rules; within one, the creator's states show what it does while
 * others run, and the rest is apart by the same rules from the creator's view (nest.h).
 *
 * Except for the blocks, the base must be the same value throughout: a global variable, a pointer that one
 * holds permanently, a value that an instance that runs once computes once, or one that is not recomputed
 * from the first creation until all are joined.
 */
#include "ir/whole/join.h"
#include "ir/whole/team.h"

/* Whether the creator's op comes, in each round, before the team's thread of that round is created. */
static bool is_before_fork(const struct dh_w_team *team, const struct dh_w_fn *fn, u32 op)
{
    u32 fb = dh_w_block_of(fn, team->fork), b = dh_w_block_of(fn, op), header = team->created_by.header;
    if (!dh_w_loop_has(fn, team->created_by.loop, b))
        return false;
    return (b != fb || op < team->fork) && !dh_w_comes_to(fn, fb, b, header);
}

/* Whether the creator's op comes, in each round of the loop that joins, behind that round's join. */
static bool is_behind_join(const struct dh_w_team *team, const struct dh_w_fn *fn, u32 op)
{
    u32 jb = dh_w_block_of(fn, team->join), b = dh_w_block_of(fn, op);
    if (!dh_w_loop_has(fn, team->joined_by.loop, b))
        return false;
    return b == jb ? op > team->join
                   : jb == team->joined_by.header || !dh_w_reaches(fn, team->joined_by.header, b, jb, NULL);
}

/* Whether both lie within one stride, so that elements of different indices do not overlap. */
static bool within_stride(const struct dh_w_element *a, const struct dh_w_element *b)
{
    int64_t first = a->off < b->off ? a->off : b->off;
    int64_t end_a = a->off + a->length, end_b = b->off + b->length;
    return a->stride == b->stride && (end_a > end_b ? end_a : end_b) - first <= a->stride;
}

/* The creator's access m and that of a thread of its team. */
static bool creator_is_apart(const struct dh_w_teams *t, const struct dh_w_element *m,
                             const struct dh_w_element *thread)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_team *team = &t->of[thread->root];
    const struct dh_w_fn *fn = &w->fns[w->insts[m->inst].fn];
    if (thread->index != team->created_by.index)
        return false;
    return (m->index == team->created_by.index && is_before_fork(team, fn, m->op)) ||
           (team->joined && m->index == team->joined_by.index && is_behind_join(team, fn, m->op));
}

/* Memory that is allocated anew for each thread of a team: no creation without an allocation since the last.
 */
static bool blocks_are_apart(const struct dh_w_teams *t, const struct dh_w_element *x,
                             const struct dh_w_element *y)
{
    const struct dh_w *w = t->flow->w;
    const struct dh_w_team *team = &t->of[x->root != 0 ? x->root : y->root];
    const struct dh_w_fn *fn = &w->fns[w->insts[x->inst].fn];
    if ((x->root != 0 && y->root != 0 && x->root != y->root) || (x->root == 0 && y->root == 0))
        return false;
    u32 made = fn->def[x->base], mb = dh_w_block_of(fn, made), fb = dh_w_block_of(fn, team->fork);
    if (mb == fb ? made > team->fork : dh_w_comes_to(fn, fb, fb, mb))
        return false;
    if (x->root == y->root)
        return true;
    /* The creator, behind the join of who had the block. */
    const struct dh_w_element *m = x->root == 0 ? x : y;
    if (m->index != NULL)
        return m->index == team->joined_by.index && is_behind_join(team, fn, m->op);
    /* The creator, before it hands the block over: from the creation on, it is not reached but with another
     * one. */
    u32 op = m->op, b = dh_w_block_of(fn, op);
    return (b != fb || op < team->fork) && (b == mb || !dh_w_comes_to(fn, fb, b, mb));
}

static bool are_apart(const struct dh_w_teams *t, u32 a, u32 b)
{
    if (a == 0 || b == 0)
        return false;
    const struct dh_w_element *x = t->elements.item[a], *y = t->elements.item[b];
    if (x->inst == DH_W_NONE || x->inst != y->inst || x->base != y->base || x->global != y->global ||
        x->content != y->content)
        return false;
    if (x->base != DH_W_NONE && !x->fresh && x->slot != DH_W_RETURNED &&
        ((x->root != 0 && !dh_w_is_kept_by(t, x->root, x->inst, x->base)) ||
         (y->root != 0 && !dh_w_is_kept_by(t, y->root, y->inst, y->base))))
        return false;
    if (x->ticket || y->ticket)
        return x->ticket && y->ticket && x->index == y->index && within_stride(x, y);
    if (x->slot != y->slot ||
        (x->slot == DH_W_RETURNED && x->root != 0 && y->root != 0 && x->root != y->root))
        return false;
    if (x->share || y->share)
        return x->share == y->share && x->root == y->root && within_stride(x, y);
    if (x->fresh || y->fresh)
        return x->fresh && y->fresh && blocks_are_apart(t, x, y);
    if (x->first < x->end && y->first < y->end && (x->end <= y->first || y->end <= x->first))
        return true;
    if (x->index == NULL || y->index == NULL || (!x->slot && !within_stride(x, y)))
        return false;
    if (x->root != 0 && y->root != 0)
        return x->root == y->root && x->index == y->index && x->index == t->of[x->root].created_by.index;
    if (x->root == 0 && y->root == 0)
        return false;
    return x->root == 0 ? creator_is_apart(t, x, y) : creator_is_apart(t, y, x);
}

/* The root of the thread that creates other threads, if an access is made by it or by one of these; or 0. */
static u32 family(const struct dh_w_teams *t, const struct dh_w_element *e)
{
    return t->of[e->by].under != 0 ? t->of[e->by].under : e->by;
}

/* The same for accesses of a thread and of those that it has created, or of two of these. */
static bool are_apart_in_family(const struct dh_w_teams *t, const struct dh_w_element *x,
                                const struct dh_w_element *y)
{
    u32 creator = family(t, x);
    if (x->by == creator && y->by == creator)
        return true; /* it is one thread */
    if (x->by == creator || y->by == creator) {
        const struct dh_w_element *own = x->by == creator ? x : y, *other = x->by == creator ? y : x;
        if ((own->beside >> other->by & 1) == 0)
            return true;
    } else if (x->by == y->by && t->of[x->by].alone) {
        return true;
    }
    return are_apart(t, x->inner, y->inner);
}

bool dh_w_elements_apart(const struct dh_w_teams *t, u32 a, u32 b)
{
    const struct dh_w_element *x = t->elements.item[a], *y = t->elements.item[b];
    if (a == 0 || b == 0 || x->by == 0 || y->by == 0 || family(t, x) != family(t, y))
        return are_apart(t, a, b);
    /* In one family; and, if there may be another, in two. */
    return are_apart_in_family(t, x, y) && (!t->flow->many[family(t, x)][DH_W_SOUND] || are_apart(t, a, b));
}
