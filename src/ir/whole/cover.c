/*
 * cover.c - see cover.h.
 *
 * Two byte ranges overlap if one of them begins in the other. So a cover records its starts and all locations
 * within its bytes, and two covers meet if a start of one is within the other. In a large program a cover
 * meets nearly all others or nearly none; so it is not compared with them one by one, but looks up which
 * others are at each of its locations.
 */
#include "ir/whole/cover.h"

#include <stdlib.h>
#include <string.h>

/* What the kind of an access says about the objects it can have. */
enum kind { READS, WRITES, FREES };

static enum kind kind_of(u8 access)
{
    return access == DH_PAIRS_FREE ? FREES : dh_pairs_access_writes(access) ? WRITES : READS;
}

void dh_w_covers_init(struct dh_w_covers *c, struct dh_w *w, const bool *many)
{
    *c = (struct dh_w_covers){.w = w, .many = many};
    for (size_t i = 0; i < w->n_roots; i++)
        if (dh_w_runs_on_others(&w->roots[i]))
            c->guests |= 1ull << i;
    c->readers = calloc(w->n_objects + 1, sizeof *c->readers);
    c->writers = calloc(w->n_objects + 1, sizeof *c->writers);
    if (c->readers == NULL || c->writers == NULL || dh_intern_init(&c->sets) != 0)
        dh_util_no_memory();
    dh_w_pool_init(&c->covers, &w->arena);
    dh_w_pool_add(&c->covers, &(struct dh_w_cover){0, 0, 0}, sizeof(struct dh_w_cover));
    dh_w_pool_init(&c->places, &w->arena);
}

void dh_w_covers_done(struct dh_w_covers *c)
{
    free(c->readers);
    free(c->writers);
    dh_intern_done(&c->sets);
    dh_w_pool_done(&c->covers);
    dh_w_table_done(&c->noted);
    dh_w_table_done(&c->parts);
    dh_w_table_done(&c->cover_of);
    dh_w_table_done(&c->inside);
    free(c->row_of);
    free(c->beginning);
    free(c->having);
    free(c->met);
    dh_w_table_done(&c->places_of);
    dh_w_pool_done(&c->places);
}

/* ---- which objects are shared ---- */

/* Tables of virtual functions and type information, which a declaration does not call constant. */
static bool is_made_by_compiler(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    return len > 4 && strncmp(name, "_ZT", 3) == 0 && strchr("VTIS", name[3]) != NULL;
}

/* A constant is never written, and neither globals nor locals are freed, whatever the points-to sets say. */
static bool cannot_be(const struct dh_w_object *o, enum kind kind)
{
    if (kind == FREES && (o->kind == DH_W_GLOBAL || o->kind == DH_W_STACK))
        return true;
    return o->kind == DH_W_GLOBAL && kind != READS &&
           (LLVMIsGlobalConstant(o->value) || is_made_by_compiler(o->value));
}

void dh_w_covers_note(struct dh_w_covers *c, dh_pts_node node, u8 access, u32 root)
{
    struct dh_w *w = c->w;
    enum kind kind = kind_of(access);
    struct dh_w_key key = DH_W_KEY(dh_pts_set_number(w->pts, node), kind, root);
    dh_pts_location l;
    if (dh_w_table_get(&c->noted, key) != DH_W_TABLE_NONE)
        return;
    dh_w_table_put(&c->noted, key, 0);
    u64 *to = kind == READS ? c->readers : c->writers;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, node); dh_pts_next(&it, &l);) {
        u32 object = dh_pts_place(w->pts, l).object;
        if (!cannot_be(&w->objects[object], kind))
            to[object] |= 1ull << root;
    }
}

static bool can_race(u8 kind)
{
    return kind != DH_W_CODE && kind != DH_W_THREAD && kind != DH_W_VARARGS && kind != DH_W_HIDDEN;
}

/* What belongs to one thread and does not escape from it, no other thread of the same root can reach. */
static bool is_shared(const struct dh_w_covers *c, u32 object, u32 root, bool itself)
{
    const struct dh_w_object *o = &c->w->objects[object];
    u64 users = c->readers[object] | c->writers[object];
    if (c->writers[object] == 0 || !can_race(o->kind))
        return false;
    if (!o->escapes) {
        if (c->guests >> root & 1)
            return false;
        users &= ~c->guests;
    }
    if (itself)
        return c->many[root] && (o->root != root || o->escapes);
    return (users & ~(1ull << root)) != 0;
}

