/*
 * test_pts_random.c - the points-to solver on random small systems of constraints, against two oracles:
 *
 *  - one that repeats all constraints until nothing changes, with the meaning pts.h gives them: results must be
 *    equal (systems in which no array is learnt while solving, which depends on the order);
 *  - one that knows nothing of arrays and folds, and computes with plain offsets: each pointer it finds must
 *    be covered (all systems). And what the solver finds must lie in the objects it finds when
 *    field-insensitive.
 *
 * DH_SEED=n runs one system and prints it.
 */
#include "unit/check.h"

#include "ir/pts/pts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SYSTEMS = 60000,
    OFFSETS = 8, /* units 0 to 6 and "any", as a bit each */
    ANY_BIT = 7,
    OBJECTS = 5,
    FUNCTIONS = 3,
    VALUES = 10,
    CONSTRAINTS = 20
};

enum kind { ADDRESS, COPY, OFFSET, ANY, ELEMENT, LOAD, STORE, MEMCPY, CALL, KINDS };
static const char *const kind_names[] = {"address", "copy",  "offset", "any", "element",
                                         "load",    "store", "memcpy", "call"};

struct constraint {
    enum kind kind;
    int owner; /* -1, or the function whose body it is: it counts once that may be called */
    int a, b, c;
    int offset; /* in units */
    int stride, length;
};

struct system {
    int unit;           /* bytes */
    int size[OBJECTS];  /* in units; 0: unknown */
    int array[OBJECTS]; /* stride in units of an object that is an array as a whole; 0: not */
    int max_fields, huge;
    bool strides; /* there are elements, and cycles that add an offset */
    bool
        copies; /* there are copies as well, but no constant offsets from elements, which could leave a copied array */
    int n;
    struct constraint list[CONSTRAINTS];
};

/* A set: a byte an object, a bit an offset; functions above the objects, with bit 0. */
typedef uint64_t set;

static set bit(int object, int offset)
{
    return (set)1 << (object * OFFSETS + offset);
}

static uint64_t state;

static unsigned draw(unsigned n)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ z >> 31) >> 33) % n;
}

static void generate(struct system *s, uint64_t seed)
{
    state = seed * 1000003;
    memset(s, 0, sizeof *s);
    s->strides = draw(2);
    s->copies = draw(2);
    s->unit = draw(3) ? 8 : 4; /* steps of less than 8 bytes are not learnt from */
    s->max_fields = draw(4) ? 100 : 2;
    s->huge = draw(6) ? 0 : 2 + (int)draw(6);
    for (int o = 0; o < OBJECTS; o++) {
        s->size[o] = 1 + (int)draw(6);
        if (draw(4) == 0 && s->size[o] > 2)
            s->array[o] = 1 + (int)draw(2);
    }
    s->n = 6 + (int)draw(CONSTRAINTS - 5);
    for (int i = 0; i < s->n; i++) {
        struct constraint *c = &s->list[i];
        c->kind = i < 4 ? ADDRESS : draw(KINDS);
        if (c->kind == ELEMENT && !s->strides)
            c->kind = LOAD;
        if (s->strides && c->kind == (s->copies ? OFFSET : MEMCPY))
            c->kind = ELEMENT;
        c->owner = i < 4 || draw(3) ? -1 : (int)draw(FUNCTIONS);
        c->a = (int)draw(VALUES);
        c->b = (int)draw(c->kind == ADDRESS ? OBJECTS + FUNCTIONS : VALUES);
        c->c = (int)draw(VALUES);
        if (c->kind == OFFSET && !s->strides && c->a <= c->b) {
            /* No cycles with offsets, as far as plain constraints go. */
            c->a = c->b;
            c->b = (int)draw((unsigned)c->a + 1);
            if (c->a == c->b)
                c->kind = COPY;
        }
        c->offset = (int)draw(4) - (c->kind == OFFSET && draw(3) == 0 ? 3 : 0);
        if (c->kind == ADDRESS && c->b < OBJECTS)
            c->offset = (int)draw((unsigned)s->size[c->b]);
        else if (s->strides && s->copies)
            c->offset = 0;
        c->stride = 1 + (int)draw(3);
        c->length = draw(3) ? 1 + (int)draw(6) : 0;
    }
}

