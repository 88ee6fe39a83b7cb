/*
 * view.c - see view.h. Users are shown as numbers: nobody needs to know more about them.
 */
#include "hive/view.h"

#include <string.h>

#include "util/text.h"

static json_t *no_memory(json_t *x)
{
    if (!x)
        dh_util_no_memory();
    return x;
}

json_t *dh_hive_view_name(const char *text)
{
    struct dh_arena arena = {0};
    json_t *s = json_string(text);
    if (!s)
        s = json_string(dh_text_utf8(&arena, text, strlen(text)));
    dh_arena_done(&arena);
    return no_memory(s);
}

static json_t *site(const struct dh_pairs *t, u64 id)
{
    char text[17];
    u32 at = dh_pairs_find_site(t, id);
    json_t *o = json_pack("{s:s}", "site", dh_hive_id_text(id, text));
    if (at == DH_PAIRS_NONE)
        return no_memory(o);
    const struct dh_pairs_site *x = &t->sites[at];
    json_object_set_new(o, "function", dh_hive_view_name(x->function));
    json_object_set_new(o, "file", dh_hive_view_name(x->at.file));
    json_object_set_new(o, "line", json_integer(x->at.line));
    json_object_set_new(o, "column", json_integer(x->at.column));
    json_object_set_new(o, "access", json_string(dh_pairs_access_writes(x->access) ? "write" : "read"));
    json_object_set_new(o, "size", json_integer(x->size));
    return o;
}

static json_t *tally(const struct dh_hive_tally *t)
{
    return no_memory(json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "race_primary",
                               (json_int_t)t->races[0], "race_alternate", (json_int_t)t->races[1], "no_race",
                               (json_int_t)t->no_races, "timeout", (json_int_t)t->timeouts, "not_seen",
                               (json_int_t)t->not_seen, "crash", (json_int_t)t->crashes, "hang",
                               (json_int_t)t->hangs, "caught", (json_int_t)t->caught));
}

/* How certain "likely false positive" is, and under which assumption. */
static json_t *confidence(const struct dh_hive_tally *t)
{
    return no_memory(json_pack("{s:I, s:f, s:f, s:s}", "executions", (json_int_t)t->quiet_runs, "at_most",
                               dh_hive_bound(t->quiet_runs), "level", 0.95, "assumption",
                               "executions are alike and independent of each other"));
}

/* What followed the other races of the program, to compare. */
static json_t *others(const struct dh_hive_harm *all, const struct dh_hive_tally *t)
{
    const struct dh_hive_harm own = dh_hive_harm_of(t);
    const u64 races = all->races - own.races, crashes = all->crashes - own.crashes,
              hangs = all->hangs - own.hangs;
    return no_memory(json_pack("{s:I, s:I, s:I, s:f, s:f}", "races", (json_int_t)races, "crashes",
                               (json_int_t)crashes, "hangs", (json_int_t)hangs, "crash_chance",
                               dh_hive_chance(own.crashes, own.races, crashes, races), "hang_chance",
                               dh_hive_chance(own.hangs, own.races, hangs, races)));
}

static void add_verdict(json_t *o, const struct dh_hive_unit *u, const struct dh_hive_harm *all)
{
    struct dh_hive_judgement j = dh_hive_judge(&u->tally);
    json_object_set_new(o, "verdict", json_string(dh_hive_verdicts[j.verdict]));
    if (j.verdict == DH_HIVE_TRUE_RACE) {
        json_object_set_new(o, "orders", json_string(j.both_orders ? "both" : "single"));
        json_object_set_new(o, "causes_crash", json_boolean(j.crash));
        json_object_set_new(o, "causes_hang", json_boolean(j.hang));
        json_object_set_new(o, "other_races", others(all, &u->tally));
    }
    if (j.verdict == DH_HIVE_LIKELY_FALSE) {
        json_object_set_new(o, "reason", json_string(dh_hive_whys[j.why]));
        json_object_set_new(o, "confidence", confidence(&u->tally));
    }
}

