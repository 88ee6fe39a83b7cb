/*
 * threads.c - which threads create which, when they end, and which may run concurrently.
 *
 * Two roots may run at the same time if one of them is started while the other is alive. The state at a place
 * says which threads started from here are alive (state.c); for threads started elsewhere the roots decide.
 */
#include <string.h>

#include "ir/whole/counted.h"

#define BIT(root) (1ull << (root))

void dh_w_threads_children(struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    for (size_t i = 0; i < w->n_insts; i++)
        for (size_t k = 0; k < w->insts[i].n_forks; k++) {
            f->children[w->insts[i].root] |= BIT(w->insts[i].forks[k].root);
            f->parents[w->insts[i].forks[k].root] |= BIT(w->insts[i].root);
        }
    for (size_t i = 0; i < w->n_insts; i++)
        for (size_t o = 0; o < w->fns[w->insts[i].fn].n_ops; o++)
            if (w->fns[w->insts[i].fn].ops[o].kind == DH_W_EXIT)
                f->exits |= BIT(w->insts[i].root);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = 0; r < w->n_roots; r++) {
            u64 all = f->children[r];
            for (size_t c = 0; c < w->n_roots; c++)
                if (all & BIT(c))
                    all |= f->children[c];
            changed |= all != f->children[r];
            f->children[r] = all;
        }
    }
    for (size_t r = 0; r < w->n_roots; r++)
        for (int s = 0; s < DH_W_STYLES; s++) {
            f->ended[r][s] = BIT(r);
            /* It creates itself, or two threads create it, or it stands for several. */
            f->many[r][s] = w->roots[r].many || (f->children[r] & BIT(r)) ||
                            (f->parents[r] & (f->parents[r] - 1)) || (r == 0 && w->main_fn == DH_W_NONE);
        }
}

static u32 block_of(const struct dh_w_fn *fn, u32 op)
{
    u32 b = 0;
    while (op >= fn->blocks[b].end || op < fn->blocks[b].first)
        b++;
    return b;
}

/* The one block that leads to b, or DH_W_NONE. */
static u32 only_predecessor(const struct dh_w_fn *fn, u32 b)
{
    u32 found = DH_W_NONE;
    for (u32 p = 0; p < fn->n_blocks; p++)
        for (u32 i = 0; i < fn->blocks[p].succs; i++)
            if (fn->succ[fn->blocks[p].succ + i] == b) {
                if (found != DH_W_NONE)
                    return DH_W_NONE;
                found = p;
            }
    return found;
}

/* One variable may be the handle of one thread after the other. If the way to the join passes a creation that
 * stores into the same variable, the last such is the one. */
static u64 started_before(const struct dh_w_flow *f, u32 inst, u32 join)
{
    const struct dh_w_inst *in = &f->w->insts[inst];
    const struct dh_w_fn *fn = &f->w->fns[in->fn];
    dh_w_value handle = fn->ops[join].a;
    u32 at = handle < DH_W_CONSTANT && fn->def[handle] < fn->n_ops ? fn->def[handle] : DH_W_NONE;
    if (at == DH_W_NONE || fn->ops[at].kind != DH_W_LOAD)
        return 0;
    dh_w_value variable = fn->ops[at].a;
    u32 b = block_of(fn, at);
    for (u32 blocks = 0; b != DH_W_NONE && blocks < 64; blocks++) {
        u32 from = blocks == 0 ? at : fn->blocks[b].end;
        while (from-- > fn->blocks[b].first) {
            if (fn->ops[from].kind == DH_W_STORE && fn->ops[from].a == variable)
                return 0;
            if (fn->ops[from].kind != DH_W_FORK || fn->ops[from].a != variable)
                continue;
            u64 roots = 0;
            for (size_t k = 0; k < in->n_forks; k++)
                roots |= in->forks[k].op == from ? BIT(in->forks[k].root) : 0;
            return roots;
        }
        b = only_predecessor(fn, b);
    }
    return 0;
}

static bool constructors_start(const struct dh_w_flow *f)
{
    for (size_t i = 0; i < f->w->n_early; i++) {
        u32 inst = f->w->early[i];
        const struct dh_w_change *end = dh_w_change_get(f, f->matters[inst] ? f->summary[inst] : 0);
        if (end->born[DH_W_RELAY] | end->born[DH_W_SOUND])
            return true;
    }
    return false;
}

