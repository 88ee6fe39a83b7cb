/*
 * view_race.c - everything known about one unit: see view.h. The room report puts what the static analysis
 * says about the two accesses into words, as for every other finding.
 */
#include <string.h>

#include "hive/view.h"
#include "report/finding_pairs.h"
#include "util/text.h"

static u32 build_of(const struct dh_hive_unit *u, u32 build)
{
    return build != DH_HIVE_NONE ? build : u->n_in ? u->in[u->n_in - 1].build : DH_HIVE_NONE;
}

/* ---- In words ---- */

static json_t *stack_of(const struct dh_symbol_trace *stack)
{
    json_t *all = json_array();
    for (size_t i = 0; i < stack->n; i++) {
        const struct dh_symbol_frame *f = &stack->frames[i];
        json_t *o = json_object();
        json_object_set_new(o, "function", dh_hive_view_name(f->shown ? f->shown : "?"));
        if (f->unit_file) {
            json_object_set_new(o, "file", dh_hive_view_name(f->unit_file));
            json_object_set_new(o, "line", json_integer(f->line));
        }
        json_object_set_new(o, "inlined", json_boolean(f->inlined));
        json_array_append_new(all, o);
    }
    return all;
}

static void describe_access(struct dh_arena *arena, const struct dh_finding_access *a, json_t *to)
{
    json_object_set_new(to, "did", dh_hive_view_name(dh_finding_did(arena, a)));
    json_object_set_new(to, "stack", stack_of(&a->stack));
    json_object_set_new(to, "holds", dh_hive_view_name(dh_finding_held(arena, a)));
    json_object_set_new(to, "run_by", dh_hive_view_name(a->run_by));
}

void dh_hive_view_describe(const struct dh_hive_state *s, u32 unit, u32 build, json_t *to)
{
    const struct dh_hive_unit *u = &s->units[unit];
    u32 in = build_of(u, build), sites[2];
    u32 slot = in == DH_HIVE_NONE ? DH_HIVE_NONE : dh_hive_find_slot(s, in, unit);
    if (slot == DH_HIVE_NONE)
        return;
    const struct dh_hive_build *b = &s->builds[in];
    struct dh_arena arena = {0};
    struct dh_finding_pairs from = {.table = b->table, .arena = &arena, .set = b->set};
    dh_map_init(&from.names, &arena);
    for (int side = 0; side < 2; side++)
        sites[side] = dh_pairs_find_site(b->table, u->sites[side]);
    if (sites[0] != DH_PAIRS_NONE && sites[1] != DH_PAIRS_NONE) {
        const struct dh_finding *f = dh_finding_of_sites(&from, &arena, b->slots[slot].pair, sites);
        json_t *shown = json_object_get(to, "sites");
        for (size_t side = 0; side < 2; side++)
            describe_access(&arena, &f->accesses[side], json_array_get(shown, side));
        if (f->location.has_variable)
            json_object_set_new(to, "variable", dh_hive_view_name(f->location.variable.shown));
        json_object_set_new(to, "subject", dh_hive_view_name(dh_finding_subject(&arena, f)));
        json_object_set_new(to, "why", dh_hive_view_name(dh_finding_explain(&arena, f)));
    }
    dh_map_done(&from.names);
    dh_arena_done(&arena);
}

/* ---- Source ---- */

static void add_source(const struct dh_hive_build *b, u64 id, json_t *to)
{
    u32 at = dh_pairs_find_site(b->table, id);
    if (at == DH_PAIRS_NONE || !b->source)
        return;
    const struct dh_pairs_place *place = &b->table->sites[at].at;
    json_t *lines = json_array();
    u32 first = place->line > DH_HIVE_SOURCE_AROUND ? place->line - DH_HIVE_SOURCE_AROUND : 1;
    for (u32 i = first; i <= place->line + DH_HIVE_SOURCE_AROUND; i++) {
        const char *text = dh_hive_source_find(b->source, place, i);
        if (text)
            json_array_append_new(lines, json_pack("{s:I, s:s}", "line", (json_int_t)i, "text", text));
    }
    json_object_set_new(to, "source", lines);
}

/* ---- Stacks ---- */

static json_t *seen_stack(const struct dh_hive_symbols *symbols, const u64 *frames, u32 n)
{
    json_t *all = json_array();
    for (u32 i = 0; i < n; i++) {
        struct dh_hive_frame f = dh_hive_symbols_find(symbols, frames[i], true);
        json_t *o = json_pack("{s:I}", "offset", (json_int_t)frames[i]);
        if (f.function)
            json_object_set_new(o, "function", dh_hive_view_name(f.function));
        if (f.file) {
            json_object_set_new(o, "file", dh_hive_view_name(f.file));
            json_object_set_new(o, "line", json_integer(f.line));
        }
        json_array_append_new(all, o);
    }
    return all;
}

json_t *dh_hive_view_stacks(const struct dh_hive_state *s, u32 unit)
{
    json_t *all = json_array();
    for (int order = 0; order < DH_HIVE_ORDERS; order++) {
        const struct dh_hive_stacks *x = s->units[unit].stacks[order];
        if (!x)
            continue;
        const struct dh_hive_build *b = &s->builds[x->build];
        json_array_append_new(all, json_pack("{s:s, s:s, s:I, s:[o, o]}", "order", dh_hive_orders[order],
                                             "build", b->id, "event", (json_int_t)x->seq, "accesses",
                                             seen_stack(b->symbols, x->frames[0], x->n[0]),
                                             seen_stack(b->symbols, x->frames[1], x->n[1])));
    }
    return all;
}