/* There is no result for this build: what is known comes from an earlier one. */
static bool is_carried(const struct dh_hive_unit *u, u32 build)
{
    for (size_t i = 0; i < u->n_records; i++)
        if (u->records[i].build == build)
            return false;
    return u->n_records > 0;
}

json_t *dh_hive_view_unit(const struct dh_hive_state *s, u32 unit, u32 build)
{
    const struct dh_hive_unit *u = &s->units[unit];
    char id[17];
    u32 in = build != DH_HIVE_NONE ? build : u->n_in ? u->in[u->n_in - 1].build : DH_HIVE_NONE;
    json_t *o = no_memory(json_pack(
        "{s:s, s:s, s:s, s:o, s:I, s:I}", "id", dh_hive_id_text(u->id, id), "program",
        s->programs[u->program].name, "kind", u->bundle ? "bundle" : "candidate", "results", tally(&u->tally),
        "active_tasks", (json_int_t)u->active, "executions_without_race", (json_int_t)u->tally.quiet_runs));
    if (!u->bundle)
        add_verdict(o, u, &s->programs[u->program].harm);
    if (in != DH_HIVE_NONE) {
        const struct dh_hive_build *b = &s->builds[in];
        json_object_set_new(o, "build", json_string(b->id));
        json_object_set_new(o, "carried_over", json_boolean(is_carried(u, in)));
        json_object_set_new(o, "sites",
                            json_pack("[o, o]", site(b->table, u->sites[0]), site(b->table, u->sites[1])));
        u32 slot = dh_hive_find_slot(s, in, unit);
        if (u->bundle && slot != DH_HIVE_NONE)
            json_object_set_new(o, "stands_for",
                                json_integer((json_int_t)dh_pairs_stands_for(
                                    b->table, &b->table->pairs[b->slots[slot].pair])));
    }
    if (u->parent != DH_HIVE_NONE)
        json_object_set_new(o, "found_in", json_string(dh_hive_id_text(s->units[u->parent].id, id)));
    return o;
}

json_t *dh_hive_view_units(const struct dh_hive_state *s, const struct dh_hive_filter *f)
{
    json_t *list = json_array();
    u64 at = f->after;
    for (; at < s->n_units && json_array_size(list) < f->limit; at++)
        if (dh_hive_view_lists(s, (u32)at, f))
            json_array_append_new(list, dh_hive_view_unit(s, (u32)at, f->build));
    return no_memory(json_pack("{s:o, s:o}", "candidates", list, "next",
                               at < s->n_units ? json_integer((json_int_t)at) : json_null()));
}

json_t *dh_hive_view_builds(const struct dh_hive_state *s, u32 program)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->n_builds; i++) {
        const struct dh_hive_build *b = &s->builds[i];
        if (b->forgotten || (program != DH_HIVE_NONE && b->program != program))
            continue;
        json_array_append_new(
            list, no_memory(json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "build", b->id, "program",
                                      s->programs[b->program].name, "style",
                                      b->set == DH_PAIRS_SOUND ? "sound" : "relay", "added_us",
                                      (json_int_t)b->added_us, "sites", (json_int_t)b->table->n_sites,
                                      "units", (json_int_t)b->n_slots, "open", (json_int_t)b->n_open)));
    }
    return no_memory(json_pack("{s:o}", "builds", list));
}

json_t *dh_hive_view_users(const struct dh_hive_state *s, const struct dh_hive_filter *f)
{
    json_t *list = json_array();
    u64 at = f->after;
    for (; at < s->n_users && json_array_size(list) < f->limit; at++) {
        const struct dh_hive_user *u = &s->users[at];
        if (u->forgotten || (f->program != DH_HIVE_NONE && u->program != f->program))
            continue;
        json_array_append_new(
            list, no_memory(json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I}", "user",
                                      (json_int_t)at, "program", s->programs[u->program].name, "build",
                                      s->builds[u->build].id, "results", (json_int_t)u->results, "timeouts",
                                      (json_int_t)u->timeouts, "waited_us", (json_int_t)u->waited_us,
                                      "run_us", (json_int_t)u->run_us, "overhead",
                                      u->run_us ? (double)u->waited_us / (double)u->run_us : 0, "first_us",
                                      (json_int_t)u->first_us, "last_us", (json_int_t)u->last_us,
                                      "relieved_until_us", (json_int_t)u->relieved_until_us)));
    }
    return no_memory(json_pack("{s:o, s:o}", "users", list, "next",
                               at < s->n_users ? json_integer((json_int_t)at) : json_null()));
}

