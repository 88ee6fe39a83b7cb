/*
 * view_race.c - all that is known of one unit: see view.h. What the static analysis says of the two accesses
 * is put into words by the room report, as for every other finding.
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
    struct dh_finding_pairs from = {.table = b->table, .arena = &arena, .set = DH_PAIRS_RELAY};
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

/* ---- What was tried, by whom, and what it cost ---- */

static json_t *tasks_of(const struct dh_hive_unit *u)
{
    json_t *all = json_object();
    for (int i = 0; i < DH_HIVE_ORDERS; i++)
        json_object_set_new(all, dh_hive_orders[i], json_integer(u->tried[i]));
    return all;
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

json_t *dh_hive_view_race(const struct dh_hive_state *s, u32 unit, u32 build)
{
    const struct dh_hive_unit *u = &s->units[unit];
    u32 in = build_of(u, build);
    json_t *o = dh_hive_view_unit(s, unit, build, true), *builds = json_array();
    dh_hive_view_describe(s, unit, build, o);
    for (size_t side = 0; in != DH_HIVE_NONE && side < 2; side++)
        add_source(&s->builds[in], u->sites[side], json_array_get(json_object_get(o, "sites"), side));
    for (size_t i = 0; i < u->n_in; i++)
        if (!s->builds[u->in[i].build].forgotten)
            json_array_append_new(builds, json_string(s->builds[u->in[i].build].id));
    json_object_set_new(o, "builds", builds);
    json_object_set_new(o, "tasks", tasks_of(u));
    json_object_set_new(o, "cost", cost_of(u));
    return o;
}
