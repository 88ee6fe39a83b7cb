/*
 * test_caper_sets.c - src/caper/sets.c and choose.c against their definitions, on random tables with bundles
 * that overlap: every pair of sites is written out and looked at.
 */
#include "caper/sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/check.h"

enum { MAX_SITES = 200 };

static u64 seed;

static u32 below(u32 n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (u32)(seed >> 33) % n;
}

/* By definition: which pairs of sites there are in `sound`; [a][b] with a <= b. */
struct truth {
    bool pair[MAX_SITES][MAX_SITES];
};

static size_t sites_of(const struct dh_pairs *p, const struct dh_pairs_pair *pair, int side, u32 *to)
{
    size_t n;
    const u32 *alike = dh_pairs_items(p, pair->alike[side], &n);
    to[0] = pair->side[side].site;
    for (size_t i = 0; i < n; i++)
        to[i + 1] = alike[i];
    return n + 1;
}

static void write_out(const struct dh_pairs *p, struct truth *t)
{
    u32 a[MAX_SITES + 1], b[MAX_SITES + 1];
    memset(t, 0, sizeof(*t));
    for (size_t i = 0; i < p->n_pairs; i++) {
        if (!(p->pairs[i].flags & DH_PAIRS_SOUND))
            continue;
        size_t n = sites_of(p, &p->pairs[i], 0, a), m = sites_of(p, &p->pairs[i], 1, b);
        for (size_t x = 0; x < n; x++)
            for (size_t y = 0; y < m; y++)
                t->pair[a[x] < b[y] ? a[x] : b[y]][a[x] < b[y] ? b[y] : a[x]] = true;
    }
}

static u32 random_list(struct dh_pairs *p, u32 first, u32 n_sites)
{
    u32 items[MAX_SITES];
    size_t n = 0;
    u32 share = 1 + below(20); /* one in so many; some are longer than a set has words, some shorter */
    for (u32 i = 0; i < n_sites; i++)
        if (i != first && below(share) == 0)
            items[n++] = i;
    return dh_pairs_add_list(p, items, below(3) ? n : 0);
}

static struct dh_pairs *random_table(u32 n_sites, u32 n_pairs)
{
    struct dh_pairs *p = dh_pairs_new();
    for (u32 i = 0; i < n_sites; i++) {
        struct dh_pairs_site s = {.module = "a.c",
                                  .function = "f",
                                  .at = {.file = "a.c", .line = i + 1, .column = 1},
                                  .access = DH_PAIRS_WRITE,
                                  .size = 4};
        dh_pairs_add_site(p, &s);
    }
    for (u32 i = 0; i < n_pairs; i++) {
        u32 a = below(n_sites), b = below(n_sites);
        struct dh_pairs_pair pair = {.side = {{.site = a}, {.site = b}},
                                     .alike = {random_list(p, a, n_sites), random_list(p, b, n_sites)},
                                     .flags = below(4) ? DH_PAIRS_SOUND : DH_PAIRS_RELAY,
                                     .note = ""};
        dh_pairs_add_pair(p, &pair);
    }
    return p;
}

static void check_table(struct dh_pairs *p, u32 n_sites, enum dh_caper_set set)
{
    static struct truth before, after;
    static bool escaped[MAX_SITES];
    struct dh_caper_sets s;
    struct dh_caper_count wanted = {0};
    write_out(p, &before);
    dh_caper_sets_init(&s, p);
    u32 share = 1 + below(4);
    for (u32 i = 0; i < n_sites; i++) {
        bool in_pair = false;
        for (u32 k = 0; k < n_sites; k++)
            in_pair |= before.pair[i < k ? i : k][i < k ? k : i];
        assert_int_equal(dh_caper_has(s.in_pair, i), in_pair);
        escaped[i] = below(share) == 0;
        if (escaped[i]) {
            assert_int_equal(dh_caper_sets_add(&s, i), in_pair);
            assert_false(dh_caper_sets_add(&s, i));
        }
        escaped[i] &= in_pair;
    }
    for (u32 i = 0; i < n_sites; i++) {
        bool dynamic = false;
        for (u32 k = 0; k < n_sites; k++) {
            bool both = before.pair[i < k ? i : k][i < k ? k : i] && escaped[i] && escaped[k];
            dynamic |= both;
            wanted.dp += k >= i && both;
            wanted.sp += k >= i && before.pair[i][k] && !both;
        }
        assert_int_equal(dh_caper_sets_is_dynamic(&s, i), dynamic);
    }
    struct dh_caper_count count = dh_caper_sets_count(&s);
    assert_int_equal(count.dp, wanted.dp);
    assert_int_equal(count.sp, wanted.sp);

    /* Exactly the pairs of the set are left, and as many after they are written out. */
    dh_caper_choose(p, &s, set, &count);
    u64 chosen = (set == DH_CAPER_SP ? 0 : wanted.dp) + (set == DH_CAPER_DP ? 0 : wanted.sp);
    assert_int_equal(dh_pairs_counter(p, DH_PAIRS_COUNT_SOUND), chosen);
    for (int turn = 0; turn < 2; turn++) {
        write_out(p, &after);
        for (u32 i = 0; i < n_sites; i++)
            for (u32 k = i; k < n_sites; k++)
                assert_int_equal(after.pair[i][k],
                                 before.pair[i][k] && (set == DH_CAPER_SOUND ||
                                                       (escaped[i] && escaped[k]) == (set == DH_CAPER_DP)));
        if (turn == 0)
            assert_int_equal(dh_caper_expand(p, 0), 0);
    }
    assert_int_equal(p->n_pairs, chosen);
    dh_caper_sets_done(&s);
}