static void print(const struct system *s)
{
    for (int o = 0; o < OBJECTS; o++)
        printf("object %d: %d units, array of %d\n", o, s->size[o], s->array[o]);
    printf("max_fields %d, huge %d, units of %d bytes\n", s->max_fields, s->huge, s->unit);
    for (int i = 0; i < s->n; i++) {
        const struct constraint *c = &s->list[i];
        printf("%s owner %d: %d %d %d offset %d stride %d length %d\n", kind_names[c->kind], c->owner, c->a,
               c->b, c->c, c->offset, c->stride, c->length);
    }
}

/* ---- The solver under test. Values 0..VALUES-1, then parameter and result of each function. ---- */

struct run {
    const struct system *s;
    struct dh_pts *p;
    dh_pts_node value[VALUES + 2 * FUNCTIONS];
    dh_pts_object object[OBJECTS + FUNCTIONS];
    bool active[FUNCTIONS];
    bool flat;   /* every object field-insensitive */
    set watched; /* what was told of value 0 */
};

static void add(struct run *r, const struct constraint *c)
{
    struct dh_pts *p = r->p;
    const dh_pts_node *v = r->value;
    int unit = r->s->unit;
    uint32_t length = c->length ? (uint32_t)(c->length * unit) : DH_PTS_ANY;
    switch (c->kind) {
    case ADDRESS:
        dh_pts_address(p, v[c->a], r->object[c->b], (uint32_t)(c->offset * unit));
        break;
    case COPY:
        dh_pts_copy(p, v[c->a], v[c->b]);
        break;
    case OFFSET:
        dh_pts_offset(p, v[c->a], v[c->b], c->offset * unit);
        break;
    case ANY:
        dh_pts_any(p, v[c->a], v[c->b]);
        break;
    case ELEMENT:
        dh_pts_element(p, v[c->a], v[c->b], c->offset * unit, (uint32_t)(c->stride * unit), 0);
        break;
    case LOAD:
        dh_pts_load(p, v[c->a], v[c->b], c->offset * unit);
        break;
    case STORE:
        dh_pts_store(p, v[c->a], c->offset * unit, v[c->b]);
        break;
    case MEMCPY:
        dh_pts_memcpy(p, v[c->a], v[c->b], length);
        break;
    case CALL:
        dh_pts_call(p, v[c->b], (void *)c);
        break;
    case KINDS:
        break;
    }
}

static int number_of(const struct run *r, dh_pts_object object)
{
    for (int i = 0; i < OBJECTS + FUNCTIONS; i++)
        if (r->object[i] == object)
            return i;
    fail_msg("an object nobody made");
    return 0;
}

static void on_flow(void *client, void *call, dh_pts_object object, uint32_t offset)
{
    struct run *r = client;
    int f = number_of(r, object);
    if (!call) {
        r->watched |= bit(f, offset == DH_PTS_ANY ? ANY_BIT : (int)offset / r->s->unit);
        return;
    }
    const struct constraint *c = call;
    f -= OBJECTS;
    assert_true(f >= 0 && offset == 0);
    if (!r->active[f]) {
        r->active[f] = true;
        for (int i = 0; i < r->s->n; i++)
            if (r->s->list[i].owner == f)
                add(r, &r->s->list[i]);
    }
    dh_pts_copy(r->p, r->value[VALUES + 2 * f], r->value[c->a]);
    dh_pts_copy(r->p, r->value[c->c], r->value[VALUES + 2 * f + 1]);
}

