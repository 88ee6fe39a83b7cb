/*
 * fixed.c - pointers in memory that no longer change once there are threads.
 *
 *     data = malloc(...);
 *     for (...) pthread_create(...);       and each thread: data[i] = ...
 *
 * Whatever reads such a variable, in any thread, reads one value: then data[i].lock and data[i].count, for
 * which it is read twice, are at a constant distance (address.h). A place is fixed if all writes to it,
 * according to the points-to sets, are made by main, or by functions it calls, before any thread can have
 * been created that reads it or creates one that does; and if main itself reads it, only after the last of
 * these.
 *
 * The same is checked for pointers in arrays and structures that are read by functions that lock, call one
 * that locks its argument, create threads, or are thread entry functions: for all places at once that such an
 * operation may read, according to the points-to sets.
 *
 * The position of main when something happens is given by its own operations: the calls that lead there.
 */
#include <stdlib.h>

#include "ir/whole/counted.h"

enum { MAX_OPS = 64, MAX_WRITERS = 16, MAX_PLACES = 1024, MAX_AT = 8, WORD = 8 };
enum { END = 0 }; /* of a list: its first element is never used */

/* Operations of main during which something may happen. */
struct when {
    u32 op[MAX_OPS];
    u32 n;
    bool any; /* or at any time */
};

/* A place in a global variable, or all that one operation reads. */
struct place {
    dh_pts_object object; /* the global variable, if nothing is known of the place in it: n_at is 0 */
    dh_pts_location at[MAX_AT];
    u32 n_at;
    struct writer {
        u32 inst, op;
    } writers[MAX_WRITERS];
    u32 n_writers;
    u64 readers;  /* roots, without main's */
    u32 listed;   /* the last of the lists of `written` that it was put in */
    bool changes; /* for all that is known */
};

/* An element of a list of places. */
struct link {
    u32 place, next;
};

struct search {
    struct dh_w_flow *f;
    struct dh_w *w;
    u32 main;
    const struct dh_w_fn *fn; /* main's */
    struct when *when;        /* by instance, of those that main's thread runs */
    u64 descendants[DH_W_MAX_ROOTS];
    struct place *places;
    size_t n_places;
    struct link *links;
    size_t n_links, cap_links;
    struct dh_w_table place_of;  /* by global and offset, or by function and operation */
    struct dh_w_table of_object; /* by object: the list of places in it */
    struct dh_w_table written; /* by points-to set and length: the list of places that such a write reaches */
    u32 n_written;
};

/* ---- when ---- */

static void add_when(struct when *to, u32 op)
{
    for (u32 i = 0; i < to->n; i++)
        if (to->op[i] == op)
            return;
    if (to->n == MAX_OPS)
        to->any = true;
    else
        to->op[to->n++] = op;
}

static bool add_all(struct when *to, const struct when *from)
{
    u32 before = to->n;
    bool any = to->any;
    if (any)
        return false;
    for (u32 i = 0; i < from->n; i++)
        add_when(to, from->op[i]);
    to->any |= from->any;
    return to->n != before || to->any != any;
}

static void find_when(struct search *s)
{
    const struct dh_w *w = s->w;
    for (u32 i = 0; i < w->n_insts; i++)
        s->when[i].any = i != s->main && dh_w_starts_itself(w, i);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < w->n_insts; i++)
            for (size_t e = 0; e < w->insts[i].n_edges; e++) {
                const struct dh_w_edge *edge = &w->insts[i].edges[e];
                struct when one = {.op = {edge->op}, .n = 1, .any = edge->late};
                changed |= add_all(&s->when[edge->inst], i == s->main ? &one : &s->when[i]);
            }
    }
}

/* When an op of an instance of main's thread is done. */
static struct when when_of(const struct search *s, u32 inst, u32 op)
{
    struct when here = {.op = {op}, .n = 1};
    return inst == s->main ? here : s->when[inst];
}

/* Whether one of main's ops may come behind another, or during it. */
static bool may_follow(const struct search *s, u32 op, u32 first)
{
    const struct dh_w_fn *fn = s->fn;
    u32 a = dh_w_block_of(fn, first), b = dh_w_block_of(fn, op);
    if (a == b && op >= first)
        return true;
    for (u32 i = 0; i < fn->blocks[a].succs; i++)
        if (dh_w_reaches(fn, fn->succ[fn->blocks[a].succ + i], b, DH_W_NONE, NULL))
            return true;
    return false;
}