/* Whether all threads that an instance starts are started since its entry: it is where a thread begins that
 * does not run beside itself, and nobody calls it. */
static bool begins_alone(const struct dh_w_flow *f, u32 inst, int style)
{
    u32 root = f->w->insts[inst].root;
    return f->w->roots[root].inst == inst && !f->many[root][style] && !f->is_called[inst] &&
           !(root == 0 && constructors_start(f));
}

/* Only a thread that is alive can be joined: those a handle may stand for and that were not started on this
 * way are left out. */
static u64 living(const struct dh_w_flow *f, u32 inst, u64 roots, const struct dh_w_change *c, int style)
{
    u64 here = c == NULL ? 0 : roots & c->born[style];
    bool only_here = style == DH_W_RELAY || begins_alone(f, inst, style);
    for (u32 r = 0; r < f->w->n_roots && style == DH_W_SOUND; r++)
        if ((roots & BIT(r)) && f->parents[r] != BIT(f->w->insts[inst].root))
            only_here = false;
    return here != 0 && only_here ? here : roots;
}

/* Whether the roots stand for one thread: what one creation starts with one function or another. */
static bool are_one(const struct dh_w_inst *inst, u64 roots)
{
    u32 op = DH_W_NONE;
    for (size_t k = 0; k < inst->n_forks; k++) {
        if (!(roots & BIT(inst->forks[k].root)))
            continue;
        if (op != DH_W_NONE && op != inst->forks[k].op)
            return false;
        op = inst->forks[k].op;
        roots &= ~BIT(inst->forks[k].root);
    }
    return roots == 0;
}

/* Whether a thread joins the one that it has created itself, by one operation, and has created no other by it
 * in between. The handle is in a variable of its own, to which nothing else writes. Then of all that it has
 * created by that operation none is left, however many threads do the same. */
static bool is_own(const struct dh_w_flow *f, u32 inst, u32 join, u32 root)
{
    struct dh_w *w = f->w;
    const struct dh_w_fn *fn = &w->fns[w->insts[inst].fn];
    u32 fork = dh_w_begins_thread(f, inst) ? dh_w_only_fork(w, inst, root) : DH_W_NONE;
    u32 load = fn->ops[join].a < DH_W_CONSTANT ? fn->def[fn->ops[join].a] : DH_W_NONE;
    if (fork == DH_W_NONE || fn->ops[fork].kind != DH_W_FORK || w->roots[root].many || w->roots[root].often ||
        load >= fn->n_ops || fn->ops[load].kind != DH_W_LOAD || LLVMIsALoadInst(fn->ops[load].inst) == NULL ||
        fn->ops[load].a != fn->ops[fork].a || fn->ops[fork].a >= DH_W_CONSTANT ||
        !dh_w_is_made_here(fn, &(struct dh_w_address){.base = fn->ops[fork].a}))
        return false;
    u32 fb = dh_w_block_of(fn, fork), jb = dh_w_block_of(fn, join);
    for (u32 i = 0; i < fn->blocks[fb].succs && fb != jb; i++)
        if (fn->succ[fn->blocks[fb].succ + i] != jb &&
            dh_w_reaches(fn, fn->succ[fn->blocks[fb].succ + i], fb, jb, NULL))
            return false;
    /* One block: the variable is read between the two. */
    bool is_behind = dh_w_block_of(fn, load) == jb && (fb != jb || (fork < load && load < join));
    return is_behind &&
           !dh_w_written_from(f, inst, 0, NULL, dh_w_node(w, inst, fn->ops[fork].a), sizeof(u64), fork);
}