static void solve(struct run *r, const struct system *s, bool cycles, bool flat)
{
    memset(r, 0, sizeof *r);
    r->s = s;
    r->flat = flat;
    struct dh_pts_options o = {.max_fields = (uint32_t)s->max_fields,
                               .huge = (uint32_t)s->huge,
                               .no_cycles = !cycles,
                               .collect_always = !cycles,
                               .on_flow = on_flow,
                               .client = r};
    assert_int_equal(dh_pts_new(&o, &r->p), 0);
    for (int i = 0; i < OBJECTS; i++) {
        r->object[i] = dh_pts_object_add(r->p, (uint32_t)(s->size[i] * s->unit), flat ? DH_PTS_COLLAPSED : 0);
        dh_pts_array(r->p, r->object[i], 0, DH_PTS_ANY, (uint32_t)(s->array[i] * s->unit));
    }
    for (int i = 0; i < FUNCTIONS; i++)
        r->object[OBJECTS + i] = dh_pts_object_add(r->p, 1, DH_PTS_FUNCTION);
    for (int i = 0; i < VALUES + 2 * FUNCTIONS; i++)
        r->value[i] = dh_pts_value(r->p);
    /* The body of a function is connected to its parameter and its result. */
    for (int f = 0; f < FUNCTIONS; f++) {
        dh_pts_copy(r->p, r->value[f], r->value[VALUES + 2 * f]);
        dh_pts_copy(r->p, r->value[VALUES + 2 * f + 1], r->value[VALUES - 1 - f]);
    }
    dh_pts_watch(r->p, r->value[0], NULL);
    for (int i = 0; i < s->n; i++)
        if (s->list[i].owner < 0)
            add(r, &s->list[i]);
    assert_int_equal(dh_pts_solve(r->p), 0);
}

static set result(const struct run *r, int value)
{
    set out = 0;
    struct dh_pts_iter it = dh_pts_iter(r->p, r->value[value]);
    dh_pts_location l;
    while (dh_pts_next(&it, &l)) {
        struct dh_pts_place at = dh_pts_place(r->p, l);
        out |= bit(number_of(r, at.object), at.offset == DH_PTS_ANY ? ANY_BIT : (int)at.offset / r->s->unit);
    }
    return out;
}

/* ---- The oracles ---- */

struct oracle {
    const struct system *s;
    const struct run *r; /* whose folds and collapses hold; NULL: plain offsets */
    set value[VALUES + 2 * FUNCTIONS];
    set content[OBJECTS][OFFSETS]; /* [ANY_BIT]: what was stored anywhere */
    bool active[FUNCTIONS];
    bool changed;
};

static void grow(struct oracle *o, set *s, set more)
{
    if (more & ~*s) {
        *s |= more;
        o->changed = true;
    }
}

static int canonical(const struct oracle *o, int object, int offset)
{
    if (object >= OBJECTS || !o->r)
        return offset;
    if (offset == ANY_BIT || dh_pts_collapsed(o->r->p, o->r->object[object]))
        return ANY_BIT;
    return (int)dh_pts_canonical(o->r->p, o->r->object[object], (uint32_t)(offset * o->s->unit)) / o->s->unit;
}

/* All offsets of an object, as a set. */
static set everywhere(const struct oracle *o, int object)
{
    set out = 0;
    if (o->r)
        return bit(object, ANY_BIT);
    for (int i = 0; i <= o->s->size[object]; i++)
        out |= bit(object, i);
    return out;
}

/* Where one location and an offset lead. */
static set moved(const struct oracle *o, int object, int from, int offset)
{
    if (object >= OBJECTS)
        return bit(object, from);
    if (from == ANY_BIT)
        return bit(object, ANY_BIT);
    int to = from + offset, size = o->s->size[object], array = o->r ? o->s->array[object] : 0;
    if (array && from < size && (to < 0 || to >= size) && abs(offset) < size)
        to = ((to % array) + array) % array;
    if (to < 0 || to > size)
        return 0;
    return bit(object, canonical(o, object, to));
}

static set moved_all(const struct oracle *o, set from, int offset)
{
    set out = 0;
    for (int i = 0; i < (OBJECTS + FUNCTIONS) * OFFSETS; i++)
        if (from >> i & 1)
            out |= moved(o, i / OFFSETS, i % OFFSETS, offset);
    return out;
}

/* Without the ends of objects: an element is in its array, and so is what walks from one to the next. */
static set elements(const struct oracle *o, set from)
{
    for (int i = 0; i < OBJECTS && !o->r && o->s->strides; i++)
        from &= ~bit(i, o->s->size[i]);
    return from;
}

