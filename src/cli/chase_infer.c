/*
 * chase_infer.c - dynamic context inference (RaceMob, SOSP 2013, section 3.2.1): which accesses by different
 * threads are to the same bytes? Of the many pairs that the static analysis proposes, those are worth
 * chasing.
 *
 * Accesses take turns (chase/draw.h): those at the lines of the proposed pairs, otherwise those of the static
 * table, or all, if there are none; the pipeline provides the lines itself. A thread waits there for a
 * moment, and its bytes are watched; then it resumes, and they are watched a while longer. A thread that
 * comes while it waits races with it, and each such thread is distinguished. A thread that comes later may be
 * ordered with it, by a lock or otherwise; all that is learnt is that the two meet.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "cli/static.h"
#include "report/json.h"
#include "util/path.h"
#include "util/text.h"

enum { DELAY_US = 1000, LONGEST_US = 100000 };

/* ---- What to draw from ---- */

void dh_chase_add_line(struct dh_arena *arena, struct dh_map *lines, const struct dh_pairs_place *at)
{
    const char *name = dh_arena_printf(arena, "%s:%d", dh_path_join(arena, at->dir, at->file), (int)at->line);
    dh_map_put(lines, name, strlen(name), (void *)name);
}

/* Keeps in the program's pool what is at one of these lines; or all, if there is nothing. */
static void keep_lines(struct dh_chase_request *q, const struct dh_map *lines)
{
    struct dh_chase_spots *spots = &q->pools[0].spots;
    size_t n = 0;
    struct dh_chase_spot *kept = dh_arena_array(&q->arena, spots->n, sizeof(*kept));
    for (size_t i = 0; i < spots->n; i++) {
        char name[4096];
        int len = snprintf(name, sizeof(name), "%s:%d", spots->at[i].file, spots->at[i].line);
        if (len < (int)sizeof(name) && dh_map_get(lines, name, (size_t)len))
            kept[n++] = spots->at[i];
    }
    if (n)
        *spots = (struct dh_chase_spots){kept, n};
}

/* What is at a line where the table has a site. */
static void keep_sites(struct dh_chase_request *q, const struct dh_pairs *pairs)
{
    struct dh_arena arena = {0};
    struct dh_map lines;
    dh_map_init(&lines, &arena);
    for (size_t i = 0; i < pairs->n_sites; i++)
        dh_chase_add_line(&arena, &lines, &pairs->sites[i].at);
    keep_lines(q, &lines);
    dh_map_done(&lines);
    dh_arena_done(&arena);
}

/* Is this position requested for the first time? Many pairs share one, and finding its accesses takes a
 * while. */
static bool is_new(struct dh_chase_request *q, struct dh_map *known, const struct dh_chase_position *p)
{
    const char *name = dh_chase_position_text(&q->arena, p);
    if (dh_map_get(known, name, strlen(name)))
        return false;
    dh_map_put(known, name, strlen(name), (void *)name);
    return true;
}

/* Keeps the accesses of all proposed pairs; or all of the program, if it has none of them. */
static void keep_proposed(struct dh_chase_request *q, const struct dh_chase_candidates *proposed)
{
    struct dh_chase_spots spots[DH_CHASE_MODULES] = {0};
    size_t cap[DH_CHASE_MODULES] = {0}, n = 0;
    struct dh_map known;
    dh_map_init(&known, &q->arena);
    for (size_t i = 0; i < 2 * proposed->n; i++) {
        const struct dh_chase_position *p = &proposed->at[i / 2].at[i % 2];
        if (!is_new(q, &known, p) || dh_chase_find_access(q, p))
            continue;
        for (size_t k = 0; k < q->sites.n; k++) {
            const struct dh_chase_access *a = q->sites.at[k].access;
            size_t m = (size_t)(q->sites.at[k].module - q->modules);
            spots[m].at = dh_util_grow(spots[m].at, spots[m].n, &cap[m], sizeof(*spots[m].at));
            spots[m].at[spots[m].n++] = (struct dh_chase_spot){a->address, a->file,        a->line,
                                                               a->column,  a->code.length, a->code.kinds};
            n++;
        }
    }
    q->sites.n = 0;
    dh_map_done(&known);
    for (size_t m = 0; m < q->n_modules; m++) {
        if (n)
            dh_chase_lines_keep(q->modules[m].file, &spots[m], &q->pools[m].spots);
        free(spots[m].at);
    }
}