/* ---- Table 1 ---- */

struct sums {
    json_int_t candidates, bundles, hang, crash, both, single, why[DH_HIVE_WHYS], unknown, users, results,
        waited_us, run_us;
};

static void add_unit(struct sums *n, const struct dh_hive_unit *u)
{
    struct dh_hive_judgement j = dh_hive_judge(&u->tally);
    if (u->bundle) {
        n->bundles++;
        return;
    }
    n->candidates++;
    n->unknown += j.verdict == DH_HIVE_UNKNOWN;
    n->why[j.why] += j.verdict == DH_HIVE_LIKELY_FALSE;
    if (j.verdict != DH_HIVE_TRUE_RACE)
        return;
    /* As in the paper, each counts once, by its worst effect. */
    n->hang += j.hang;
    n->crash += !j.hang && j.crash;
    n->both += !j.hang && !j.crash && j.both_orders;
    n->single += !j.hang && !j.crash && !j.both_orders;
}

json_t *dh_hive_view_status(const struct dh_hive_state *s)
{
    json_t *list = json_array();
    for (u32 p = 0; p < s->n_programs; p++) {
        struct sums n = {0};
        for (size_t i = 0; i < s->n_units; i++)
            if (s->units[i].program == p)
                add_unit(&n, &s->units[i]);
        for (size_t i = 0; i < s->n_users; i++) {
            n.users += s->users[i].program == p && !s->users[i].forgotten;
            if (s->users[i].program != p)
                continue;
            n.results += (json_int_t)s->users[i].results;
            n.waited_us += (json_int_t)s->users[i].waited_us;
            n.run_us += (json_int_t)s->users[i].run_us;
        }
        json_array_append_new(
            list, no_memory(json_pack(
                      "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "program",
                      s->programs[p].name, "builds", (json_int_t)s->programs[p].n_builds, "candidates",
                      n.candidates, "bundles", n.bundles, "causes_hang", n.hang, "causes_crash", n.crash,
                      "both_orders", n.both, "single_order", n.single, "not_aliasing",
                      n.why[DH_HIVE_NOT_ALIASING], "context", n.why[DH_HIVE_CONTEXT], "synchronisation",
                      n.why[DH_HIVE_SYNCHRONISATION], "unknown", n.unknown, "users", n.users)));
        json_object_set_new(json_array_get(list, p), "results", json_integer(n.results));
        json_object_set_new(json_array_get(list, p), "waited_us", json_integer(n.waited_us));
        json_object_set_new(json_array_get(list, p), "run_us", json_integer(n.run_us));
    }
    return no_memory(
        json_pack("{s:i, s:I, s:o}", "version", 1, "events", (json_int_t)s->seq, "programs", list));
}

json_t *dh_hive_view_task(const struct dh_hive_state *s, u32 user)
{
    u32 task = s->users[user].task;
    if (task == DH_HIVE_NONE)
        return json_null();
    const struct dh_hive_task *t = &s->tasks[task];
    const struct dh_hive_unit *u = &s->units[t->unit];
    char id[17], a[17], b[17];
    return no_memory(json_pack("{s:I, s:s, s:s, s:s, s:[s,s], s:s, s:I}", "task", (json_int_t)task, "kind",
                               u->bundle ? "inference" : "validation", "build", s->builds[t->build].id,
                               "unit", dh_hive_id_text(u->pair, id), "sites", dh_hive_id_text(u->sites[0], a),
                               dh_hive_id_text(u->sites[1], b), "order", dh_hive_orders[t->order], "tau_us",
                               (json_int_t)t->tau_us));
}
