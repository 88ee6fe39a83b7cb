/*
 * state_dump.c - a state as one JSON document, with everything that later events could depend on: two states
 * with the same dump behave the same. For tests, which rebuild a state from its log and compare.
 */
#include "hive/state.h"

static json_t *dump_tally(const struct dh_hive_tally *t)
{
    return json_pack("[I,I,I,b,I,I,I,I,I,I,I,I,I,I,I]", (json_int_t)t->races[0], (json_int_t)t->races[1],
                     (json_int_t)t->second, t->symmetric, (json_int_t)t->no_races, (json_int_t)t->timeouts,
                     (json_int_t)t->not_seen, (json_int_t)t->capped, (json_int_t)t->crashes,
                     (json_int_t)t->hangs, (json_int_t)t->caught, (json_int_t)t->seen[0],
                     (json_int_t)t->seen[1], (json_int_t)t->seen[2], (json_int_t)t->quiet_runs);
}

static json_t *dump_list(const u32 *list, size_t n)
{
    json_t *a = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(a, json_integer(list[i]));
    return a;
}

static json_t *dump_idle(const struct dh_hive_build *b)
{
    json_t *all = json_array();
    for (int hope = 0; hope < DH_HIVE_HOPES; hope++)
        json_array_append_new(all, dump_list(b->idle[hope], b->n_idle[hope]));
    return all;
}

static json_t *dump_stacks(const struct dh_hive_unit *u)
{
    json_t *all = json_array();
    for (int order = 0; order < DH_HIVE_ORDERS; order++) {
        const struct dh_hive_stacks *x = u->stacks[order];
        for (int side = 0; x && side < 2; side++)
            for (u32 i = 0; i < x->n[side]; i++)
                json_array_append_new(all,
                                      json_pack("[i,I,I,i,I]", order, (json_int_t)x->seq,
                                                (json_int_t)x->build, side, (json_int_t)x->frames[side][i]));
    }
    return all;
}

static json_t *dump_source(const struct dh_hive_source *source)
{
    json_t *all = json_array();
    for (size_t i = 0; source && i < source->n; i++)
        json_array_append_new(all,
                              json_pack("[I,s]", (json_int_t)source->lines[i].number, source->lines[i].text));
    return all;
}

static json_t *dump_builds(const struct dh_hive_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->n_builds; i++) {
        const struct dh_hive_build *b = &s->builds[i];
        json_t *slots = json_array(), *queue = json_array();
        for (size_t k = 0; k < b->n_slots; k++)
            json_array_append_new(
                slots, json_pack("[I,I]", (json_int_t)b->slots[k].unit, (json_int_t)b->slots[k].pair));
        for (size_t k = b->queue_head; k < b->n_queue; k++)
            json_array_append_new(
                queue, json_pack("[I,I]", (json_int_t)b->queue[k].task, (json_int_t)b->queue[k].since_us));
        json_array_append_new(all, json_pack("{s:s, s:b, s:i, s:I, s:b, s:I, s:o, s:o, s:o, s:o, s:o}", "id",
                                             b->id, "by_place", b->by_place, "set", b->set, "program",
                                             (json_int_t)b->program, "forgotten", b->forgotten, "added_us",
                                             (json_int_t)b->added_us, "slots", slots, "open",
                                             dump_list(b->open, b->n_open), "idle", dump_idle(b), "queue",
                                             queue, "source", dump_source(b->source)));
    }
    return all;
}