/* Each root with those that it creates, and they create, and so on. */
static void find_descendants(struct search *s)
{
    const struct dh_w *w = s->w;
    for (u32 r = 0; r < w->n_roots; r++)
        s->descendants[r] = 1ull << r;
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < w->n_insts; i++)
            for (size_t k = 0; k < w->insts[i].n_forks; k++) {
                u64 *to = &s->descendants[w->insts[i].root];
                u64 all = *to | s->descendants[w->insts[i].forks[k].root];
                changed |= all != *to;
                *to = all;
            }
    }
}

/* When main's thread creates threads that are some of these, or lead to them. */
static struct when creations(const struct search *s, u64 roots)
{
    const struct dh_w *w = s->w;
    struct when all = {.n = 0};
    for (u32 i = 0; i < w->n_insts; i++)
        for (size_t k = 0; k < w->insts[i].n_forks && w->insts[i].root == 0; k++)
            if (s->descendants[w->insts[i].forks[k].root] & roots) {
                struct when at = when_of(s, i, w->insts[i].forks[k].op);
                add_all(&all, &at);
            }
    return all;
}

/* ---- places ---- */

static bool is_read_plainly(const struct dh_w_op *op)
{
    return op->kind == DH_W_LOAD && op->access == DH_PAIRS_READ && op->dst != DH_W_NONE &&
           LLVMIsALoadInst(op->inst) != NULL && !LLVMGetVolatile(op->inst) &&
           LLVMGetTypeKind(LLVMTypeOf(op->inst)) == LLVMPointerTypeKind;
}

static u32 push(struct search *s, u32 place, u32 list)
{
    s->links = dh_util_grow(s->links, s->n_links, &s->cap_links, sizeof *s->links);
    s->links[s->n_links] = (struct link){place, list};
    return (u32)s->n_links++;
}

static u32 places_in(const struct search *s, dh_pts_object object)
{
    u32 list = dh_w_table_get(&s->of_object, DH_W_KEY(object));
    return list == DH_W_TABLE_NONE ? END : list;
}

static void set_object(struct search *s, const struct place *p, dh_pts_object object)
{
    u32 n = (u32)(p - s->places), list = places_in(s, object);
    if (list == END || s->links[list].place != n)
        dh_w_table_put(&s->of_object, DH_W_KEY(object), push(s, n, list));
}

static struct place *add_place(struct search *s, struct dh_w_key key)
{
    if (s->n_places == MAX_PLACES)
        return NULL;
    dh_w_table_put(&s->place_of, key, (u32)s->n_places);
    return &s->places[s->n_places++];
}

static void add_at(struct search *s, struct place *p, dh_pts_location l)
{
    dh_pts_object object = dh_pts_place(s->w->pts, l).object;
    u8 kind = s->w->objects[object].kind;
    for (u32 i = 0; i < p->n_at; i++)
        if (p->at[i] == l)
            return;
    if (p->n_at == MAX_AT || (kind != DH_W_GLOBAL && kind != DH_W_STACK && kind != DH_W_HEAP)) {
        p->changes = true;
        return;
    }
    p->at[p->n_at++] = l;
    set_object(s, p, object);
}

static struct dh_w_key key_of(const struct search *s, const struct dh_w_fn *fn, u32 op)
{
    LLVMValueRef global;
    int64_t off;
    if (dh_w_constant_place(s->w, fn->ops[op].a, &global, &off))
        return DH_W_KEY((u64)(uptr)global, (u64)off);
    return DH_W_KEY((u64)(uptr)fn->value, op);
}

static struct place *place_of(struct search *s, const struct dh_w_fn *fn, u32 op)
{
    u32 n = is_read_plainly(&fn->ops[op]) ? dh_w_table_get(&s->place_of, key_of(s, fn, op)) : DH_W_TABLE_NONE;
    return n == DH_W_TABLE_NONE ? NULL : &s->places[n];
}

static void find_in_variable(struct search *s, const struct dh_w_fn *fn, u32 op)
{
    LLVMValueRef global;
    int64_t off;
    if (!is_read_plainly(&fn->ops[op]) || !dh_w_constant_place(s->w, fn->ops[op].a, &global, &off) ||
        off < 0 || place_of(s, fn, op) != NULL)
        return;
    struct place *p = add_place(s, key_of(s, fn, op));
    if (p == NULL)
        return;
    p->object = s->w->globals[dh_w_global(s->w, global)].object;
    dh_pts_location at = dh_pts_find(s->w->pts, p->object, dh_pts_canonical(s->w->pts, p->object, (u32)off));
    if (at != DH_PTS_NONE)
        p->at[p->n_at++] = at;
    set_object(s, p, p->object);
}

