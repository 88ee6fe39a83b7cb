/*
 * alias.c - see alias.h. What the program wrote is not trusted.
 */
#include "caper/alias.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 /* pairs for which a new file has room */ };

static u32 first_of(u64 pair)
{
    return (u32)(pair >> 32) - 1;
}

static u32 second_of(u64 pair)
{
    return (u32)pair - 1;
}

/* ---- The run file ---- */

size_t dh_caper_alias_size(const struct dh_caper_build *b)
{
    return dh_alias_run_pairs(b->table->n_sites) + ROOM * sizeof(u64);
}

u32 dh_caper_alias_fill(struct dh_alias_run *run, const struct dh_caper_build *b,
                        const struct dh_caper_sets *sets)
{
    u8 *sites = (u8 *)(run + 1);
    u32 watched = 0;
    memcpy(run->run.magic, dh_alias_run_magic, sizeof(run->run.magic));
    run->run.version = DH_ALIAS_VERSION;
    run->n_sites = (u32)b->table->n_sites;
    run->has_room = ROOM;
    for (u32 i = 0; i < b->table->n_sites; i++) {
        u8 access = b->table->sites[i].access;
        bool reads = access == DH_PAIRS_READ || access == DH_PAIRS_ATOMIC_READ;
        bool wanted = dh_caper_has(sets->in_pair, i);
        sites[i] = (u8)((wanted ? DH_ALIAS_WANTED : 0) | (reads ? 0 : DH_ALIAS_WRITES));
        watched += wanted;
    }
    return watched;
}

bool dh_caper_alias_is_whole(const struct dh_caper_run *run, u64 size)
{
    const struct dh_alias_run *a = (const struct dh_alias_run *)run;
    return size >= sizeof(*a) && memcmp(run->magic, dh_alias_run_magic, sizeof(run->magic)) == 0 &&
           run->version == DH_ALIAS_VERSION && size >= dh_alias_run_pairs(a->n_sites);
}

/* ---- Sets of pairs ---- */

static int by_number(const void *a, const void *b)
{
    const u64 *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Adds the pairs that are in `sound`, from an array that is sorted here. Returns how many are new. */
static u64 add(struct dh_caper_sets *s, u64 *pairs, size_t n)
{
    u64 *partners = dh_util_alloc(s->words * sizeof(*partners)), last = 0;
    u64 *all = dh_util_alloc((s->n_seen + n + 1) * sizeof(*all));
    size_t count = 0, at = 0, before = s->n_seen;
    u32 known = DH_PAIRS_NONE; /* whose partners they are */
    if (n)
        qsort(pairs, n, sizeof(*pairs), by_number);
    for (size_t i = 0; i < n; i++) {
        u64 pair = pairs[i];
        u32 a = first_of(pair), b = second_of(pair);
        if (pair == last || a >= s->table->n_sites || b >= s->table->n_sites)
            continue;
        last = pair;
        if (a != known)
            dh_caper_sets_partners(s, known = a, partners);
        if (!dh_caper_has(partners, b))
            continue;
        while (at < s->n_seen && s->seen[at] < pair)
            all[count++] = s->seen[at++];
        if (at < s->n_seen && s->seen[at] == pair)
            continue;
        all[count++] = pair;
        dh_caper_sets_add(s, a);
        dh_caper_sets_add(s, b);
    }
    while (at < s->n_seen)
        all[count++] = s->seen[at++];
    free(partners);
    free(s->seen);
    s->seen = all;
    s->n_seen = count;
    return count - before;
}

static void to_state(const struct dh_caper_sets *s, struct dh_caper_state *state)
{
    const struct dh_pairs_site *sites = s->table->sites;
    state->n_pairs = 0;
    for (size_t i = 0; i < s->n_seen; i++)
        dh_caper_state_add_pair(state, sites[first_of(s->seen[i])].id, sites[second_of(s->seen[i])].id);
}

u64 dh_caper_alias_merge(const struct dh_alias_run *run, size_t size, struct dh_caper_sets *sets,
                         struct dh_caper_state *state)
{
    u64 begin = dh_alias_run_pairs(run->n_sites), n = (size - begin) / sizeof(u64);
    n = run->n_pairs < n ? run->n_pairs : n;
    u64 *pairs = dh_util_alloc((n + 1) * sizeof(*pairs));
    memcpy(pairs, (const char *)run + begin, n * sizeof(*pairs));
    u64 new_pairs = add(sets, pairs, n);
    free(pairs);
    to_state(sets, state);
    return new_pairs;
}

u64 dh_caper_alias_load(struct dh_caper_sets *sets, struct dh_caper_state *state)
{
    size_t n = 0, before = state->n_pairs;
    u64 *pairs = dh_util_alloc((before + 1) * sizeof(*pairs));
    for (size_t i = 0; i < before; i++) {
        u32 a = dh_pairs_find_site(sets->table, state->pairs[i].site[0]);
        u32 b = dh_pairs_find_site(sets->table, state->pairs[i].site[1]);
        if (a != DH_PAIRS_NONE && b != DH_PAIRS_NONE)
            pairs[n++] = dh_alias_pair(a, b);
    }
    add(sets, pairs, n);
    free(pairs);
    to_state(sets, state);
    return before - state->n_pairs;
}

/* ---- The table ---- */

static void mark_side(const struct dh_pairs *t, const struct dh_pairs_pair *pair, int side, u8 *marks,
                      bool on)
{
    size_t n;
    const u32 *alike = dh_pairs_items(t, pair->alike[side], &n);
    u8 bit = (u8)(1 << side);
    marks[pair->side[side].site] = (u8)(on ? marks[pair->side[side].site] | bit : 0);
    for (size_t i = 0; i < n; i++)
        marks[alike[i]] = (u8)(on ? marks[alike[i]] | bit : 0);
}

void dh_caper_alias_choose(struct dh_pairs *table, const struct dh_caper_sets *s)
{
    size_t n, left = s->n_seen;
    struct dh_pairs_pair *all = dh_pairs_take_pairs(table, &n);
    u8 *marks = calloc(table->n_sites + 1, 1);
    bool *done = calloc(s->n_seen + 1, sizeof(*done));
    if (!marks || !done)
        dh_util_no_memory();
    for (size_t i = 0; i < n && left; i++) {
        if (!(all[i].flags & DH_PAIRS_SOUND))
            continue;
        for (int side = 0; side < 2; side++)
            mark_side(table, &all[i], side, marks, true);
        for (size_t k = 0; k < s->n_seen; k++) {
            u32 a = first_of(s->seen[k]), b = second_of(s->seen[k]);
            bool straight = (marks[a] & 1) && (marks[b] & 2), turned = (marks[b] & 1) && (marks[a] & 2);
            if (done[k] || (!straight && !turned))
                continue;
            struct dh_pairs_pair one = all[i];
            one.side[0].site = straight ? a : b;
            one.side[1].site = straight ? b : a;
            one.alike[0] = one.alike[1] = 0;
            dh_pairs_add_pair(table, &one);
            done[k] = true;
            left--;
        }
        for (int side = 0; side < 2; side++)
            mark_side(table, &all[i], side, marks, false);
    }
    free(done);
    free(marks);
    free(all);
    dh_pairs_add_counter(table, DH_PAIRS_COUNT_SOUND,
                         s->n_seen - dh_pairs_counter(table, DH_PAIRS_COUNT_SOUND));
}
