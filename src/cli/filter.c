/*
 * filter.c - `--filter=STATE` of `run` and `record`: the environment tells the program which of its checks to
 * switch off (base/filter.h), given what `deadheat caper` has learnt from a Caper build of the same sources.
 *
 * The state has the sites that escaped. Which accesses were queried at all, so that the absence of an escape
 * is meaningful, is in the Caper build, which must still exist.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/filter.h"
#include "caper/filter.h"
#include "cli/caper.h"
#include "cli/cmd.h"
#include "util/output.h"
#include "util/path.h"

/* The number of runs in which queries were enabled. */
static u64 runs_of(const struct dh_caper_state *s)
{
    u64 n = 0;
    for (size_t i = 0; i < s->n_merged; i++)
        n += s->merged[i].silent ? 0 : s->merged[i].runs;
    return n;
}

/* Opens the state, which must exist and be of the right kind, and its Caper build. */
static int open_state(struct dh_cli_caper *c, const char *state)
{
    const char *why;
    struct dh_caper_state s;
    int rc = 0;
    if (dh_caper_state_init(&s, &c->arena, state, &why) != 0 || dh_caper_state_read(&s, &why) != 0)
        rc = dh_cli_fail(c->command, "cannot use the state '%s': %s", state, why);
    else if (!s.exists)
        rc = dh_cli_fail(c->command,
                         "there is no state '%s'; 'deadheat caper --state=%s -- ./prog' begins one", state,
                         state);
    else if (s.alias)
        rc = dh_cli_fail(c->command,
                         "the state '%s' is of --analysis=alias: a filter needs one of escape analysis",
                         state);
    else if (!runs_of(&s))
        rc = dh_cli_fail(
            c->command,
            "the state '%s' has no run from which anything was learnt; run 'deadheat caper' first", state);
    else if (dh_caper_build_read(&c->arena, s.program, false, &c->build, &why) != 0)
        rc = dh_cli_fail(c->command, "'%s', which the state '%s' is of, %s", s.program, state, why);
    else if (strcmp(s.build_id, c->build.id_text) != 0)
        rc = dh_cli_fail(c->command,
                         "the state '%s' is of build %.12s of '%s', which is build %.12s now; run 'deadheat "
                         "caper --migrate' on it first",
                         state, s.build_id, s.program, c->build.id_text);
    dh_output_reads(state);
    dh_output_reads(s.program);
    c->program = s.program;
    c->state_name = state;
    dh_caper_state_done(&s);
    return rc;
}

static int use(struct dh_cli_caper *c, const char *program)
{
    struct dh_caper_filter filter;
    const char *why, *found = dh_path_find_program(&c->arena, program);
    if (!found)
        return dh_cli_fail(c->command, "cannot open '%s': %s", program, strerror(errno));
    if (dh_caper_state_init(&c->state, &c->arena, c->state_name, &why) != 0)
        return dh_cli_fail(c->command, "cannot use the state '%s': %s", c->state_name, why);
    int rc = dh_cli_caper_load(c);
    if (rc)
        return rc;
    if (dh_caper_filter_make(&c->arena, found, &c->build, &c->sets, &filter, &why) != 0)
        return dh_cli_fail(c->command, "'%s' %s", program, why);
    if (!filter.safe && !filter.unescaped)
        dh_cli_warn(c->command, "the filter skips none of the %u checks of '%s'", filter.checks, program);
    if (setenv(DH_FILTER_ENV, filter.text, 1) != 0)
        dh_util_no_memory();
    return 0;
}

int dh_cli_filter(const char *command, const char *state, const char *program)
{
    struct dh_cli_caper c = {.command = command};
    int rc = open_state(&c, state);
    if (!rc)
        rc = use(&c, program);
    dh_cli_caper_close(&c);
    return rc;
}
