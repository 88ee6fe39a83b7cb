/*
 * bundle.c - see bundle.h.
 *
 * Classes that meet the same classes for the same reasons form a bundle: what one of its sites may race with,
 * all may. A bundle and what it meets are the two sides of a product. Each two classes are covered by the
 * bundle that comes first, so that no pair is told twice from its two sides.
 */
#include "ir/whole/bundle.h"

#include <stdlib.h>
#include <string.h>

/* Seen from one class: whom it meets, and why. */
union half {
    struct {
        u32 class, detail, other;
    };
    u32 word[3];
};

struct bundler {
    struct dh_w_races *r;
    const struct dh_w_pool *details;
    const struct dh_w_class_sites *sites;
    union half *halves;
    size_t n;
    u32 *bundle; /* by class; DH_W_NONE: meets nobody */
    u32 *next;   /* by class: the next one in the bundle */
    bool *seen;  /* by site, while sites are collected */
};

/* Sorts by one word of each half, which is below `keys`; equal ones stay in order. There are tens of
 * millions. */
static void sort_by(const union half *from, union half *to, size_t n, size_t word, size_t keys)
{
    size_t *start = calloc(keys + 1, sizeof *start);
    if (start == NULL)
        dh_util_no_memory();
    for (size_t i = 0; i < n; i++)
        start[from[i].word[word] + 1]++;
    for (size_t k = 0; k < keys; k++)
        start[k + 1] += start[k];
    for (size_t i = 0; i < n; i++)
        to[start[from[i].word[word]]++] = from[i];
    free(start);
}

static void split(struct bundler *b, const struct dh_w_meeting *all, size_t n)
{
    union half *sorted = malloc((2 * n + 1) * sizeof *sorted);
    b->halves = malloc((2 * n + 1) * sizeof *b->halves);
    if (b->halves == NULL || sorted == NULL)
        dh_util_no_memory();
    for (size_t i = 0; i < n; i++) {
        b->halves[b->n++] = (union half){{all[i].a, all[i].detail, all[i].b}};
        if (all[i].a != all[i].b)
            b->halves[b->n++] = (union half){{all[i].b, all[i].turned, all[i].a}};
    }
    /* By class, then detail, then the other: the last word first. */
    sort_by(b->halves, sorted, b->n, 2, b->sites->n);
    sort_by(sorted, b->halves, b->n, 1, b->details->n);
    sort_by(b->halves, sorted, b->n, 0, b->sites->n);
    free(b->halves);
    b->halves = sorted;
}

static size_t run(const struct bundler *b, size_t i, bool same_detail)
{
    size_t end = i;
    while (end < b->n && b->halves[end].class == b->halves[i].class &&
           (!same_detail || b->halves[end].detail == b->halves[i].detail))
        end++;
    return end;
}

/* Classes with equal halves get the same number. */
static void gather(struct bundler *b, struct dh_w_pool *alike, u32 *first)
{
    u32 *words = malloc((2 * b->n + 1) * sizeof *words);
    u32 *last = calloc(b->sites->n + 1, sizeof *last);
    if (words == NULL || last == NULL)
        dh_util_no_memory();
    for (size_t i = 0, end; i < b->n; i = end) {
        u32 class = b->halves[i].class;
        size_t n = 0;
        end = run(b, i, false);
        for (size_t k = i; k < end; k++) {
            words[n++] = b->halves[k].detail;
            words[n++] = b->halves[k].other;
        }
        size_t known = alike->n;
        u32 bundle = dh_w_pool_add(alike, words, n * sizeof *words);
        b->bundle[class] = bundle;
        if (bundle == known)
            first[bundle] = class;
        else
            b->next[last[bundle]] = class;
        last[bundle] = class;
    }
    free(words);
    free(last);
}