static void find_in_memory(struct search *s, u32 number, u32 op)
{
    const struct dh_w *w = s->w;
    const struct dh_w_fn *fn = &w->fns[number];
    LLVMValueRef global;
    int64_t off;
    dh_pts_location l;
    if (!is_read_plainly(&fn->ops[op]) || dh_w_constant_place(w, fn->ops[op].a, &global, &off))
        return;
    struct place *p = add_place(s, key_of(s, fn, op));
    for (u32 i = 0; i < w->n_insts && p != NULL; i++) {
        dh_pts_node node = w->insts[i].fn == number ? dh_w_node(w, i, fn->ops[op].a) : DH_PTS_NONE;
        if (node == DH_PTS_NONE)
            continue;
        for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l) && !p->changes;)
            add_at(s, p, l);
    }
    if (p != NULL && p->n_at == 0)
        p->changes = true;
}

/* Whether a function locks, creates threads, or is the first of one. */
static bool is_asked(const struct dh_w *w, u32 number)
{
    const struct dh_w_fn *fn = &w->fns[number];
    for (u32 r = 1; r < w->n_roots; r++)
        if (w->roots[r].fn == number)
            return true;
    for (size_t o = 0; o < fn->n_ops; o++)
        if (fn->ops[o].kind == DH_W_LOCK || fn->ops[o].kind == DH_W_TRYLOCK || fn->ops[o].kind == DH_W_FORK)
            return true;
    return false;
}

/* Whether a function calls one by name that locks what it is given. */
static bool calls_lock(const struct dh_w *w, const struct dh_w_fn *fn)
{
    for (size_t i = 0; i < fn->n_calls; i++) {
        const struct dh_w_fn *to = fn->calls[i].fn == DH_W_NONE ? NULL : &w->fns[fn->calls[i].fn];
        for (size_t o = 0; to != NULL && o < to->n_ops; o++)
            if ((to->ops[o].kind == DH_W_LOCK || to->ops[o].kind == DH_W_TRYLOCK) &&
                to->ops[o].a < DH_W_CONSTANT && dh_w_base_of(to, to->ops[o].a) < to->args)
                return true;
    }
    return false;
}

static void find_places(struct search *s)
{
    const struct dh_w *w = s->w;
    for (u32 i = 0; i < w->n_fns; i++)
        for (u32 o = 0; o < w->fns[i].n_ops; o++)
            find_in_variable(s, &w->fns[i], o);
    /* Those that call a lock come last: there may be no room for all. */
    for (u32 pass = 0; pass < 2; pass++)
        for (u32 i = 0; i < w->n_fns; i++) {
            bool asks = is_asked(w, i) ? pass == 0 : pass == 1 && calls_lock(w, &w->fns[i]);
            for (u32 o = 0; asks && o < w->fns[i].n_ops; o++)
                find_in_memory(s, i, o);
        }
    for (u32 i = 0; i < w->n_insts && s->n_places > 0; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            struct place *p = place_of(s, fn, o);
            if (p != NULL)
                p->readers |= 1ull << w->insts[i].root & ~1ull;
        }
    }
}

static void add_writer(struct place *p, u32 inst, u32 op)
{
    if (p->n_writers > 0 && p->writers[p->n_writers - 1].inst == inst &&
        p->writers[p->n_writers - 1].op == op)
        return;
    if (p->n_writers == MAX_WRITERS)
        p->changes = true;
    else
        p->writers[p->n_writers++] = (struct writer){inst, op};
}

/* Whether a write there reaches a place, which has something in the same object. */
static bool reaches(const struct search *s, const struct place *p, dh_pts_location l, u32 length)
{
    if (p->n_at == 0)
        return true;
    for (u32 i = 0; i < p->n_at; i++)
        if (dh_pts_locations_overlap(s->w->pts, l, length, p->at[i], WORD))
            return true;
    return false;
}

/* Large programs have hundreds of thousands of writes through pointers, thousands of which share a set of
 * thousands of locations: each set is looked through once. */