/* ---- Results ---- */

static json_t *counts(const json_int_t n[], const char *const names[], size_t len)
{
    json_t *o = json_object();
    for (size_t i = 0; i < len; i++)
        json_object_set_new(o, names[i], json_integer(n[i]));
    return o;
}

/* What was tried in each order, with the outcome. */
static json_t *orders_of(const struct dh_hive_unit *u)
{
    json_int_t results[DH_HIVE_ORDERS][DH_HIVE_RESULTS] = {0},
               worse[DH_HIVE_ORDERS][DH_HIVE_CONSEQUENCES] = {0};
    json_t *all = json_object();
    for (size_t i = 0; i < u->n_records; i++) {
        const struct dh_hive_record *r = &u->records[i];
        results[r->order][r->result]++;
        worse[r->order][r->consequence]++;
    }
    for (int i = 0; i < DH_HIVE_ORDERS; i++) {
        json_t *o = counts(results[i], dh_hive_results, DH_HIVE_RESULTS);
        json_object_set_new(o, "tasks", json_integer(u->tried[i]));
        json_object_set_new(o, "crash", json_integer(worse[i][DH_HIVE_CRASH]));
        json_object_set_new(o, "hang", json_integer(worse[i][DH_HIVE_HANG]));
        json_object_set_new(all, dh_hive_orders[i], o);
    }
    return all;
}

/* The time from the first result to the last in equal intervals, and the number of results in each. */
static json_t *history_of(const struct dh_hive_unit *u)
{
    enum { PARTS = 48 };
    json_int_t n[PARTS][DH_HIVE_RESULTS] = {0};
    json_t *parts = json_array();
    if (!u->n_records)
        return json_pack("{s:o}", "parts", parts);
    u64 begin = u->records[0].time_us, span = u->records[u->n_records - 1].time_us - begin + 1;
    for (size_t i = 0; i < u->n_records; i++) {
        const struct dh_hive_record *r = &u->records[i];
        double at = (double)(r->time_us - begin) / (double)span * PARTS;
        n[at < PARTS ? (size_t)at : PARTS - 1][r->result]++;
    }
    for (size_t i = 0; i < PARTS; i++)
        json_array_append_new(parts, counts(n[i], dh_hive_results, DH_HIVE_RESULTS));
    return json_pack("{s:I, s:I, s:o}", "begin_us", (json_int_t)begin, "end_us",
                     (json_int_t)(begin + span - 1), "parts", parts);
}

static json_t *cost_of(const struct dh_hive_unit *u)
{
    struct dh_arena arena = {0};
    struct dh_map users;
    u64 waited_us = 0, run_us = 0;
    dh_map_init(&users, &arena);
    for (size_t i = 0; i < u->n_records; i++) {
        waited_us += u->records[i].waited_us;
        run_us += u->records[i].run_us;
        dh_map_put(&users, &u->records[i].user, sizeof(u->records[i].user), &users);
    }
    json_t *o =
        json_pack("{s:I, s:I, s:I, s:f}", "users", (json_int_t)users.n, "waited_us", (json_int_t)waited_us,
                  "run_us", (json_int_t)run_us, "overhead", run_us ? (double)waited_us / (double)run_us : 0);
    dh_map_done(&users);
    dh_arena_done(&arena);
    return o;
}

static json_t *timeline_of(const struct dh_hive_state *s, const struct dh_hive_unit *u, u64 most)
{
    json_t *all = json_array();
    for (size_t i = u->n_records > most ? u->n_records - most : 0; i < u->n_records; i++) {
        const struct dh_hive_record *r = &u->records[i];
        json_array_append_new(all, json_pack("{s:I, s:I, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s}", "event",
                                             (json_int_t)r->seq, "time_us", (json_int_t)r->time_us, "result",
                                             dh_hive_results[r->result], "order", dh_hive_orders[r->order],
                                             "consequence", dh_hive_consequences[r->consequence], "tau_us",
                                             (json_int_t)r->tau_us, "waited_us", (json_int_t)r->waited_us,
                                             "run_us", (json_int_t)r->run_us, "user", (json_int_t)r->user,
                                             "build", s->builds[r->build].id));
    }
    return all;
}

json_t *dh_hive_view_race(const struct dh_hive_state *s, u32 unit, u32 build, u64 most)
{
    const struct dh_hive_unit *u = &s->units[unit];
    u32 in = build_of(u, build);
    json_t *o = dh_hive_view_unit(s, unit, build), *builds = json_array();
    dh_hive_view_describe(s, unit, build, o);
    for (size_t side = 0; in != DH_HIVE_NONE && side < 2; side++)
        add_source(&s->builds[in], u->sites[side], json_array_get(json_object_get(o, "sites"), side));
    for (size_t i = 0; i < u->n_in; i++)
        if (!s->builds[u->in[i].build].forgotten)
            json_array_append_new(builds, json_string(s->builds[u->in[i].build].id));
    json_object_set_new(o, "builds", builds);
    json_object_set_new(o, "stacks", dh_hive_view_stacks(s, unit));
    json_object_set_new(o, "orders_tried", orders_of(u));
    json_object_set_new(o, "history", history_of(u));
    json_object_set_new(o, "cost", cost_of(u));
    json_object_set_new(o, "results_total", json_integer((json_int_t)u->n_records));
    if (json_object_set_new(o, "timeline", timeline_of(s, u, most)) != 0)
        dh_util_no_memory();
    return o;
}
