/*
 * carry.c - which results of earlier builds hold for a later one: those of a unit whose code has not changed.
 *
 * The id of a pair depends on where its accesses are, not on what they do. So two builds may have the same
 * pair although its source was edited in place. Then the pair is two units: versions of it. What tells them
 * apart is the EVIDENCE, a hash of all that the table says about what could change a verdict: for each side
 * the code of the function that contains the access, the locks that are held there, and the threads that get
 * there. If the table does not know the code, the build's id takes its place, so that only the very same
 * build has this evidence.
 *
 * Builds that were added before there was evidence have joined the units of their pairs' ids, whatever the
 * code (dh_hive_build.by_place). Their results were given under that rule, so it stays in force for them.
 */
#include <string.h>
#include <xxhash.h>

#include "hive/state_impl.h"

static u64 mix(u64 h, u64 x)
{
    return dh_hash64(h ^ dh_hash64(x + 1));
}

static u64 text_hash(const char *text)
{
    return XXH64(text, strlen(text), 0);
}

/* Sums, because the order in a list depends on other code. */

static u64 locks_hash(const struct dh_pairs *t, u32 list)
{
    size_t n;
    const u32 *held = dh_pairs_items(t, list, &n);
    u64 sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct dh_pairs_lock *l = &t->locks[dh_pairs_held_lock(held[i])];
        sum +=
            mix(text_hash(l->name), (u64)l->kind << 2 | (u64)l->single << 1 | dh_pairs_held_shared(held[i]));
    }
    return mix(sum, n);
}

static u64 entries_hash(const struct dh_pairs *t, u32 list)
{
    size_t n;
    const u32 *at = dh_pairs_items(t, list, &n);
    u64 sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct dh_pairs_entry *e = &t->entries[at[i]];
        sum += mix(text_hash(e->function), (u64)e->kind << 1 | e->many);
    }
    return mix(sum, n);
}

/* Of one access of a side, or of all of them if it is DH_PAIRS_NONE. */
static u64 side_hash(const struct dh_pairs *t, const struct dh_pairs_pair *p, int side, u32 site, bool *known)
{
    size_t n = 0;
    const u32 *more = site == DH_PAIRS_NONE ? dh_pairs_items(t, p->alike[side], &n) : NULL;
    u64 sum = 0;
    for (size_t i = 0; i <= n; i++) {
        const struct dh_pairs_site *s = &t->sites[i < n                   ? more[i]
                                                  : site == DH_PAIRS_NONE ? p->side[side].site
                                                                          : site];
        *known = *known && s->code;
        sum += mix(s->id, s->code);
    }
    return mix(mix(sum, locks_hash(t, p->side[side].locks)), entries_hash(t, p->side[side].entries));
}

/* Of two accesses with these ids, which are in a pair or bundle of the build's table; of the whole bundle if
 * sites is NULL. */
static u64 evidence_of(const struct dh_hive_state *s, u32 build, u32 in, const u64 sites[2])
{
    const struct dh_hive_build *b = &s->builds[build];
    const struct dh_pairs_pair *p = &b->table->pairs[in];
    u32 of[2] = {DH_PAIRS_NONE, DH_PAIRS_NONE};
    bool known = true;
    for (u32 i = 0; sites && i < 2; i++)
        of[i] = dh_pairs_find_site(b->table, sites[i]);
    if (sites && !(dh_hive_side_has(b->table, p, 0, of[0]) && dh_hive_side_has(b->table, p, 1, of[1]))) {
        u32 first = of[0];
        of[0] = of[1];
        of[1] = first;
    }
    u64 hash = side_hash(b->table, p, 0, of[0], &known) + side_hash(b->table, p, 1, of[1], &known);
    return known ? hash : mix(hash, text_hash(b->id));
}

/* The version that the build has; the one that it would have. DH_HIVE_NONE if there is none. */
static u32 version_in(const struct dh_hive_state *s, u32 build, u64 pair)
{
    u32 unit = dh_hive_find_unit(s, s->builds[build].program, pair);
    while (unit != DH_HIVE_NONE && dh_hive_find_slot(s, build, unit) == DH_HIVE_NONE)
        unit = s->units[unit].newer;
    return unit;
}

static u32 version_of(const struct dh_hive_state *s, u32 build, u64 pair, u64 evidence)
{
    u32 unit = dh_hive_find_unit(s, s->builds[build].program, pair);
    if (s->builds[build].by_place)
        return unit;
    while (unit != DH_HIVE_NONE && s->units[unit].evidence != evidence)
        unit = s->units[unit].newer;
    return unit;
}

u64 dh_hive_carry_id(const struct dh_hive_state *s, u32 program, u64 pair, u64 evidence)
{
    u64 id = pair;
    while (!id || dh_hive_find_unit(s, program, id) != DH_HIVE_NONE)
        id = mix(id, evidence);
    return id;
}

/* ---- What a build consists of ---- */

