/*
 * build.c - see build.h.
 */
#include "agent/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caper/build.h"
#include "chase/follow.h"

enum { MOST_OF_BUNDLE = 64 }; /* sites of each side that one run examines */

/* The arena keeps the bytes. */
static int read_file(struct dh_arena *arena, const char *path, struct dh_caper_build *ret,
                     char id[DH_AGENT_BUILD + 1], const char **ret_why)
{
    if (dh_caper_build_bytes(arena, path, ret, ret_why) != 0)
        return -EINVAL;
    if (!dh_agent_is_hex(ret->id_text, 8, DH_AGENT_BUILD)) {
        *ret_why = "has no build id";
        return -EINVAL;
    }
    memcpy(id, ret->id_text, strlen(ret->id_text) + 1);
    return 0;
}

int dh_agent_build_id(struct dh_arena *arena, const char *path, char ret[DH_AGENT_BUILD + 1],
                      const char **ret_why)
{
    struct dh_caper_build build;
    return read_file(arena, path, &build, ret, ret_why);
}

int dh_agent_build_open(struct dh_agent_build *b, const char *path, bool with_code, const char **ret_why)
{
    struct dh_caper_build build;
    *b = (struct dh_agent_build){0};
    char *real = realpath(path, NULL); /* as the kernel names it in /proc/PID/maps */
    b->path = dh_arena_strdup(&b->arena, real ? real : path);
    free(real);
    int rc = read_file(&b->arena, path, &build, b->id, ret_why);
    if (!rc)
        rc = dh_pairs_read(build.bytes, build.n_bytes, &b->table, ret_why);
    b->module.path = b->path;
    if (!rc && with_code)
        rc = dh_chase_lines_open(&b->arena, path, &b->module.file, ret_why);
    if (!rc && with_code && !dh_chase_lines_is_field(b->module.file)) {
        *ret_why = "is no field build; build it with 'deadheat cc --dh-mode=field'";
        rc = -EINVAL;
    }
    if (rc) {
        dh_agent_build_close(b);
        return rc;
    }
    if (!with_code)
        return 0;
    dh_chase_loaded_init(&b->loaded, &b->arena);
    b->loaded.program = b->path;
    if (dh_chase_follow_find(&b->arena, b->module.file, false, &b->atomics, &b->unfollowed) != 0)
        b->atomics.n = 0;
    else if (b->atomics.n > DH_CONTROL_SITES / 2)
        b->unfollowed = "it has too many atomic accesses";
    return 0;
}

void dh_agent_build_close(struct dh_agent_build *b)
{
    dh_pairs_free(b->table);
    if (b->module.file)
        dh_chase_lines_close(b->module.file);
    if (b->loaded.arena)
        dh_chase_loaded_done(&b->loaded);
    dh_arena_done(&b->arena);
    *b = (struct dh_agent_build){0};
}

/* ---- Tasks ---- */

static bool is_bundle(const struct dh_pairs_pair *pair)
{
    return pair->alike[0] || pair->alike[1];
}

const char *dh_agent_build_check(const struct dh_agent_build *b, const struct dh_agent_task *task)
{
    const struct dh_pairs *p = b->table;
    u32 sites[2];
    if (task->kind == DH_AGENT_NOTHING)
        return NULL;
    for (int i = 0; i < 2; i++) {
        sites[i] = dh_pairs_find_site(p, task->sites[i]);
        if (sites[i] == DH_PAIRS_NONE)
            return "it names an access that is not in the table of this build";
    }
    if (task->kind == DH_AGENT_INFERENCE) {
        u32 at = dh_pairs_find_pair(p, task->unit);
        return at != DH_PAIRS_NONE && is_bundle(&p->pairs[at]) ? NULL : "it names no bundle of this build";
    }
    if (dh_pairs_id_of(task->sites[0], task->sites[1]) != task->unit ||
        dh_pairs_find_containing(p, sites[0], sites[1], NULL, NULL) == DH_PAIRS_NONE)
        return "its two accesses are no pair of this build";
    return NULL;
}

/* ---- Instructions ---- */

/* False: there are too many. A site without instructions adds none. */
static bool add_site(struct dh_agent_build *b, struct dh_arena *arena, u32 site, u8 side,
                     struct dh_agent_sides *ret)
{
    struct dh_chase_position at;
    struct dh_chase_found found;
    if (!dh_chase_position_of_site(arena, &b->table->sites[site], &at))
        return true;
    dh_chase_sites_look_leniently(&b->module, 1, &at, &found);
    if (found.other)
        return true;
    struct dh_chase_accesses *in = &found.in[0];
    size_t n = 0;
    for (size_t i = 0; i < in->n; i++) /* what the table covers, and nothing else */
        if (dh_chase_built_covers(dh_chase_lines_built(b->module.file), in->at[i].address))
            in->at[n++] = in->at[i];
    in->n = n;
    if (!dh_chase_sites_add(&ret->sites, &b->module, 1, at.kinds, &found, side))
        return false;
    for (size_t i = 0; i < ret->sites.n; i++)
        if (ret->sites.at[i].sides & side && ret->of[side == DH_CONTROL_SECOND][i] == DH_PAIRS_NONE)
            ret->of[side == DH_CONTROL_SECOND][i] = site;
    return true;
}

