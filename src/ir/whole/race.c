/*
 * race.c - the pairs: accesses to one object that overlap, one of them writing, in threads that may run at
 * the same time, without a lock in common.
 */
#include "ir/whole/race.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/whole/shim_whole.h"

/* Beyond these the points-to sets say nothing any more: most is paired with most. */
enum { MAX_USES = 20 * 1000 * 1000, MAX_PAIRS = 400 * 1000, MAX_COMPARED = 200 * 1000 * 1000 };

/* An access of an instance: op and part (0: through a, 1: through b). */
struct access {
    u32 inst, op, part;
};

struct use { /* of an object */
    u32 object;
    u32 class;
    u32 site;
};

struct gather {
    struct dh_w_races *r;
    u64 *readers, *writers; /* by object: roots */
    struct dh_w_pool classes;
    struct access of;        /* the access that ... */
    struct dh_w_class class; /* ... this was made of */
    struct use *uses;
    size_t n_uses, cap_uses;
    size_t compared; /* classes with classes */
};

static bool can_race(u8 kind)
{
    return kind != DH_W_CODE && kind != DH_W_THREAD && kind != DH_W_VARARGS && kind != DH_W_HIDDEN;
}

static bool is_shared(const struct gather *g, u32 object)
{
    const struct dh_w *w = g->r->w;
    const struct dh_w_flow *f = g->r->flow;
    const struct dh_w_object *o = &w->objects[object];
    u64 users = g->readers[object] | g->writers[object];
    if (g->writers[object] == 0 || !can_race(o->kind))
        return false;
    if (users & (users - 1))
        return true;
    u32 root = (u32)__builtin_ctzll(users);
    return f->many[root][DH_W_SOUND] && (o->root != root || o->escapes);
}

/* Every instance, op and location. */
static void each_access(struct gather *g,
                        void (*visit)(struct gather *, const struct access *, dh_pts_location))
{
    struct dh_w *w = g->r->w;
    for (u32 i = 0; i < w->n_insts; i++) {
        const struct dh_w_fn *fn = &w->fns[w->insts[i].fn];
        for (u32 o = 0; o < fn->n_ops; o++) {
            const struct dh_w_op *op = &fn->ops[o];
            for (u32 part = 0; part < 2; part++) {
                dh_pts_location l;
                dh_pts_node node = dh_w_node(w, i, part ? op->b : op->a);
                if ((part ? op->access_b : op->access) == DH_W_NO_ACCESS || node == DH_PTS_NONE)
                    continue;
                struct access a = {i, o, part};
                for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);)
                    visit(g, &a, l);
            }
        }
    }
}

static u8 access_of(const struct dh_w *w, const struct access *a)
{
    const struct dh_w_op *op = &w->fns[w->insts[a->inst].fn].ops[a->op];
    return a->part ? op->access_b : op->access;
}

/* Tables of virtual functions and type information, which a declaration does not call constant. */
static bool is_made_by_compiler(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    return len > 4 && strncmp(name, "_ZT", 3) == 0 && strchr("VTIS", name[3]) != NULL;
}

/* A constant is never written, and neither globals nor locals are freed, whatever the points-to sets say. */
static bool cannot_be(const struct dh_w *w, u32 object, u8 access)
{
    const struct dh_w_object *o = &w->objects[object];
    if (access == DH_PAIRS_FREE && (o->kind == DH_W_GLOBAL || o->kind == DH_W_STACK))
        return true;
    return o->kind == DH_W_GLOBAL && dh_pairs_access_writes(access) &&
           (LLVMIsGlobalConstant(o->value) || is_made_by_compiler(o->value));
}

static void note_user(struct gather *g, const struct access *a, dh_pts_location l)
{
    struct dh_w *w = g->r->w;
    u32 object = dh_pts_place(w->pts, l).object;
    if (cannot_be(w, object, access_of(w, a)))
        return;
    u64 *to = dh_pairs_access_writes(access_of(w, a)) ? g->writers : g->readers;
    to[object] |= 1ull << w->insts[a->inst].root;
}