static u32 places_written(struct search *s, dh_pts_node node, u32 length)
{
    struct dh_w_key key = DH_W_KEY(dh_pts_set_number(s->w->pts, node), length);
    u32 list = dh_w_table_get(&s->written, key);
    if (list != DH_W_TABLE_NONE)
        return list;
    dh_pts_location l;
    list = END;
    s->n_written++;
    for (struct dh_pts_iter it = dh_pts_iter(s->w->pts, node); dh_pts_next(&it, &l);)
        for (u32 e = places_in(s, dh_pts_place(s->w->pts, l).object); e != END; e = s->links[e].next) {
            struct place *p = &s->places[s->links[e].place];
            if (p->changes || p->listed == s->n_written || !reaches(s, p, l, length))
                continue;
            p->listed = s->n_written;
            list = push(s, (u32)(p - s->places), list);
        }
    dh_w_table_put(&s->written, key, list);
    return list;
}

/* One place that an op may write: whatever lies in it has a writer. */
static void note_write(struct search *s, u32 inst, u32 op, const struct dh_w_write *to)
{
    dh_pts_node node = dh_w_node(s->w, inst, to->at);
    u32 list = node == DH_PTS_NONE ? END : places_written(s, node, to->length);
    for (; list != END; list = s->links[list].next)
        add_writer(&s->places[s->links[list].place], inst, op);
}

static void find_writers(struct search *s)
{
    const struct dh_w *w = s->w;
    struct dh_w_write to[DH_W_MAX_WRITES];
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++)
            for (size_t n = dh_w_writes(&fn->ops[o], to); n-- > 0;)
                note_write(s, i, o, &to[n]);
    }
}

/* ---- what is fixed ---- */

static bool may_follow_any(const struct search *s, const struct when *ops, const struct when *first)
{
    if (ops->any || first->any)
        return true;
    for (u32 i = 0; i < ops->n; i++)
        for (u32 k = 0; k < first->n; k++)
            if (may_follow(s, ops->op[i], first->op[k]))
                return true;
    return false;
}

static void find_changing(struct search *s)
{
    for (size_t i = 0; i < s->n_places; i++) {
        struct place *p = &s->places[i];
        struct when forks = p->n_writers > 0 ? creations(s, p->readers) : (struct when){.n = 0};
        for (u32 k = 0; k < p->n_writers && !p->changes; k++) {
            struct when at = when_of(s, p->writers[k].inst, p->writers[k].op);
            p->changes = s->w->insts[p->writers[k].inst].root != 0 || may_follow_any(s, &at, &forks);
        }
    }
}

/* Whether main's thread reads a place in this instance only behind all that writes it. */
static bool is_behind_writers(const struct search *s, const struct place *p, u32 inst, u32 op)
{
    struct when read = when_of(s, inst, op);
    for (u32 k = 0; k < p->n_writers; k++) {
        struct when write = when_of(s, p->writers[k].inst, p->writers[k].op);
        if (may_follow_any(s, &write, &read))
            return false;
    }
    return true;
}

static void mark(struct search *s)
{
    struct dh_w *w = s->w;
    for (u32 n = 0; n < w->n_fns; n++) {
        struct dh_w_fn *fn = &w->fns[n];
        for (u32 o = 0; o < fn->n_ops; o++) {
            struct place *p = place_of(s, fn, o);
            bool fixed = p != NULL && !p->changes;
            for (u32 i = 0; i < w->n_insts && fixed; i++)
                if (w->insts[i].fn == n && w->insts[i].root == 0)
                    fixed = is_behind_writers(s, p, i, o);
            if (fixed)
                fn->ops[o].flags |= DH_W_FIXED;
        }
    }
}

void dh_w_fixed_find(struct dh_w_flow *f)
{
    struct dh_w *w = f->w;
    struct search s = {.f = f, .w = w, .main = w->n_roots > 0 ? w->roots[0].inst : DH_W_NONE};
    if (w->large || w->main_fn == DH_W_NONE || s.main == DH_W_NONE || !dh_w_runs_once(f, s.main))
        return;
    s.fn = &w->fns[w->insts[s.main].fn];
    s.when = calloc(w->n_insts + 1, sizeof *s.when);
    s.places = calloc(MAX_PLACES, sizeof *s.places);
    if (s.when == NULL || s.places == NULL)
        dh_util_no_memory();
    push(&s, 0, END);
    find_when(&s);
    find_descendants(&s);
    find_places(&s);
    find_writers(&s);
    find_changing(&s);
    mark(&s);
    free(s.when);
    free(s.places);
    free(s.links);
    dh_w_table_done(&s.place_of);
    dh_w_table_done(&s.of_object);
    dh_w_table_done(&s.written);
}
