/*
 * caper_open.c - a Caper build, its state, and the sets derived from both.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/caper.h"
#include "cli/cmd.h"
#include "util/path.h"

int dh_cli_caper_open(struct dh_cli_caper *c, const char *state, const char *program)
{
    const char *why, *found = dh_path_find_program(&c->arena, program);
    char *real = found ? realpath(found, NULL) : NULL;
    if (!real)
        return dh_cli_fail(c->command, "cannot open '%s': %s", program, strerror(errno));
    c->program = dh_arena_strdup(&c->arena, real);
    free(real);
    c->state_name = state;
    if (dh_caper_build_read(&c->arena, c->program, c->alias, &c->build, &why) != 0)
        return dh_cli_fail(c->command, "'%s' %s", program, why);
    if (dh_caper_state_init(&c->state, &c->arena, state, &why) != 0)
        return dh_cli_fail(c->command, "cannot use the state '%s': %s", state, why);
    return 0;
}

/* ---- The sets ---- */

/* A site without a query will never be marked: it counts as escaped from the start. */
static void add_unasked(struct dh_cli_caper *c)
{
    const struct dh_caper_build *b = &c->build;
    bool *asked = dh_arena_array(&c->arena, b->table->n_sites + 1, sizeof(*asked));
    const u32 *at = b->groups;
    for (u32 g = 0; g < b->n_groups; g++, at += 1 + at[0])
        for (u32 i = 1; i <= at[0]; i++)
            asked[at[i]] = true;
    c->unasked = 0;
    for (u32 i = 0; i < b->table->n_sites; i++)
        c->unasked += !asked[i] && dh_caper_sets_add(&c->sets, i);
}

/* Adds the state's sites that exist in the program; others are forgotten. Returns how many. */
static u64 add_known(struct dh_cli_caper *c)
{
    struct dh_caper_state *s = &c->state;
    if (c->alias)
        return dh_caper_alias_load(&c->sets, s);
    size_t kept = 0, n = s->n_sites;
    for (size_t i = 0; i < n; i++) {
        u32 site = dh_pairs_find_site(c->build.table, s->sites[i]);
        if (site == DH_PAIRS_NONE)
            continue;
        s->sites[kept++] = s->sites[i];
        dh_caper_sets_add(&c->sets, site);
    }
    s->n_sites = kept;
    return n - kept;
}

static int refuse(const struct dh_cli_caper *c)
{
    bool runs = strcmp(c->command, "caper") == 0; /* the others have no such option */
    return dh_cli_fail(c->command,
                       "the state '%s' is of build %.12s of '%s', and '%s' is build %.12s; take another "
                       "state, or %s to carry over what is known of accesses that both have",
                       c->state_name, c->state.build_id, c->state.program, c->program, c->build.id_text,
                       runs ? "give --migrate" : "run the program by 'deadheat caper --migrate'");
}

int dh_cli_caper_load(struct dh_cli_caper *c)
{
    const char *why;
    struct dh_caper_state *s = &c->state;
    if (dh_caper_state_read(s, &why) != 0)
        return dh_cli_fail(c->command, "cannot use the state '%s': %s", c->state_name, why);
    if (s->exists && s->alias != c->alias)
        return dh_cli_fail(c->command,
                           c->alias
                               ? "the state '%s' is of escape analysis: --analysis=alias needs one of its own"
                               : "the state '%s' is of --analysis=alias: give that, or take another state",
                           c->state_name);
    bool other = s->exists && strcmp(s->build_id, c->build.id_text) != 0;
    if (other && !c->migrate)
        return refuse(c);
    dh_caper_sets_done(&c->sets);
    dh_caper_sets_init(&c->sets, c->build.table);
    c->counted = false;
    if (!c->alias)
        add_unasked(c);
    u64 gone = add_known(c);
    size_t kept = c->alias ? s->n_pairs : s->n_sites;
    s->alias = c->alias;
    if (other) {
        if (dh_caper_state_keep(s, &why) != 0)
            return dh_cli_fail(c->command, "cannot keep the state '%s' as it is: %s", c->state_name, why);
        fprintf(stderr,
                "deadheat %s: of the %" PRIu64
                " %s in the state, %zu are carried over from build %.12s "
                "and %" PRIu64 " are gone; the state of that build is kept as '%s.old'\n",
                c->command, gone + kept, c->alias ? "pairs" : "sites", kept, s->build_id, gone,
                c->state_name);
    }
    s->build_id = c->build.id_text;
    s->program = c->program;
    return 0;
}

void dh_cli_caper_count(struct dh_cli_caper *c)
{
    if (!c->counted)
        c->count = dh_caper_sets_count(&c->sets);
    if (!c->counted && c->alias)
        c->count = (struct dh_caper_count){c->count.sp + c->count.dp - c->sets.n_seen, c->sets.n_seen};
    c->counted = true;
}

int dh_cli_caper_look(struct dh_cli_caper *c, const char *state, const char *program)
{
    const char *why;
    struct dh_caper_state first;
    int rc = 0;
    if (dh_caper_state_init(&first, &c->arena, state, &why) != 0 || dh_caper_state_read(&first, &why) != 0)
        rc = dh_cli_fail(c->command, "cannot use the state '%s': %s", state, why);
    else if (!first.exists)
        rc = dh_cli_fail(c->command,
                         "there is no state '%s'; 'deadheat caper --state=%s -- ./prog' begins one", state,
                         state);
    const char *path = program ? program : first.program;
    c->alias = first.alias;
    dh_caper_state_done(&first);
    if (!rc)
        rc = dh_cli_caper_open(c, state, path);
    if (!rc)
        rc = dh_cli_caper_load(c);
    if (!rc)
        dh_cli_caper_count(c);
    return rc;
}

void dh_cli_caper_close(struct dh_cli_caper *c)
{
    dh_caper_state_done(&c->state);
    dh_caper_sets_done(&c->sets);
    dh_caper_build_done(&c->build);
    dh_arena_done(&c->arena);
}