static set read(const struct oracle *o, int object, int offset)
{
    set out = 0;
    if (object >= OBJECTS)
        return 0;
    for (int i = 0; i < OFFSETS; i++)
        if (i == offset || i == ANY_BIT || offset == ANY_BIT)
            out |= o->content[object][i];
    return out;
}

static void copy_bytes(struct oracle *o, int to, int to_at, int from, int from_at, int length)
{
    if (to >= OBJECTS || from >= OBJECTS)
        return;
    /* What may be anywhere in the source comes to any word of the target, if it is known where that ends. */
    set any = from_at == ANY_BIT ? read(o, from, ANY_BIT) : o->content[from][ANY_BIT];
    if (to_at == ANY_BIT || length == OFFSETS)
        grow(o, &o->content[to][ANY_BIT], any);
    else
        for (int i = 0; i < length && to_at + i < o->s->size[to]; i += 8 / o->s->unit)
            grow(o, &o->content[to][canonical(o, to, to_at + i)], any);
    if (from_at == ANY_BIT)
        return;
    for (int i = 0; i < length && from_at + i < ANY_BIT; i++) {
        if (from_at + i >= o->s->size[from])
            break;
        int source = canonical(o, from, from_at + i);
        if (to_at == ANY_BIT)
            grow(o, &o->content[to][ANY_BIT], read(o, from, source));
        else if (to_at + i < o->s->size[to])
            grow(o, &o->content[to][canonical(o, to, to_at + i)], read(o, from, source));
    }
}

static void step(struct oracle *o, const struct constraint *c)
{
    set *v = o->value;
    if (c->owner >= 0 && !o->active[c->owner])
        return;
    if (c->kind == ADDRESS)
        grow(o, &v[c->a], bit(c->b, c->b < OBJECTS ? canonical(o, c->b, c->offset) : 0));
    else if (c->kind == COPY)
        grow(o, &v[c->a], v[c->b]);
    else if (c->kind == OFFSET)
        grow(o, &v[c->a], elements(o, moved_all(o, v[c->b], c->offset)));
    else if (c->kind == ELEMENT)
        for (int i = -OFFSETS; i <= OFFSETS; i++)
            grow(o, &v[c->a], elements(o, moved_all(o, v[c->b], c->offset + i * c->stride)));
    for (int i = 0; i < (OBJECTS + FUNCTIONS) * OFFSETS; i++) {
        int object = i / OFFSETS;
        /* What is dereferenced, copied or called: the address of a store and of a memcpy is a. */
        if (c->kind == STORE || c->kind == MEMCPY) {
            if (!(v[c->a] >> i & 1) || object >= OBJECTS)
                continue;
        } else if (!(v[c->b] >> i & 1))
            continue;
        set at = moved(o, object, i % OFFSETS, c->offset);
        if (c->kind == ANY)
            grow(o, &v[c->a], object < OBJECTS ? everywhere(o, object) : bit(object, 0));
        for (int j = 0; j < OFFSETS && object < OBJECTS; j++) {
            if (!(at & bit(object, j)) || (!o->r && j == o->s->size[object]))
                continue;
            if (c->kind == LOAD)
                grow(o, &v[c->a], read(o, object, j));
            else if (c->kind == STORE)
                grow(o, &o->content[object][j], v[c->b]);
        }
        for (int j = 0; c->kind == MEMCPY && j < OBJECTS * OFFSETS; j++)
            if (v[c->b] >> j & 1)
                copy_bytes(o, object, i % OFFSETS, j / OFFSETS, j % OFFSETS, c->length ? c->length : OFFSETS);
        if (c->kind == CALL && object >= OBJECTS) {
            int f = object - OBJECTS;
            o->changed |= !o->active[f];
            o->active[f] = true;
            grow(o, &v[VALUES + 2 * f], v[c->a]);
            grow(o, &v[c->c], v[VALUES + 2 * f + 1]);
        }
    }
}