static json_t *dump_units(const struct dh_hive_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->n_units; i++) {
        const struct dh_hive_unit *u = &s->units[i];
        char id[17];
        json_t *records = json_array();
        for (size_t k = 0; k < u->n_records; k++) {
            const struct dh_hive_record *r = &u->records[k];
            json_array_append_new(records,
                                  json_pack("[I,I,I,I,I,I,I,i,i,i]", (json_int_t)r->seq,
                                            (json_int_t)r->time_us, (json_int_t)r->waited_us,
                                            (json_int_t)r->run_us, (json_int_t)r->user, (json_int_t)r->build,
                                            (json_int_t)r->tau_us, r->result, r->order, r->consequence));
        }
        json_array_append_new(
            all,
            json_pack("{s:s, s:[I,I], s:o, s:I, s:b, s:I, s:I, s:o, s:I, s:I, s:[I,I], s:o}", "id",
                      dh_hive_id_text(u->id, id), "version", (json_int_t)u->evidence, (json_int_t)u->newer,
                      "stacks", dump_stacks(u), "program", (json_int_t)u->program, "bundle", u->bundle,
                      "parent", (json_int_t)u->parent, "life", (json_int_t)u->life, "tally",
                      dump_tally(&u->tally), "active", (json_int_t)u->active, "tasks", (json_int_t)u->tasks,
                      "tried", (json_int_t)u->tried[0], (json_int_t)u->tried[1], "records", records));
    }
    return all;
}

static json_t *dump_sites(const struct dh_hive_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->n_sites; i++)
        json_array_append_new(all, json_pack("[I,I,I]", (json_int_t)s->sites[i].reached,
                                             (json_int_t)s->sites[i].missed, (json_int_t)s->sites[i].first));
    return all;
}

static json_t *dump_users(const struct dh_hive_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->n_users; i++) {
        const struct dh_hive_user *u = &s->users[i];
        json_array_append_new(
            all,
            json_pack("{s:s, s:I, s:I, s:b, s:I, s:[I,I,I,I,I], s:[I,I,I]}", "hash", u->hash, "build",
                      (json_int_t)u->build, "task", (json_int_t)u->task, "forgotten", u->forgotten, "changed",
                      (json_int_t)u->changed, "counts", (json_int_t)u->runs, (json_int_t)u->waited_us,
                      (json_int_t)u->run_us, (json_int_t)u->timeouts, (json_int_t)u->results, "times",
                      (json_int_t)u->relieved_until_us, (json_int_t)u->first_us, (json_int_t)u->last_us));
    }
    return all;
}

static json_t *dump_programs(const struct dh_hive_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->n_programs; i++) {
        const struct dh_hive_program *p = &s->programs[i];
        json_t *keys = json_array();
        for (size_t k = 0; k < p->n_keys; k++)
            json_array_append_new(keys, json_pack("[s,b]", p->keys[k].hash, p->keys[k].revoked));
        json_array_append_new(all, json_pack("{s:s, s:[I,I,I,I,I,I], s:o, s:o}", "name", p->name, "counts",
                                             (json_int_t)p->runs, (json_int_t)p->waited_us,
                                             (json_int_t)p->timeouts, (json_int_t)p->harm.races,
                                             (json_int_t)p->harm.crashes, (json_int_t)p->harm.hangs, "keys",
                                             keys, "builds", dump_list(p->builds, p->n_builds)));
    }
    return all;
}

static json_t *dump_tasks(const struct dh_hive_state *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->n_tasks; i++) {
        const struct dh_hive_task *t = &s->tasks[i];
        const struct dh_hive_tried *d = dh_hive_tried(s, t->user, t->unit);
        json_array_append_new(all, json_pack("[I,I,I,I,I,i,i,I]", (json_int_t)t->user, (json_int_t)t->unit,
                                             (json_int_t)t->build, (json_int_t)t->tau_us,
                                             (json_int_t)t->given_us, t->order, t->state,
                                             (json_int_t)(d ? d->done << 4 | d->abandoned : 0)));
    }
    return all;
}

json_t *dh_hive_dump(const struct dh_hive_state *s)
{
    json_t *d = json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:[I,I,I,I]}", "seq", (json_int_t)s->seq,
                          "time_us", (json_int_t)s->time_us, "programs", dump_programs(s), "builds",
                          dump_builds(s), "units", dump_units(s), "sites", dump_sites(s), "users",
                          dump_users(s), "tasks", dump_tasks(s), "sizes", (json_int_t)s->n_results,
                          (json_int_t)s->results.n, (json_int_t)s->runs.n, (json_int_t)s->tried.n);
    if (!d)
        dh_util_no_memory();
    return d;
}
