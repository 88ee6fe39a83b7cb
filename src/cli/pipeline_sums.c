/*
 * pipeline_sums.c - what became of dpPairs, and of pairs that are not in it.
 *
 * Three units must not be mixed: races; pairs of lines and columns, which are chased; and pairs of sites, of
 * which one pair of lines may stand for several. dpPairs consists of pairs of sites, and each of them has one
 * result here.
 *
 * Inference watches accesses, not pairs, so it also sees pairs meet that were not proposed.
 */
#include "cli/chase.h"
#include "cli/cmd.h"
#include "cli/pipeline.h"
#include "cli/static.h"
#include "report/json.h"

bool dh_pipeline_is_reached(const struct dh_pipeline_pair *pair)
{
    return pair->reached || pair->timeouts || pair->met;
}

json_t *dh_pipeline_sums(const struct dh_pipeline *p)
{
    u64 confirmed = 0, possible = 0, unseen = 0, all = p->took[DH_PIPELINE_CAPER].pairs;
    for (size_t i = 0; i < p->n_pairs; i++) {
        const struct dh_pipeline_pair *pair = &p->pairs[i];
        confirmed += pair->confirmed ? pair->pairs : 0;
        possible += !pair->confirmed && dh_pipeline_is_reached(pair) ? pair->pairs : 0;
        unseen += !pair->confirmed && !dh_pipeline_is_reached(pair) ? pair->pairs : 0;
    }
    const u64 known = confirmed + possible + unseen + p->unnamed + p->unlisted;
    const struct {
        const char *result;
        u64 pairs;
    } rows[] = {
        {"confirmed", confirmed},    {"still possible", possible},
        {"never seen", unseen},      {"not identified by two lines", p->unnamed},
        {"not listed", p->unlisted}, {"not reached: the chase did not begin", all > known ? all - known : 0}};
    json_t *list = json_array();
    for (size_t i = 0; i < DH_ARRAY_LEN(rows); i++)
        if (rows[i].pairs)
            json_array_append_new(
                list, json_pack("{s:s, s:I}", "result", rows[i].result, "pairs", (json_int_t)rows[i].pairs));
    return list;
}

static void open_sets(struct dh_pipeline_lookup *l)
{
    const char *state = dh_pipeline_file(l->p, "caper");
    l->open = true;
    l->all = l->dynamic = (struct dh_cli_caper){.command = "pipeline", .run.fd = -1};
    l->good = dh_cli_caper_look(&l->all, state, l->p->program) == 0 &&
              dh_cli_caper_look(&l->dynamic, state, l->p->program) == 0;
    if (l->good)
        dh_caper_choose(l->dynamic.build.table, &l->dynamic.sets, DH_CAPER_DP, &l->dynamic.count);
}

static bool has(struct dh_cli_caper *c, const char *lines)
{
    struct dh_static s = {.set = DH_PAIRS_SOUND, .pairs = c->build.table};
    bool found = dh_static_has(&s, lines);
    dh_static_forget(&s);
    dh_arena_done(&s.arena);
    return found;
}

const char *dh_pipeline_why_beyond(struct dh_pipeline_lookup *l, const struct dh_pipeline_pair *pair)
{
    struct dh_chase_position at[2];
    const char *why;
    if (!l->open)
        open_sets(l);
    if (!l->good || dh_chase_position_pair(&l->p->arena, pair->name, at, &why) != 0)
        return "not known";
    const char *lines =
        dh_arena_printf(&l->p->arena, "%s:%d,%s:%d", at[0].file, at[0].line, at[1].file, at[1].line);
    if (has(&l->dynamic, lines))
        return "these lines are a pair of dpPairs, of a large bundle or at other columns, where it is "
               "counted";
    if (has(&l->all, lines))
        return "one of the accesses had touched no memory that other threads could reach when Caper ran";
    return "in no pair of the static analysis: it takes the two to be ordered, to hold one lock, or to "
           "access "
           "different memory";
}

void dh_pipeline_lookup_done(struct dh_pipeline_lookup *l)
{
    if (!l->open)
        return;
    dh_cli_caper_close(&l->all);
    dh_cli_caper_close(&l->dynamic);
}