static int by_number(const void *a, const void *b)
{
    const u32 *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

struct side {
    u32 *at;
    size_t n, cap;
};

static void add_sites(struct bundler *b, struct side *s, u32 class)
{
    for (u32 i = b->sites->first[class]; i < b->sites->first[class + 1]; i++) {
        u32 site = b->sites->site[i];
        if (b->seen[site])
            continue;
        b->seen[site] = true;
        s->at = dh_util_grow(s->at, s->n, &s->cap, sizeof *s->at);
        s->at[s->n++] = site;
    }
}

/* The sites so far, in order, kept; the side is empty afterwards. */
static const u32 *taken(struct bundler *b, struct side *s, u32 *ret_n)
{
    u32 *copy = dh_arena_array(&b->r->w->arena, s->n, sizeof *copy);
    if (s->n) {
        qsort(s->at, s->n, sizeof *s->at, by_number);
        memcpy(copy, s->at, s->n * sizeof *copy);
    }
    for (size_t i = 0; i < s->n; i++)
        b->seen[s->at[i]] = false;
    *ret_n = (u32)s->n;
    s->n = 0;
    return copy;
}

static void add_found(struct bundler *b, u32 detail, const u32 *const side[2], const u32 n[2])
{
    struct dh_w_races *r = b->r;
    struct dh_w_found f;
    memcpy(&f, b->details->item[detail], sizeof f);
    for (int i = 0; i < 2; i++) {
        f.site[i] = side[i][0];
        f.alike[i] = side[i];
        f.n_alike[i] = n[i];
    }
    r->found = dh_util_grow(r->found, r->n_found, &r->cap_found, sizeof *r->found);
    r->found[r->n_found++] = f;
}

/* The products of one bundle, whose halves are those of its class `of`, at [i, end). */
static void multiply(struct bundler *b, struct side *s, u32 of, size_t i, size_t end)
{
    const u32 *side[2];
    u32 n[2];
    for (u32 c = of; c != DH_W_NONE; c = b->next[c])
        add_sites(b, s, c);
    side[0] = taken(b, s, &n[0]);
    for (size_t stop; i < end; i = stop) {
        stop = run(b, i, true);
        for (size_t k = i; k < stop; k++)
            if (b->bundle[b->halves[k].other] >= b->bundle[of])
                add_sites(b, s, b->halves[k].other);
        if (s->n == 0)
            continue;
        side[1] = taken(b, s, &n[1]);
        add_found(b, b->halves[i].detail, side, n);
    }
}

void dh_w_bundle(struct dh_w_races *r, const struct dh_w_meeting *all, size_t n,
                 const struct dh_w_pool *details, const struct dh_w_class_sites *sites)
{
    struct bundler b = {.r = r, .details = details, .sites = sites};
    struct dh_w_pool alike;
    struct side s = {0};
    u32 *first = calloc(sites->n + 1, sizeof *first);
    b.bundle = malloc((sites->n + 1) * sizeof *b.bundle);
    b.next = malloc((sites->n + 1) * sizeof *b.next);
    b.seen = calloc(r->w->n_sites + 1, 1);
    if (first == NULL || b.bundle == NULL || b.next == NULL || b.seen == NULL)
        dh_util_no_memory();
    memset(b.bundle, 0xff, (sites->n + 1) * sizeof *b.bundle);
    memset(b.next, 0xff, (sites->n + 1) * sizeof *b.next);
    dh_w_pool_init(&alike, &r->w->arena);
    split(&b, all, n);
    gather(&b, &alike, first);
    for (size_t i = 0, end; i < b.n; i = end) {
        u32 class = b.halves[i].class;
        end = run(&b, i, false);
        if (first[b.bundle[class]] == class)
            multiply(&b, &s, class, i, end);
    }
    dh_pairs_add_counter(r->w->pairs, "bundles of classes", alike.n);
    dh_w_pool_done(&alike);
    free(s.at);
    free(first);
    free(b.halves);
    free(b.bundle);
    free(b.next);
    free(b.seen);
}

/* ---- counting ---- */

enum { ROWS = 2048 }; /* sites whose partners are counted at a time */

struct counting {
    const u32 *number;
    u64 *rows; /* a bit for each site */
    u64 *mask; /* the bits of one side */
    size_t words;
    u32 low; /* the first site of this round */
};

static bool in_round(const struct counting *c, const u32 *row, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (c->number[row[i]] - c->low < ROWS)
            return true;
    return false;
}

static void set_bits(struct counting *c, const u32 *row, u32 rows, const u32 *bits, u32 n)
{
    if (!in_round(c, row, rows))
        return;
    bool masked = n > c->words / 4;
    memset(c->mask, 0, masked ? c->words * sizeof *c->mask : 0);
    for (u32 k = 0; k < n && masked; k++)
        c->mask[c->number[bits[k]] / 64] |= 1ull << c->number[bits[k]] % 64;
    for (u32 i = 0; i < rows; i++) {
        u32 at = c->number[row[i]] - c->low;
        u64 *to = &c->rows[at * c->words];
        for (u32 k = 0; at < ROWS && !masked && k < n; k++)
            to[c->number[bits[k]] / 64] |= 1ull << c->number[bits[k]] % 64;
        for (size_t k = 0; at < ROWS && masked && k < c->words; k++)
            to[k] |= c->mask[k];
    }
}

static bool counts(const struct dh_w_found *f, int style)
{
    if (style == DH_W_SOUND)
        return f->flags & DH_PAIRS_SOUND;
    return (f->flags & DH_PAIRS_RELAY) && !(DH_PAIRS_RELAY_ASSUMES & ~f->unless[DH_W_RELAY]);
}

/* Twice the pairs of the sites of this round; a site with itself is one pair, but has one bit, not two. */
static u64 count_round(struct counting *c, const struct dh_w_races *r, u32 n_numbers, int style)
{
    u64 twice = 0;
    memset(c->rows, 0, ROWS * c->words * sizeof *c->rows);
    for (size_t i = 0; i < r->n_found; i++) {
        const struct dh_w_found *f = &r->found[i];
        for (int k = 0; k < 2 && counts(f, style); k++)
            set_bits(c, f->alike[k], f->n_alike[k], f->alike[!k], f->n_alike[!k]);
    }
    for (size_t w = 0; w < ROWS * c->words; w++)
        twice += (u64)__builtin_popcountll(c->rows[w]);
    for (u32 i = c->low; i < n_numbers && i < c->low + ROWS; i++)
        twice += c->rows[(i - c->low) * c->words + i / 64] >> i % 64 & 1;
    return twice;
}

void dh_w_bundle_count(const struct dh_w_races *r, const u32 *number, u32 n_numbers, u64 ret[DH_W_STYLES])
{
    struct counting c = {.number = number, .words = n_numbers / 64 + 1};
    bool same = true;
    c.rows = malloc(ROWS * c.words * sizeof *c.rows);
    c.mask = malloc(c.words * sizeof *c.mask);
    if (c.rows == NULL || c.mask == NULL)
        dh_util_no_memory();
    for (size_t i = 0; i < r->n_found && same; i++)
        same = counts(&r->found[i], DH_W_RELAY) == counts(&r->found[i], DH_W_SOUND);
    for (int s = DH_W_STYLES; s-- > 0;) {
        u64 twice = 0;
        for (c.low = 0; c.low < n_numbers && !(same && s != DH_W_SOUND); c.low += ROWS)
            twice += count_round(&c, r, n_numbers, s);
        ret[s] = same && s != DH_W_SOUND ? ret[DH_W_SOUND] : twice / 2;
    }
    free(c.rows);
    free(c.mask);
}