/* As in `deadheat static`: RELAY's pairs under its assumptions, or all. */
static bool is_wanted(const struct dh_hive_build *b, const struct dh_pairs_pair *p)
{
    u32 assumed = b->set == DH_PAIRS_RELAY ? DH_PAIRS_RELAY_ASSUMES : 0;
    return p->flags & b->set && !(dh_pairs_ifs(p->flags, b->set) & assumed);
}

static void join_pairs(struct dh_hive_state *s, u32 build)
{
    const struct dh_pairs *t = s->builds[build].table;
    u32 program = s->builds[build].program;
    for (u32 i = 0; i < t->n_pairs; i++) {
        const struct dh_pairs_pair *p = &t->pairs[i];
        if (!is_wanted(&s->builds[build], p))
            continue;
        const u64 sites[2] = {t->sites[p->side[0].site].id, t->sites[p->side[1].site].id};
        bool bundle = dh_pairs_stands_for(t, p) > 1;
        u64 evidence = evidence_of(s, build, i, bundle ? NULL : sites);
        u32 unit = version_of(s, build, p->id, evidence);
        if (unit == DH_HIVE_NONE)
            unit = dh_hive_unit_new(s, program, p->id, evidence, bundle, sites, DH_HIVE_NONE);
        dh_hive_unit_join(s, unit, build, i);
    }
}

/* Is this a bundle of the build's units? */
static bool is_bundle_of(void *ctx, const struct dh_pairs_pair *pair)
{
    const struct dh_hive_build *b = ctx;
    return is_wanted(b, pair) && dh_pairs_stands_for(b->table, pair) > 1;
}

/* The bundle of a build that contains the pair, or DH_PAIRS_NONE. */
static u32 find_bundle(struct dh_hive_build *b, const u64 sites[2])
{
    u32 x = dh_pairs_find_site(b->table, sites[0]), y = dh_pairs_find_site(b->table, sites[1]);
    if (x == DH_PAIRS_NONE || y == DH_PAIRS_NONE)
        return DH_PAIRS_NONE;
    return dh_pairs_find_containing(b->table, x, y, is_bundle_of, b);
}

/* Where a pair that users have found is in a table: in a bundle if possible, otherwise in anything, such as a
 * pair of the set `sound` only. DH_PAIRS_NONE: it is not a pair there. */
static u32 find_found(struct dh_hive_build *b, const u64 sites[2])
{
    u32 in = find_bundle(b, sites);
    return in != DH_PAIRS_NONE ? in : dh_hive_pair_with(b->table, sites);
}

/* Have its two accesses met, or raced? */
static bool has_met(const struct dh_hive_unit *u)
{
    const struct dh_hive_tally *t = &u->tally;
    return !u->bundle && (t->seen[DH_HIVE_MET] || t->races[DH_HIVE_PRIMARY] || t->races[DH_HIVE_ALTERNATE]);
}

/* A pair that users of earlier builds have found is a candidate in this one, too, if it is still a pair, and
 * its code is the same. */
static void join_found(struct dh_hive_state *s, u32 build)
{
    const struct dh_hive_build *b = &s->builds[build];
    for (u32 u = 0; u < s->n_units; u++) {
        const u64 *sites = s->units[u].sites;
        bool found = s->units[u].parent != DH_HIVE_NONE || has_met(&s->units[u]);
        if (s->units[u].program != b->program || !found || dh_hive_find_slot(s, build, u) != DH_HIVE_NONE)
            continue;
        u32 in = find_found(&s->builds[build], sites);
        if (in != DH_PAIRS_NONE && (b->by_place || evidence_of(s, build, in, sites) == s->units[u].evidence))
            dh_hive_unit_join(s, u, build, in);
    }
}

void dh_hive_carry_join(struct dh_hive_state *s, u32 build)
{
    join_pairs(s, build);
    join_found(s, build);
}

/* The candidate that consists of these two accesses, or DH_HIVE_NONE. If they have met, they are one from now
 * on: any pair of the table, also one that is in none of the build's units. */
u32 dh_hive_carry_candidate(struct dh_hive_state *s, u32 build, u32 examined, const u64 sites[2], bool met)
{
    struct dh_hive_build *b = &s->builds[build];
    u64 id = dh_pairs_id_of(sites[0], sites[1]);
    u32 unit = version_in(s, build, id);
    u32 of_place = b->by_place ? dh_hive_find_unit(s, b->program, id) : DH_HIVE_NONE;
    if (unit != DH_HIVE_NONE || !met)
        return unit != DH_HIVE_NONE ? unit : of_place;
    u32 in = dh_hive_bundle_has(b->table, examined, sites[0], sites[1]) ? examined : find_found(b, sites);
    if (in == DH_PAIRS_NONE)
        return of_place;
    u64 evidence = evidence_of(s, build, in, sites);
    unit = version_of(s, build, id, evidence);
    if (unit == DH_HIVE_NONE)
        unit = dh_hive_unit_new(s, b->program, id, evidence, false, sites,
                                version_in(s, build, b->table->pairs[in].id));
    dh_hive_unit_join(s, unit, build, in);
    return unit;
}