/* All of a class but the location, which is the same for all that an access may touch. */
static const struct dh_w_class *class_of(struct gather *g, const struct access *a)
{
    struct dh_w *w = g->r->w;
    struct dh_w_class *c = &g->class;
    if (g->of.inst == a->inst && g->of.op == a->op && g->of.part == a->part)
        return c;
    g->of = *a;
    const struct dh_w_inst *inst = &w->insts[a->inst];
    const struct dh_w_op *op = &w->fns[inst->fn].ops[a->op];
    dh_w_value pointer = a->part ? op->b : op->a;
    memset(c, 0, sizeof *c);
    c->type = dh_shim_access_type(op->inst);
    c->length = op->length;
    c->guards = dh_w_guards(g->r, a->inst, a->op, pointer);
    c->access = access_of(w, a);
    c->root = (u8)inst->root;
    c->own = dh_w_own(w, a->inst, pointer);
    c->marks = dh_w_marks(w, a->inst, a->op, pointer);
    return c;
}

static void note_use(struct gather *g, const struct access *a, dh_pts_location l)
{
    struct dh_w *w = g->r->w;
    u32 object = dh_pts_place(w->pts, l).object;
    if (g->n_uses >= MAX_USES || !is_shared(g, object) || cannot_be(w, object, access_of(w, a)))
        return;
    struct dh_w_class c;
    memcpy(&c, class_of(g, a), sizeof c); /* with its padding, which is zero */
    c.location = l;
    if (g->r->guards.size[c.guards] == 0)
        return; /* never reached */
    u32 site = w->fns[w->insts[a->inst].fn].ops[a->op].site + a->part;
    g->uses = dh_util_grow(g->uses, g->n_uses, &g->cap_uses, sizeof *g->uses);
    g->uses[g->n_uses++] = (struct use){object, dh_w_pool_add(&g->classes, &c, sizeof c), site};
}