static void fixpoint(struct oracle *o, const struct system *s, const struct run *r)
{
    memset(o, 0, sizeof *o);
    o->s = s;
    o->r = r;
    do {
        o->changed = false;
        for (int f = 0; f < FUNCTIONS; f++) {
            grow(o, &o->value[f], o->value[VALUES + 2 * f]);
            grow(o, &o->value[VALUES + 2 * f + 1], o->value[VALUES - 1 - f]);
        }
        for (int i = 0; i < s->n; i++)
            step(o, &s->list[i]);
    } while (o->changed);
}

/* ---- The comparison ---- */

/* Each plain pointer is in the solver's set, as itself or as part of a fold. */
static bool covers(const struct run *r, set found, set plain)
{
    for (int i = 0; i < (OBJECTS + FUNCTIONS) * OFFSETS; i++) {
        int object = i / OFFSETS, offset = i % OFFSETS;
        if (!(plain >> i & 1))
            continue;
        /* One past the end: which element's end is not worth a location. */
        if (object < OBJECTS && offset == r->s->size[object])
            continue;
        int canon = offset;
        if (object < OBJECTS) {
            uint32_t c = dh_pts_canonical(r->p, r->object[object], (uint32_t)(offset * r->s->unit));
            canon = c == DH_PTS_ANY ? ANY_BIT : (int)c / r->s->unit;
        }
        if (!(found & (bit(object, canon) | bit(object, ANY_BIT))))
            return false;
    }
    return true;
}

static set objects_of(set s)
{
    set out = 0;
    for (int i = 0; i < OBJECTS + FUNCTIONS; i++)
        if (s >> i * OFFSETS & 0xff)
            out |= bit(i, 0);
    return out;
}

/* 1: compared for equality, 0: for soundness, -1: wrong. */
static int check(uint64_t seed, bool say)
{
    struct system s;
    struct run with, without, flat;
    struct oracle exact, plain;
    struct dh_pts_stats stats;
    int verdict;
    generate(&s, seed);
    if (say)
        print(&s);
    solve(&with, &s, true, false);
    solve(&without, &s, false, false);
    solve(&flat, &s, true, true);
    fixpoint(&plain, &s, NULL);
    fixpoint(&exact, &s, &with);
    dh_pts_statistics(with.p, &stats);
    int arrays = 0;
    for (int i = 0; i < OBJECTS; i++)
        arrays += s.array[i] && s.array[i] < s.size[i];
    /* Huge sets are larger than they need be, and when they get huge depends on what was merged before. */
    verdict = !s.strides && !stats.strided_cycles && stats.folded == (uint64_t)arrays && !s.huge;
    for (int i = 0; i < VALUES + 2 * FUNCTIONS && verdict >= 0; i++) {
        set found = result(&with, i);
        if (say)
            printf("value %d: found %016llx, without merging %016llx, oracle %016llx, plain %016llx\n", i,
                   (unsigned long long)found, (unsigned long long)result(&without, i),
                   (unsigned long long)exact.value[i], (unsigned long long)plain.value[i]);
        if (verdict == 1 && (found != exact.value[i] || found != result(&without, i)))
            verdict = -1;
        else if (!covers(&with, found, plain.value[i]) ||
                 !covers(&without, result(&without, i), plain.value[i]))
            verdict = -1;
        else if (!s.huge && (objects_of(found) & ~objects_of(result(&flat, i))))
            verdict = -1;
    }
    if (verdict == 1 && !stats.collapsed && with.watched != result(&with, 0))
        verdict = -1;
    dh_pts_free(with.p);
    dh_pts_free(without.p);
    dh_pts_free(flat.p);
    return verdict;
}

static void test_random_systems(void **unused)
{
    (void)unused;
    int equal = 0;
    const char *one = getenv("DH_SEED");
    if (one) {
        assert_true(check(strtoull(one, NULL, 10), true) >= 0);
        return;
    }
    for (uint64_t seed = 1; seed <= SYSTEMS; seed++) {
        int verdict = check(seed, false);
        if (verdict < 0)
            fail_msg("wrong on the system of DH_SEED=%llu", (unsigned long long)seed);
        equal += verdict;
    }
    /* The generator must not drift to where only soundness is compared. */
    assert_true(equal > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_systems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
