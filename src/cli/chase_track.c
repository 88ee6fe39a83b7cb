/*
 * chase_track.c - `deadheat chase --analysis=litehb|fullhb`: what is required of a program for its
 * synchronisation to be tracked, and the atomic accesses that take part in it.
 */
#include <string.h>

#include "chase/follow.h"
#include "cli/chase.h"
#include "cli/cmd.h"

static const char *const names[] = {
    [DH_CHASE_COLLISION] = "chaser", [DH_CHASE_LITEHB] = "litehb", [DH_CHASE_FULLHB] = "fullhb"};

int dh_chase_track_set(struct dh_chase_request *q, const char *text)
{
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) != 0)
            continue;
        q->analysis = (enum dh_chase_analysis)i;
        return 0;
    }
    return dh_cli_fail("chase", "--analysis cannot be '%s'; it must be chaser, litehb or fullhb", text);
}

const char *dh_chase_track_name(const struct dh_chase_request *q)
{
    return q->analysis == DH_CHASE_COLLISION ? NULL : names[q->analysis];
}

int dh_chase_track_trust(struct dh_chase_request *q, const char *name)
{
    if (q->n_trusted == DH_CHASE_TRUSTED)
        return dh_cli_fail("chase", "no more than %d files can be trusted", DH_CHASE_TRUSTED);
    q->trusted[q->n_trusted++] = name;
    return 0;
}

static bool is_program_trusted(const struct dh_chase_request *q)
{
    return dh_chase_loaded_is_trusted(&q->loaded, "") ||
           dh_chase_loaded_is_trusted(&q->loaded, q->modules[0].path);
}

bool dh_chase_track_check(struct dh_chase_request *q, const struct dh_chase_target *t)
{
    const char *why = dh_chase_track_name(q) ? dh_chase_loaded_check(&q->loaded, t) : NULL;
    if (why)
        dh_cli_fail("chase", "'%s' cannot be tracked by --analysis=%s: %s", q->modules[0].path,
                    dh_chase_track_name(q), why);
    return !why;
}

int dh_chase_track_prepare(struct dh_chase_request *q)
{
    const char *name = dh_chase_track_name(q), *why = NULL;
    dh_chase_loaded_init(&q->loaded, &q->arena);
    q->loaded.program = q->modules[0].path;
    q->loaded.trusted = q->trusted;
    q->loaded.n_trusted = q->n_trusted;
    if (!name)
        return q->tracking_only ? dh_cli_fail("chase", "--tracking-only needs --analysis=litehb or fullhb")
                                : 0;
    if (q->any || q->infer || q->steer || q->replay)
        return dh_cli_fail("chase", "--analysis=%s tracks a pair: it cannot be combined with %s", name,
                           q->any     ? "--any"
                           : q->infer ? "--infer"
                           : q->steer ? "--steer"
                                      : "--replay");
    for (size_t i = 0; i < q->n_modules; i++)
        if (!dh_chase_lines_is_field(q->modules[i].file))
            return dh_cli_fail(
                "chase",
                "--analysis=%s needs to know which accesses are atomic, and '%s' does not say: build %s",
                name, q->modules[i].path,
                i == 0 ? "it with 'deadheat cc --dh-mode=field'" : "its code into the program");
    if (dh_chase_follow_find(&q->arena, q->modules[0].file, is_program_trusted(q), &q->atomics, &why) != 0)
        return dh_cli_fail("chase", "'%s' cannot be tracked by --analysis=%s: %s", q->modules[0].path, name,
                           why);
    return 0;
}

int dh_chase_track_add(struct dh_chase_request *q)
{
    for (size_t i = 0; q->tracking_only && i < q->sites.n; i++)
        q->sites.at[i].sides &= (u8)~DH_CONTROL_SECOND;
    if (q->analysis != DH_CHASE_COLLISION &&
        !dh_chase_sites_add_atomics(&q->sites, &q->modules[0], &q->atomics))
        return dh_cli_fail("chase", "'%s' has more atomic accesses than the %d that can be followed",
                           q->modules[0].path, DH_CONTROL_SITES);
    return 0;
}