/* ---- covers ---- */

static u32 taken(struct dh_w_covers *c, struct dh_set *set)
{
    u32 n = dh_intern_take(&c->sets, set);
    if (n == DH_INTERN_FAILED)
        dh_util_no_memory();
    return n;
}

static void add(struct dh_set *set, u32 member)
{
    if (dh_set_add(set, member) < 0)
        dh_util_no_memory();
}

/* The shared part of a node's set. */
static u32 shared_part(struct dh_w_covers *c, const struct dh_w_touch *t, u32 root, bool itself)
{
    struct dh_w *w = c->w;
    enum kind kind = kind_of(t->access);
    struct dh_w_key key = DH_W_KEY(dh_pts_set_number(w->pts, t->node), (u64)kind << 1 | itself, root);
    u32 known = dh_w_table_get(&c->parts, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    struct dh_set part = {0};
    dh_pts_location l;
    for (struct dh_pts_iter it = dh_pts_iter(w->pts, t->node); dh_pts_next(&it, &l);) {
        u32 object = dh_pts_place(w->pts, l).object;
        if (is_shared(c, object, root, itself) && !cannot_be(&w->objects[object], kind))
            add(&part, l);
    }
    u32 n = taken(c, &part);
    dh_w_table_put(&c->parts, key, n);
    return n;
}

/* The locations in `length` bytes from one. */
static u32 locations_inside(struct dh_w_covers *c, dh_pts_location from, u32 length)
{
    struct dh_w_key key = DH_W_KEY(from, length);
    u32 known = dh_w_table_get(&c->inside, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    struct dh_set set = {0};
    const dh_pts_location *fields;
    u32 n = dh_pts_fields(c->w->pts, dh_pts_place(c->w->pts, from).object, &fields);
    for (u32 i = 0; i < n; i++)
        if (dh_pts_locations_overlap(c->w->pts, from, length, fields[i], 1))
            add(&set, fields[i]);
    add(&set, from);
    u32 all = taken(c, &set);
    dh_w_table_put(&c->inside, key, all);
    return all;
}

u32 dh_w_cover(struct dh_w_covers *c, const struct dh_w_touch *t, u32 root, bool itself)
{
    u32 starts = shared_part(c, t, root, itself), length = t->length, l;
    if (starts == 0)
        return 0;
    struct dh_w_key key = DH_W_KEY(starts, length);
    u32 known = dh_w_table_get(&c->cover_of, key);
    if (known != DH_W_TABLE_NONE)
        return known;
    struct dh_set members = *dh_intern_set(&c->sets, starts), within = {0}; /* the table may move */
    struct dh_set_iter it;
    dh_set_iter_init(&it, &members);
    while (dh_set_next(&it, &l))
        if (dh_set_join(&within, dh_intern_set(&c->sets, locations_inside(c, l, length))) != 0)
            dh_util_no_memory();
    struct dh_w_cover cover = {starts, taken(c, &within), length};
    u32 n = dh_w_pool_add(&c->covers, &cover, sizeof cover);
    dh_w_table_put(&c->cover_of, key, n);
    return n;
}

/* ---- which covers meet ---- */

static void set_bit(u64 *bits, size_t n)
{
    bits[n / 64] |= 1ull << n % 64;
}

static void *zeros(size_t n, size_t size)
{
    void *all = calloc(n + 1, size);
    if (all == NULL)
        dh_util_no_memory();
    return all;
}

void dh_w_covers_index(struct dh_w_covers *c)
{
    struct dh_pts_stats stats;
    struct dh_set_iter it;
    size_t rows = 0;
    u32 l;
    dh_pts_statistics(c->w->pts, &stats);
    c->words = c->covers.n / 64 + 1;
    c->row_of = zeros(stats.locations, sizeof *c->row_of);
    memset(c->row_of, 0xff, stats.locations * sizeof *c->row_of);
    for (size_t i = 1; i < c->covers.n; i++) {
        const struct dh_w_cover *cover = c->covers.item[i];
        dh_set_iter_init(&it, dh_intern_set(&c->sets, cover->within));
        while (dh_set_next(&it, &l))
            if (c->row_of[l] == DH_W_NONE)
                c->row_of[l] = (u32)rows++;
    }
    c->beginning = zeros(rows * c->words, sizeof *c->beginning);
    c->having = zeros(rows * c->words, sizeof *c->having);
    c->met = zeros(c->words, sizeof *c->met);
    for (size_t i = 1; i < c->covers.n; i++) {
        const struct dh_w_cover *cover = c->covers.item[i];
        dh_set_iter_init(&it, dh_intern_set(&c->sets, cover->starts));
        while (dh_set_next(&it, &l))
            set_bit(&c->beginning[c->row_of[l] * c->words], i);
        dh_set_iter_init(&it, dh_intern_set(&c->sets, cover->within));
        while (dh_set_next(&it, &l))
            set_bit(&c->having[c->row_of[l] * c->words], i);
    }
}

/* Any location that two have in common would do, if it is always the same one. */
void dh_w_covers_row(struct dh_w_covers *c, u32 cover, u32 *ret_at)
{
    const struct dh_w_cover *x = c->covers.item[cover];
    const struct dh_set *starts = dh_intern_set(&c->sets, x->starts);
    struct dh_set_iter it;
    u32 l;
    memset(ret_at, 0, c->covers.n * sizeof *ret_at);
    memset(c->met, 0, c->words * sizeof *c->met);
    dh_set_iter_init(&it, dh_intern_set(&c->sets, x->within));
    while (dh_set_next(&it, &l)) {
        const u64 *there = (dh_set_has(starts, l) ? c->having : c->beginning) + c->row_of[l] * c->words;
        for (size_t k = 0; k < c->words; k++)
            for (u64 more = there[k] & ~c->met[k]; more != 0; more &= more - 1) {
                ret_at[k * 64 + (size_t)__builtin_ctzll(more)] = l + 1;
                c->met[k] |= more & -more;
            }
    }
}

/* ---- all places ---- */

struct places {
    struct dh_w_place *at;
    size_t n, cap;
};

static int by_object(const void *a, const void *b)
{
    const struct dh_w_place *x = a, *y = b;
    const u32 p[] = {x->object, x->at[0], x->at[1]}, q[] = {y->object, y->at[0], y->at[1]};
    for (size_t i = 0; i < DH_ARRAY_LEN(p); i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static void compare_starts(const struct dh_w_covers *c, const struct dh_w_cover *a,
                           const struct dh_w_cover *b, struct places *ret)
{
    struct dh_pts *pts = c->w->pts;
    struct dh_set_iter it, other;
    u32 l, m;
    dh_set_iter_init(&it, dh_intern_set(&c->sets, a->starts));
    while (dh_set_next(&it, &l)) {
        dh_set_iter_init(&other, dh_intern_set(&c->sets, b->starts));
        while (dh_set_next(&other, &m)) {
            if (!dh_pts_locations_overlap(pts, l, a->length, m, b->length))
                continue;
            ret->at = dh_util_grow(ret->at, ret->n, &ret->cap, sizeof *ret->at);
            ret->at[ret->n++] =
                (struct dh_w_place){dh_pts_place(pts, l).object, {l, m}, {a->length, b->length}};
        }
    }
}

const struct dh_w_place *dh_w_covers_places(struct dh_w_covers *c, u32 a, u32 b, size_t *ret_n)
{
    struct dh_w_key key = DH_W_KEY(a, b);
    u32 known = dh_w_table_get(&c->places_of, key);
    if (known == DH_W_TABLE_NONE) {
        struct places all = {0};
        compare_starts(c, c->covers.item[a], c->covers.item[b], &all);
        if (all.n > 0)
            qsort(all.at, all.n, sizeof *all.at, by_object);
        known = dh_w_pool_add(&c->places, all.at == NULL ? (const void *)"" : all.at, all.n * sizeof *all.at);
        dh_w_table_put(&c->places_of, key, known);
        free(all.at);
    }
    *ret_n = c->places.size[known] / sizeof(struct dh_w_place);
    return c->places.item[known];
}