static int by_object(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

/* Sorted, each once: instances of a function use the same objects again and again. */
static void order_uses(struct gather *g)
{
    size_t n = 0;
    if (g->n_uses > 0)
        qsort(g->uses, g->n_uses, sizeof *g->uses, by_object);
    for (size_t i = 0; i < g->n_uses; i++)
        if (n == 0 || by_object(&g->uses[n - 1], &g->uses[i]) != 0)
            g->uses[n++] = g->uses[i];
    g->n_uses = n;
}

static bool is_atomic(u8 access)
{
    return access == DH_PAIRS_ATOMIC_READ || access == DH_PAIRS_ATOMIC_WRITE ||
           access == DH_PAIRS_ATOMIC_UPDATE;
}

static bool conflict(const struct dh_w_class *a, const struct dh_w_class *b)
{
    return (dh_pairs_access_writes(a->access) || dh_pairs_access_writes(b->access)) &&
           !(is_atomic(a->access) && is_atomic(b->access));
}

/* Strict aliasing: what the compiler may assume, we may too. */
static bool types_overlap(struct dh_w_races *r, const struct dh_w_class *a, const struct dh_w_class *b)
{
    if (a->type == NULL || b->type == NULL || a->type == b->type)
        return true;
    struct dh_w_key key = DH_W_KEY((u64)(uptr)a->type, (u64)(uptr)b->type);
    u32 known = dh_w_table_get(&r->type_pairs, key);
    if (known == DH_W_TABLE_NONE) {
        known = dh_shim_types_overlap(r->w->module, a->type, b->type);
        dh_w_table_put(&r->type_pairs, key, known);
    }
    r->apart += known == 0;
    return known;
}

static void add_found(struct gather *g, u32 object, const struct dh_w_class *a, const struct dh_w_class *b,
                      u32 sa, u32 sb, const struct dh_w_verdict *v)
{
    struct dh_w_races *r = g->r;
    if (sa > sb) {
        struct dh_w_verdict turned = *v;
        turned.locks[0] = v->locks[1];
        turned.locks[1] = v->locks[0];
        add_found(g, object, b, a, sb, sa, &turned);
        return;
    }
    struct dh_w_key key = DH_W_KEY(sa, sb);
    u32 n = dh_w_table_get(&r->found_of, key);
    bool fresh = n == DH_W_TABLE_NONE;
    if (fresh) {
        n = (u32)r->n_found;
        r->found = dh_util_grow(r->found, r->n_found, &r->cap_found, sizeof *r->found);
        r->found[r->n_found++] = (struct dh_w_found){
            .site = {sa, sb}, .object = object, .offset = dh_pts_place(r->w->pts, a->location).offset};
        dh_w_table_put(&r->found_of, key, n);
    }
    struct dh_w_found *f = &r->found[n];
    f->flags |= v->flags;
    f->reasons |= v->reasons;
    f->unless |= v->unless;
    if (is_atomic(a->access) || is_atomic(b->access))
        f->reasons |= DH_PAIRS_BY_ATOMIC;
    if (a->access == DH_PAIRS_FREE || b->access == DH_PAIRS_FREE)
        f->reasons |= DH_PAIRS_BY_FREE;
    if ((a->marks | b->marks) & DH_W_MARK_SPINS)
        f->flags |= DH_PAIRS_AD_HOC;
    f->roots[0] |= 1ull << a->root;
    f->roots[1] |= 1ull << b->root;
    for (int i = 0; i < 2; i++)
        f->locks[i] = fresh ? v->locks[i] : dh_w_set_meet(&r->flow->locks, f->locks[i], v->locks[i]);
}

/* The uses [first, end) of one object: runs of equal classes, compared with each other and with themselves.
 */
static bool compare_classes(struct gather *g, size_t first, size_t end)
{
    struct dh_w_races *r = g->r;
    for (size_t i = first, i_end; i < end; i = i_end) {
        const struct dh_w_class *a = g->classes.item[g->uses[i].class];
        for (i_end = i; i_end < end && g->uses[i_end].class == g->uses[i].class;)
            i_end++;
        for (size_t j = i, j_end; j < end; j = j_end) {
            const struct dh_w_class *b = g->classes.item[g->uses[j].class];
            for (j_end = j; j_end < end && g->uses[j_end].class == g->uses[j].class;)
                j_end++;
            if (++g->compared > MAX_COMPARED)
                return false;
            if (!conflict(a, b) || !types_overlap(r, a, b) ||
                !dh_pts_locations_overlap(r->w->pts, a->location, a->length, b->location, b->length))
                continue;
            const struct dh_w_object *o = &r->w->objects[g->uses[i].object];
            if (a->root == b->root && o->root == a->root && !o->escapes)
                continue;
            struct dh_w_verdict v = dh_w_judge(r, a, b);
            if (v.flags == 0)
                continue;
            if (r->n_found > MAX_PAIRS)
                return false;
            for (size_t x = i; x < i_end; x++)
                for (size_t y = i == j ? x : j; y < j_end; y++)
                    add_found(g, g->uses[i].object, a, b, g->uses[x].site, g->uses[y].site, &v);
        }
    }
    return true;
}

int dh_w_races_find(struct dh_w_races *r)
{
    struct dh_w *w = r->w;
    struct gather g = {.r = r, .of = {.inst = DH_W_NONE}};
    g.readers = calloc(w->n_objects + 1, sizeof *g.readers);
    g.writers = calloc(w->n_objects + 1, sizeof *g.writers);
    if (g.readers == NULL || g.writers == NULL)
        dh_util_no_memory();
    dh_w_pool_init(&g.classes, &w->arena);
    each_access(&g, note_user);
    each_access(&g, note_use);
    order_uses(&g);
    bool too_many = g.n_uses >= MAX_USES;
    for (size_t i = 0, end; i < g.n_uses && !too_many; i = end) {
        for (end = i; end < g.n_uses && g.uses[end].object == g.uses[i].object;)
            end++;
        too_many = !compare_classes(&g, i, end);
    }
    dh_pairs_add_counter(w->pairs, "shared uses", g.n_uses);
    dh_pairs_add_counter(w->pairs, "classes", g.classes.n);
    dh_w_assume(w, DH_W_ASSUME_TYPES, r->apart, NULL);
    dh_w_pool_done(&g.classes);
    free(g.uses);
    free(g.readers);
    free(g.writers);
    return too_many ? -E2BIG : 0;
}