static void test_random(void **state)
{
    (void)state;
    for (seed = 1; seed < 400; seed++) {
        u64 round = seed;
        u32 n_sites = 1 + below(MAX_SITES);
        struct dh_pairs *p = random_table(n_sites, below(30));
        check_table(p, n_sites, (enum dh_caper_set)(round % 3));
        dh_pairs_free(p);
        seed = round;
    }
}

/* A limit takes a pair of each bundle first, and what is left out is not more than was said. */
static void test_limit(void **state)
{
    (void)state;
    seed = 5;
    struct dh_pairs *p = random_table(100, 20);
    struct dh_caper_sets s;
    dh_caper_sets_init(&s, p);
    for (u32 i = 0; i < 100; i++)
        dh_caper_sets_add(&s, i);
    struct dh_caper_count count = dh_caper_sets_count(&s);
    dh_caper_choose(p, &s, DH_CAPER_SOUND, &count);
    size_t bundles = p->n_pairs;
    u64 left_out = dh_caper_expand(p, bundles + 7);
    assert_int_equal(p->n_pairs, bundles + 7);
    assert_true(left_out >= count.dp - p->n_pairs);
    dh_caper_sets_done(&s);
    dh_pairs_free(p);
}

/* For those who know bundles by their ids: all of dpPairs is left, and more only in bundles that are as they
 * were, of which there is more left than is written out. */
static void check_named(struct dh_pairs *p, u32 n_sites, u64 most)
{
    static struct truth before, after;
    struct dh_caper_sets s;
    u32 share = 1 + below(4);
    u64 ids[64];
    size_t n = p->n_pairs;
    for (size_t i = 0; i < n; i++)
        ids[i] = p->pairs[i].id;
    write_out(p, &before);
    dh_caper_sets_init(&s, p);
    for (u32 i = 0; i < n_sites; i++)
        if (below(share) == 0)
            dh_caper_sets_add(&s, i);
    dh_caper_choose_named(p, &s, most);
    for (size_t i = 0; i < p->n_pairs; i++) {
        u32 a[MAX_SITES + 1], b[MAX_SITES + 1];
        size_t rows = sites_of(p, &p->pairs[i], 0, a), columns = sites_of(p, &p->pairs[i], 1, b),
               left[2] = {0};
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known |= ids[k] == p->pairs[i].id;
        for (size_t k = 0; k < rows; k++)
            left[0] += dh_caper_has(s.escaped, a[k]);
        for (size_t k = 0; k < columns; k++)
            left[1] += dh_caper_has(s.escaped, b[k]);
        assert_true(rows * columns == 1 ? left[0] * left[1] == 1 : known && left[0] * left[1] > most);
    }
    write_out(p, &after);
    for (u32 i = 0; i < n_sites; i++)
        for (u32 k = i; k < n_sites; k++) {
            bool dynamic = before.pair[i][k] && dh_caper_has(s.escaped, i) && dh_caper_has(s.escaped, k);
            assert_true(after.pair[i][k] ? before.pair[i][k] : !dynamic);
        }
    dh_caper_sets_done(&s);
}

static void test_named(void **state)
{
    (void)state;
    for (seed = 1; seed < 200; seed++) {
        u64 round = seed;
        u32 n_sites = 1 + below(MAX_SITES);
        struct dh_pairs *p = random_table(n_sites, below(30));
        check_named(p, n_sites, round % 3 * 40);
        dh_pairs_free(p);
        seed = round;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_limit),
                                       cmocka_unit_test(test_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