/* All sites of a side of a bundle, or as many as one run can examine, starting at a random one. */
static bool add_bundle(struct dh_agent_build *b, struct dh_arena *arena, const struct dh_pairs_pair *pair,
                       int which, u8 side, u64 seed, struct dh_agent_sides *ret)
{
    size_t n;
    const u32 *alike = dh_pairs_items(b->table, pair->alike[which], &n);
    bool fits = true;
    for (size_t i = 0; i <= n && i < MOST_OF_BUNDLE && fits; i++) {
        size_t at = (dh_hash64(seed + (u64)which) + i) % (n + 1);
        fits = add_site(b, arena, at == n ? pair->side[which].site : alike[at], side, ret);
    }
    return fits;
}

static bool has_side(const struct dh_chase_sites *s, u8 side)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].sides & side)
            return true;
    return false;
}

const char *dh_agent_build_sides(struct dh_agent_build *b, struct dh_arena *arena,
                                 const struct dh_agent_task *task, int first, u64 seed,
                                 struct dh_agent_sides *ret)
{
    bool fits = true;
    ret->sites.n = 0;
    ret->none[0] = ret->none[1] = false;
    for (int side = 0; side < 2; side++) {
        ret->of[side] = dh_arena_array(arena, DH_CONTROL_SITES, sizeof(u32));
        for (u32 i = 0; i < DH_CONTROL_SITES; i++)
            ret->of[side][i] = DH_PAIRS_NONE;
    }
    for (int i = 0; i < 2 && fits; i++) {
        u8 side = i == first ? DH_CONTROL_FIRST : DH_CONTROL_SECOND;
        fits = task->kind == DH_AGENT_INFERENCE
                   ? add_bundle(b, arena, &b->table->pairs[dh_pairs_find_pair(b->table, task->unit)], i, side,
                                seed, ret)
                   : add_site(b, arena, dh_pairs_find_site(b->table, task->sites[i]), side, ret);
    }
    if (!fits)
        return "it has too many instructions";
    for (int i = 0; i < 2; i++)
        ret->none[i] = !has_side(&ret->sites, i == first ? DH_CONTROL_FIRST : DH_CONTROL_SECOND);
    if (ret->none[0] || ret->none[1])
        return "there is no such access in the machine code";
    if (!dh_chase_sites_can_conflict(&ret->sites))
        return "both accesses only read";
    if (!b->unfollowed && !dh_chase_sites_add_atomics(&ret->sites, &b->module, &b->atomics))
        return "it has too many instructions";
    return NULL;
}

void dh_agent_build_watched(struct dh_arena *arena, const struct dh_agent_sides *sides,
                            struct dh_agent_sides *ret)
{
    const u8 both = DH_CONTROL_FIRST | DH_CONTROL_SECOND;
    *ret = (struct dh_agent_sides){0};
    for (int side = 0; side < 2; side++)
        ret->of[side] = dh_arena_array(arena, DH_CONTROL_SITES, sizeof(u32));
    for (size_t i = 0; i < sides->sites.n; i++) {
        if (!(sides->sites.at[i].sides & both)) /* it only orders threads */
            continue;
        struct dh_chase_site *to = &ret->sites.at[ret->sites.n];
        u32 of = sides->of[0][i] != DH_PAIRS_NONE ? sides->of[0][i] : sides->of[1][i];
        *to = sides->sites.at[i];
        to->sides = DH_CONTROL_FIRST;
        ret->of[0][ret->sites.n] = of;
        ret->of[1][ret->sites.n++] = DH_PAIRS_NONE;
    }
}

/* Is the site at this place? Its kinds distinguish a read from a write at the same place. */
static bool is_at(struct dh_arena *arena, const struct dh_pairs_site *site, const struct dh_chase_place *at,
                  bool any_column)
{
    struct dh_chase_position p;
    return (int)site->at.line == at->line && (any_column || (int)site->at.column == at->column) &&
           dh_chase_position_of_site(arena, site, &p) && (p.kinds & at->kinds) &&
           strcmp(p.file, at->file) == 0;
}

u32 dh_agent_build_other_at(const struct dh_agent_build *b, u32 first, const struct dh_chase_place *at,
                            bool *ret_exact)
{
    const struct dh_pairs *p = b->table;
    const u32 n = (u32)p->n_sites;
    struct dh_arena arena = {0};
    u32 found = DH_PAIRS_NONE;
    /* Columns are ignored the second time: an instruction that does more than the access may have that of the
     * rest. */
    for (u32 i = 0; i < 2 * n && found == DH_PAIRS_NONE; i++) {
        *ret_exact = i < n;
        if (is_at(&arena, &p->sites[i % n], at, i >= n) &&
            dh_pairs_find_containing(p, first, i % n, NULL, NULL) != DH_PAIRS_NONE)
            found = i % n;
    }
    dh_arena_done(&arena);
    return found;
}