int dh_chase_infer_begin(struct dh_chase_request *q, struct dh_chase_inference *inf,
                         const struct dh_chase_candidates *proposed)
{
    *inf = (struct dh_chase_inference){.q = q};
    dh_map_init(&inf->by_name, &q->arena);
    q->sites.n = 0;
    int rc = dh_chase_find_all(q);
    const struct dh_static *table = rc || proposed || q->lines ? NULL : dh_chase_table(q);
    if (!rc && q->lines)
        keep_lines(q, q->lines);
    else if (!rc && proposed)
        keep_proposed(q, proposed);
    else if (table)
        keep_sites(q, table->pairs);
    if (!rc)
        dh_chase_turns_init(&inf->turns, q->pools, q->n_modules, q->seed ? q->seed : dh_chase_now_us());
    return rc ? rc : dh_chase_check_watchpoints(q);
}

void dh_chase_infer_promise(struct dh_chase_inference *inf, const struct dh_chase_candidates *c)
{
    const struct dh_chase_spots *spots = &inf->q->pools[0].spots;
    struct dh_arena arena = {0};
    struct dh_map lines;
    dh_map_init(&lines, &arena);
    for (size_t i = 0; i < 2 * c->n; i++) {
        const struct dh_chase_position *p = &c->at[i / 2].at[i % 2];
        const char *name = c->at[i / 2].met ? dh_arena_printf(&arena, "%s:%d", p->file, p->line) : NULL;
        if (name)
            dh_map_put(&lines, name, strlen(name), (void *)name);
    }
    for (size_t i = 0; i < spots->n; i++) {
        const char *name = dh_arena_printf(&arena, "%s:%d", spots->at[i].file, spots->at[i].line);
        if (dh_map_get(&lines, name, strlen(name)))
            dh_chase_turns_met(&inf->turns, i);
    }
    dh_map_done(&lines);
    dh_arena_done(&arena);
}

void dh_chase_infer_end(struct dh_chase_inference *inf)
{
    free(inf->at);
    free(inf->seen);
    dh_chase_turns_done(&inf->turns);
    dh_map_done(&inf->by_name);
}

/* ---- Meetings ---- */

size_t dh_chase_infer_known(const struct dh_chase_inference *inf, u32 site, bool at_once, u64 *ret_pcs,
                            size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < inf->n_seen && found < n; i++)
        if (inf->seen[i].site == site && inf->seen[i].at_once >= at_once)
            ret_pcs[found++] = inf->seen[i].pc;
    return found;
}

static struct dh_chase_position position_of(struct dh_chase_inference *inf, const struct dh_chase_place *p)
{
    return (struct dh_chase_position){.file = dh_arena_strdup(&inf->q->arena, p->file),
                                      .line = p->line,
                                      .column = p->column,
                                      .all = p->column == 0,
                                      .kinds = p->kinds};
}

static struct dh_chase_meeting *meeting_of(struct dh_chase_inference *inf,
                                           const struct dh_chase_position at[2])
{
    const char *a = dh_chase_position_text(&inf->q->arena, &at[0]);
    const char *b = dh_chase_position_text(&inf->q->arena, &at[1]);
    bool turned = strcmp(a, b) > 0;
    const char *name = dh_arena_printf(&inf->q->arena, "%s:%s", turned ? b : a, turned ? a : b);
    size_t *index = dh_map_get(&inf->by_name, name, strlen(name));
    if (!index) {
        index = dh_arena_alloc(&inf->q->arena, sizeof(*index));
        *index = inf->n;
        dh_map_put(&inf->by_name, name, strlen(name), index);
        inf->at = dh_util_grow(inf->at, inf->n, &inf->cap, sizeof(*inf->at));
        inf->at[inf->n++] = (struct dh_chase_meeting){.at = {at[turned], at[!turned]}, .name = name};
    }
    return &inf->at[*index];
}

void dh_chase_infer_met(struct dh_chase_inference *inf, u32 site, u64 pc, struct dh_chase_moment *moment,
                        bool at_once)
{
    struct dh_chase_request *q = inf->q;
    struct dh_chase_place places[2];
    inf->seen = dh_util_grow(inf->seen, inf->n_seen, &inf->cap_seen, sizeof(*inf->seen));
    inf->seen[inf->n_seen++] = (struct dh_chase_seen){pc, site, at_once};
    if (!dh_chase_moment_places(moment, q->modules, q->n_modules, places) || !places[0].file ||
        !places[1].file || !((places[0].kinds | places[1].kinds) & DH_CONTROL_WRITE))
        return;
    struct dh_chase_position at[2] = {position_of(inf, &places[0]), position_of(inf, &places[1])};
    struct dh_chase_meeting *m = meeting_of(inf, at);
    m->at_once |= at_once;
    m->missed |= at_once && dh_chase_is_missed(q, places);
}