struct dh_w_joined dh_w_joins(const struct dh_w_flow *f, u32 inst, const struct dh_w_op *op,
                              const struct dh_w_change *c)
{
    const struct dh_w *w = f->w;
    struct dh_w_joined j = {{0}, 0, 0};
    dh_pts_node node = dh_w_node(w, inst, op->a);
    dh_pts_location l;
    u64 roots = 0;
    if (node == DH_PTS_NONE)
        return j;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);) {
        const struct dh_w_object *o = &w->objects[dh_pts_place(w->pts, l).object];
        if (o->kind == DH_W_THREAD)
            roots |= BIT(o->number);
    }
    u64 last = roots & (roots - 1) ? started_before(f, inst, (u32)(op - w->fns[w->insts[inst].fn].ops)) : 0;
    roots = last != 0 ? last : roots;
    for (int s = 0; s < DH_W_STYLES; s++) {
        u64 one = living(f, inst, roots, c, s), ended = 0;
        bool many = (one & (one - 1)) != 0 && !are_one(&w->insts[inst], one);
        for (u32 r = 0; r < w->n_roots; r++)
            if (one & BIT(r)) {
                ended |= f->ended[r][s];
                many |= f->many[r][s];
            }
        u32 root = one != 0 && (one & (one - 1)) == 0 ? (u32)__builtin_ctzll(one) : DH_W_NONE;
        if (many && root != DH_W_NONE)
            many = !is_own(f, inst, (u32)(op - w->fns[w->insts[inst].fn].ops), root);
        j.now[s] = many ? 0 : ended;
    }
    for (u32 r = 0; r < w->n_roots; r++)
        if (roots & BIT(r))
            j.after_loop |= f->ended[r][DH_W_RELAY];
    j.roots = roots;
    return j;
}

static void note_parallel(struct dh_w_flow *f, u32 a, u64 others, int style)
{
    f->parallel[a][style] |= others;
    for (u32 r = 0; r < f->w->n_roots; r++)
        if (others & BIT(r))
            f->parallel[r][style] |= BIT(a);
}

static void fork_in_state(struct dh_w_flow *f, u32 creator, u32 root, const struct dh_w_state *s)
{
    for (int i = 0; i < DH_W_STYLES; i++) {
        if ((s->alive[i] & BIT(root)) || f->many[creator][i])
            f->many[root][i] = true;
        note_parallel(f, root, BIT(creator) | (s->alive[i] & ~BIT(root)), i);
        if (f->many[creator][i])
            note_parallel(f, root, f->children[creator] & ~BIT(root), i);
    }
}

/* What runs beside a creator and was not created by it runs beside what it creates. */
static void close_parallel(struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 p = 0; p < w->n_roots; p++)
            for (u32 c = 0; c < w->n_roots; c++)
                for (int s = 0; s < DH_W_STYLES && (f->children[p] & BIT(c)); s++) {
                    u64 more = f->parallel[p][s] & ~f->children[p] & ~BIT(c) & ~BIT(p);
                    if ((f->parallel[c][s] & more) == more)
                        continue;
                    note_parallel(f, c, more, s);
                    changed = true;
                }
    }
}

void dh_w_threads_parallel(struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_inst *inst = &w->insts[i];
        for (size_t k = 0; k < inst->n_forks; k++) {
            const struct dh_w_change *c = dh_w_flow_change(f, i, inst->forks[k].op);
            for (size_t s = 0; s < f->states[i].n && c->reached; s++) {
                struct dh_w_state at = dh_w_flow_apply(f, &f->states[i].at[s], c);
                fork_in_state(f, inst->root, inst->forks[k].root, &at);
            }
        }
    }
    close_parallel(f);
    for (u32 r = 1; r < w->n_roots; r++) {
        u32 inst = w->roots[r].inst;
        const struct dh_w_change *end = f->changes.item[f->matters[inst] ? f->summary[inst] : 0];
        for (int s = 0; s < DH_W_STYLES; s++)
            f->ended[r][s] =
                BIT(r) |
                (end->reached && !(f->exits & BIT(r)) ? f->children[r] & ~end->born[s] & ~BIT(r) : 0);
    }
}

bool dh_w_threads_meet(const struct dh_w_flow *f, u32 a, const struct dh_w_state *s, u32 b, int style)
{
    if (a == b)
        return f->many[a][style];
    if (!(f->parallel[a][style] & BIT(b)))
        return false;
    /* If a alone creates it, directly or not, a's state knows whether it is alive. */
    u64 under = f->children[a] | BIT(a);
    bool alone = (f->children[a] & BIT(b)) && !f->many[a][style] && (f->parents[b] & ~under) == 0;
    for (u32 r = 0; r < f->w->n_roots && alone; r++)
        if ((f->children[a] & BIT(r)) && (f->parents[r] & ~under) != 0)
            alone = false;
    return !alone || (s->alive[style] & BIT(b)) != 0;
}