struct dh_chase_trial dh_chase_infer_run(struct dh_chase_inference *inf, struct dh_reporter *reporter,
                                         int output)
{
    struct dh_chase_request *q = inf->q;
    const u64 delay = q->delay_us, longest = q->longest_us, deadline = q->deadline_us;
    const u64 until = q->infer_us ? dh_chase_now_us() + q->infer_us : 0;
    const int steer = (int)q->steer;
    DH_ASSERT(!q->any && !q->drawn);
    inf->n_seen = 0; /* addresses differ between runs */
    q->any = q->drawn = true;
    q->steer = DH_CHASE_FREE;
    q->inference = inf;
    q->delay_us = q->delay_given ? delay : DELAY_US;
    q->longest_us = q->delay_given ? longest : LONGEST_US;
    q->deadline_us = until && (!deadline || until < deadline) ? until : deadline;
    struct dh_chase_trial t = dh_chase_try(q, reporter, output);
    inf->windows += t.reached;
    if (q->stats && t.ran)
        dh_chase_print_stats(&t);
    q->any = q->drawn = false;
    q->steer = steer;
    q->inference = NULL;
    q->delay_us = delay;
    q->longest_us = longest;
    q->deadline_us = deadline;
    return t;
}

/* ---- What was learnt ---- */

json_t *dh_chase_infer_json(const struct dh_chase_inference *inf)
{
    json_t *list = json_array();
    for (size_t i = 0; i < inf->n; i++)
        json_array_append_new(list, json_pack("{s:o, s:b, s:b}", "pair", dh_json_text(inf->at[i].name),
                                              "at_once", inf->at[i].at_once, "missed", inf->at[i].missed));
    return list;
}

static const char *short_text(struct dh_chase_inference *inf, const struct dh_chase_position *p)
{
    struct dh_chase_position brief = *p;
    brief.file = dh_text_shown(&inf->q->arena, dh_path_base(p->file));
    return dh_chase_position_text(&inf->q->arena, &brief);
}

void dh_chase_infer_print(struct dh_chase_inference *inf)
{
    fprintf(stderr, "deadheat chase: %zu pair%s of accesses met on the same bytes%s\n", inf->n,
            inf->n == 1 ? "" : "s", inf->n ? ":" : "");
    for (size_t i = 0; i < inf->n; i++)
        fprintf(stderr, "  %s with %s: %s\n", short_text(inf, &inf->at[i].at[0]),
                short_text(inf, &inf->at[i].at[1]),
                inf->at[i].at_once ? "at the same time" : "one after the other");
}

static int write_summary(struct dh_chase_inference *inf)
{
    struct dh_chase_request *q = inf->q;
    json_t *document =
        json_pack("{s:i, s:o, s:s, s:I, s:o}", "version", 1, "program", dh_json_text(q->modules[0].path),
                  "build_id", dh_chase_lines_build_id(q->modules[0].file), "windows",
                  (json_int_t)inf->windows, "met", dh_chase_infer_json(inf));
    int rc = dh_chase_write_summary(q, document);
    json_decref(document);
    return rc;
}

int dh_chase_infer(struct dh_chase_request *q)
{
    struct dh_chase_inference inf;
    struct dh_reporter_result result;
    struct dh_chase_trial t = {.ran = true};
    int output = -1, rc = dh_chase_infer_begin(q, &inf, NULL);
    bool blind = false;
    if (!rc)
        rc = dh_chase_open_output(q, &output);
    if (!rc) {
        struct dh_reporter *reporter = dh_chase_reporter(q);
        q->again = q->trials > 1;
        bool stop = false;
        for (u64 i = 0; i < q->trials && !stop; i++) {
            t = dh_chase_infer_run(&inf, reporter, output);
            blind |= t.blind;
            stop = !t.ran || t.broken_off || t.deaf || dh_chase_was_interrupted(&t);
        }
        dh_reporter_finish(reporter, &result);
        dh_chase_infer_print(&inf);
        rc = q->summary ? write_summary(&inf) : 0;
        if (!t.ran || result.bad_suppressions)
            rc = DH_EXIT_TROUBLE;
        else if (!rc && result.races)
            rc = (int)q->exitcode;
        else if (!rc && !t.broken_off && WIFSIGNALED(t.status))
            rc = dh_cli_child_end_like(t.status);
        else if (!rc && !t.broken_off)
            rc = WEXITSTATUS(t.status) ? WEXITSTATUS(t.status) : blind ? DH_EXIT_TROUBLE : 0;
    }
    if (output >= 0)
        close(output);
    dh_chase_infer_end(&inf);
    return rc;
}
