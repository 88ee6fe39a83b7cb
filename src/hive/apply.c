/*
 * apply.c - from events to state. An event is checked before anything is changed.
 *
 * Consequences of an event that involve no choice are part of it: a confirmed race is withdrawn from
 * everybody. A choice has an event of its own (decide.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hive/state_impl.h"

struct event {
    struct dh_hive_state *s;
    const struct dh_store_event *raw;
    json_t *body;
};

static const char *text_of(const struct event *e, const char *member)
{
    return json_string_value(json_object_get(e->body, member));
}

static u64 number_of(const struct event *e, const char *member)
{
    json_int_t n = json_integer_value(json_object_get(e->body, member));
    return n > 0 ? (u64)n : 0;
}

static u32 program_of(const struct event *e)
{
    const char *name = text_of(e, "program");
    return name ? dh_hive_find_program(e->s, name) : DH_HIVE_NONE;
}

static u32 user_of(const struct event *e)
{
    const char *hash = text_of(e, "user");
    return hash ? dh_hive_find_user(e->s, hash) : DH_HIVE_NONE;
}

static u32 build_of(const struct event *e)
{
    const char *id = text_of(e, "build");
    return id ? dh_hive_find_build(e->s, id) : DH_HIVE_NONE;
}

static u32 task_of(const struct event *e)
{
    json_t *n = json_object_get(e->body, "task");
    return json_is_integer(n) && number_of(e, "task") < e->s->n_tasks ? (u32)number_of(e, "task")
                                                                      : DH_HIVE_NONE;
}

/* ---- Programs, keys, builds ---- */

static int add_program(struct event *e)
{
    struct dh_hive_state *s = e->s;
    const char *name = text_of(e, "program");
    if (!name || !*name || program_of(e) != DH_HIVE_NONE)
        return -EBADMSG;
    s->programs = dh_util_grow(s->programs, s->n_programs, &s->cap_programs, sizeof(*s->programs));
    s->programs[s->n_programs] = (struct dh_hive_program){.name = dh_arena_strdup(&s->arena, name)};
    dh_map_init(&s->programs[s->n_programs].units, &s->arena);
    dh_map_init(&s->programs[s->n_programs].sites, &s->arena);
    dh_hive_index_put(&s->program_by_name, name, strlen(name), (u32)s->n_programs++);
    return 0;
}

static int add_key(struct event *e)
{
    u32 program = program_of(e);
    const char *hash = text_of(e, "hash");
    if (program == DH_HIVE_NONE || !dh_hive_is_hex(hash, DH_HIVE_HASH, DH_HIVE_HASH))
        return -EBADMSG;
    struct dh_hive_program *p = &e->s->programs[program];
    p->keys = dh_util_grow(p->keys, p->n_keys, &p->cap_keys, sizeof(*p->keys));
    p->keys[p->n_keys] = (struct dh_hive_key){.number = (u32)p->n_keys + 1};
    memcpy(p->keys[p->n_keys++].hash, hash, DH_HIVE_HASH + 1);
    return 0;
}

static int revoke_key(struct event *e)
{
    u32 program = program_of(e);
    u64 number = number_of(e, "key");
    if (program == DH_HIVE_NONE || !number || number > e->s->programs[program].n_keys)
        return -EBADMSG;
    e->s->programs[program].keys[number - 1].revoked = true;
    return 0;
}

static int add_build(struct event *e)
{
    struct dh_hive_state *s = e->s;
    const char *id = text_of(e, "build"), *style = text_of(e, "style"), *why;
    u32 program = program_of(e), at = build_of(e);
    struct dh_pairs *table;
    if (program == DH_HIVE_NONE || !dh_hive_is_hex(id, 8, 128) || !e->raw->data ||
        (at != DH_HIVE_NONE && !s->builds[at].forgotten) ||
        dh_pairs_read(e->raw->data, e->raw->data_len, &table, &why) != 0)
        return -EBADMSG;
    at = (u32)s->n_builds;
    s->builds = dh_util_grow(s->builds, s->n_builds, &s->cap_builds, sizeof(*s->builds));
    s->builds[s->n_builds++] =
        (struct dh_hive_build){.id = dh_arena_strdup(&s->arena, id),
                               .program = program,
                               .by_place = !text_of(e, "carry"),
                               .set = style && strcmp(style, "sound") == 0 ? DH_PAIRS_SOUND : DH_PAIRS_RELAY,
                               .added_us = e->raw->time_us,
                               .table = table};
    dh_hive_index_put(&s->build_by_id, id, strlen(id), at);
    struct dh_hive_program *p = &s->programs[program];
    p->builds = dh_util_grow(p->builds, p->n_builds, &p->cap_builds, sizeof(*p->builds));
    p->builds[p->n_builds++] = at;
    dh_hive_carry_join(s, at);
    return 0;
}

static int add_source(struct event *e)
{
    u32 build = build_of(e);
    struct dh_hive_source *source;
    const char *why;
    if (build == DH_HIVE_NONE || !e->raw->data ||
        dh_hive_source_read(e->raw->data, e->raw->data_len, e->s->builds[build].table,
                            e->s->builds[build].set, false, &source, &why) != 0)
        return -EBADMSG;
    dh_hive_source_free(e->s->builds[build].source);
    e->s->builds[build].source = source;
    return 0;
}

static int add_symbols(struct event *e)
{
    u32 build = build_of(e);
    struct dh_hive_symbols *symbols;
    const char *why;
    if (build == DH_HIVE_NONE || !e->raw->data ||
        dh_hive_symbols_read(e->raw->data, e->raw->data_len, &symbols, &why) != 0)
        return -EBADMSG;
    dh_hive_symbols_free(e->s->builds[build].symbols);
    e->s->builds[build].symbols = symbols;
    return 0;
}

/* ---- Users and tasks ---- */

/* It no longer counts for its program. */
static void discount_user(struct dh_hive_state *s, u32 user)
{
    struct dh_hive_user *u = &s->users[user];
    struct dh_hive_program *p = &s->programs[u->program];
    p->runs -= u->runs;
    p->waited_us -= u->waited_us;
    p->timeouts -= u->timeouts;
    u->runs = u->waited_us = u->run_us = u->timeouts = u->results = 0;
}

static int add_user(struct event *e)
{
    struct dh_hive_state *s = e->s;
    const char *hash = text_of(e, "user");
    u32 build = build_of(e), at = user_of(e);
    if (!dh_hive_is_hex(hash, DH_HIVE_HASH, DH_HIVE_HASH) || build == DH_HIVE_NONE)
        return -EBADMSG;
    if (at == DH_HIVE_NONE) {
        at = (u32)s->n_users;
        s->users = dh_util_grow(s->users, s->n_users, &s->cap_users, sizeof(*s->users));
        s->users[s->n_users++] = (struct dh_hive_user){.task = DH_HIVE_NONE, .first_us = e->raw->time_us};
        memcpy(s->users[at].hash, hash, DH_HIVE_HASH + 1);
        dh_hive_index_put(&s->user_by_hash, hash, DH_HIVE_HASH, at);
    } else if (s->users[at].task != DH_HIVE_NONE) { /* it runs another build now */
        dh_hive_task_end(s, s->users[at].task, DH_HIVE_WITHDRAWN, e->raw->seq);
    }
    if (s->users[at].program != s->builds[build].program)
        discount_user(s, at);
    s->users[at].forgotten = false;
    s->users[at].build = build;
    s->users[at].program = s->builds[build].program;
    s->users[at].last_us = e->raw->time_us;
    return 0;
}

static int add_task(struct event *e)
{
    struct dh_hive_state *s = e->s;
    u32 user = user_of(e), program = user == DH_HIVE_NONE ? DH_HIVE_NONE : s->users[user].program;
    u64 id;
    int order = dh_hive_word(dh_hive_orders, DH_HIVE_ORDERS, text_of(e, "order"));
    if (user == DH_HIVE_NONE || s->users[user].task != DH_HIVE_NONE || order < 0 ||
        !dh_hive_id_read(text_of(e, "unit"), &id) || number_of(e, "task") != s->n_tasks)
        return -EBADMSG;
    u32 unit = dh_hive_find_unit(s, program, id);
    if (unit == DH_HIVE_NONE)
        return -EBADMSG;
    struct dh_hive_task t = {.user = user,
                             .unit = unit,
                             .build = s->users[user].build,
                             .order = (u8)order,
                             .tau_us = (u32)number_of(e, "tau_us"),
                             .given_us = e->raw->time_us};
    dh_hive_task_new(s, &t, e->raw->seq);
    json_t *overdue = json_object_get(e->body, "overdue");
    if (overdue)
        dh_hive_queue_requeue(s, t.build, (u32)json_integer_value(overdue), e->raw->time_us);
    dh_hive_queue_trim(s, t.build);
    s->users[user].last_us = e->raw->time_us;
    struct dh_hive_tried *tried = dh_hive_tried(s, user, unit);
    if (tried)
        tried->timeouts = 0;
    return 0;
}

static int raise_tau(struct event *e)
{
    u32 task = task_of(e);
    if (task == DH_HIVE_NONE || e->s->tasks[task].state != DH_HIVE_ACTIVE)
        return -EBADMSG;
    e->s->tasks[task].tau_us = (u32)number_of(e, "tau_us");
    e->s->users[e->s->tasks[task].user].changed = e->raw->seq;
    return 0;
}

static int end_task(struct event *e)
{
    u32 task = task_of(e);
    const char *why = text_of(e, "why");
    if (task == DH_HIVE_NONE || e->s->tasks[task].state != DH_HIVE_ACTIVE || !why)
        return -EBADMSG;
    struct dh_hive_task *t = &e->s->tasks[task];
    bool abandoned = strcmp(why, "abandoned") == 0;
    if (abandoned) {
        dh_hive_tried_new(e->s, t->user, t->unit)->abandoned |= (u8)(1u << t->order);
        e->s->units[t->unit].tally.capped++;
    }
    dh_hive_task_end(e->s, task, abandoned ? DH_HIVE_ABANDONED : DH_HIVE_RELIEVED, e->raw->seq);
    return 0;
}

static int relieve(struct event *e)
{
    u32 user = user_of(e);
    if (user == DH_HIVE_NONE)
        return -EBADMSG;
    e->s->users[user].relieved_until_us = number_of(e, "until_us");
    return 0;
}

/* ---- Results ---- */

static void count_quiet(struct dh_hive_state *s, u32 unit, const char *run)
{
    struct dh_hive_unit *u = &s->units[unit];
    struct {
        u32 unit, life;
        char run[32];
    } key = {.unit = unit, .life = u->life};
    memcpy(key.run, run, sizeof(key.run));
    if (dh_map_get(&s->runs, &key, sizeof(key)))
        return;
    dh_map_put(&s->runs, &key, sizeof(key), s);
    u->tally.quiet_runs++;
}

static void count_user(struct dh_hive_state *s, u32 user, const struct dh_hive_record *r, u64 run_us)
{
    struct dh_hive_user *u = &s->users[user];
    struct dh_hive_program *p = &s->programs[u->program];
    u64 timeout = r->result == DH_HIVE_TIMEOUT;
    s->n_results++;
    u->results++;
    u->runs++;
    u->waited_us += r->waited_us;
    u->run_us += run_us;
    u->timeouts += timeout;
    u->last_us = r->time_us;
    p->runs++;
    p->waited_us += r->waited_us;
    p->timeouts += timeout;
}

static void count_result(struct dh_hive_tally *t, const struct dh_hive_record *r)
{
    t->second += dh_hive_wanted(t) == DH_HIVE_WANT_OTHER && r->order == dh_hive_other_order(t) &&
                 r->result != DH_HIVE_RACE;
    t->races[r->order] += r->result == DH_HIVE_RACE;
    t->no_races += r->result == DH_HIVE_NO_RACE;
    t->timeouts += r->result == DH_HIVE_TIMEOUT;
    t->not_seen += r->result == DH_HIVE_NOT_SEEN;
    t->crashes += r->result == DH_HIVE_RACE && r->consequence == DH_HIVE_CRASH;
    t->hangs += r->result == DH_HIVE_RACE && r->consequence == DH_HIVE_HANG;
}

/* from: what may have a member "stacks". */
static void take_stacks(struct dh_hive_unit *u, const struct dh_hive_record *r, const json_t *from)
{
    struct dh_hive_stacks x = {.seq = r->seq, .build = r->build}, **to = &u->stacks[r->order];
    if (r->result != DH_HIVE_RACE || !dh_hive_stacks_read(json_object_get(from, "stacks"), &x))
        return;
    if (!*to)
        *to = dh_util_alloc(sizeof(**to));
    **to = x;
}

/* sign: 1 to count the unit's, -1 to discount them. */
static void count_harm(struct dh_hive_state *s, const struct dh_hive_unit *u, int sign)
{
    struct dh_hive_harm *all = &s->programs[u->program].harm, own = dh_hive_harm_of(&u->tally);
    all->races += (u64)sign * own.races;
    all->crashes += (u64)sign * own.crashes;
    all->hangs += (u64)sign * own.hangs;
}

/* caught: it is a race that an inference has caught. */
static void add_record(struct dh_hive_state *s, u32 unit, const struct dh_hive_record *r, bool caught,
                       const json_t *from)
{
    struct dh_hive_unit *u = &s->units[unit];
    u->records = dh_util_grow(u->records, u->n_records, &u->cap_records, sizeof(*u->records));
    u->records[u->n_records++] = *r;
    count_harm(s, u, -1);
    count_result(&u->tally, r);
    u->tally.caught += caught;
    count_harm(s, u, 1);
    take_stacks(u, r, from);
}

/* After a result: what nobody has to try any more is withdrawn from all users. */
static void withdraw_settled(struct dh_hive_state *s, u32 unit, enum dh_hive_result result, u64 seq)
{
    enum dh_hive_wanted wanted = dh_hive_wanted(&s->units[unit].tally);
    if (wanted == DH_HIVE_WANT_NONE || (wanted == DH_HIVE_WANT_OTHER && result == DH_HIVE_RACE))
        dh_hive_unit_withdraw(s, unit, seq);
    dh_hive_unit_settle(s, unit);
}

/* Two threads were at these accesses at the same time while bytes were watched: a race, found without a task
 * of its own. The sites are in the order in which the accesses were made. */
static void take_race(struct dh_hive_state *s, u32 unit, const struct dh_hive_record *inference,
                      const json_t *item, const u64 sites[2])
{
    struct dh_hive_record r = *inference;
    r.result = DH_HIVE_RACE;
    r.order = s->units[unit].sites[0] == sites[0] ? DH_HIVE_PRIMARY : DH_HIVE_ALTERNATE;
    r.consequence = DH_HIVE_HARMLESS;
    r.waited_us = 0; /* counted with the inference */
    const json_t *stacks =
        json_object_get(item, "stacks"); /* of a unit, they are in the order of its sites */
    json_t *own = stacks && r.order == DH_HIVE_ALTERNATE
                      ? json_pack("{s:[O,O]}", "stacks", json_array_get(stacks, 1), json_array_get(stacks, 0))
                      : json_incref((json_t *)item);
    add_record(s, unit, &r, true, own);
    json_decref(own);
    withdraw_settled(s, unit, DH_HIVE_RACE, r.seq);
}

/* What context inference saw: a pair that met becomes a candidate. */
static void take_inference(struct event *e, u32 build, u32 bundle, const struct dh_hive_record *r)
{
    struct dh_hive_state *s = e->s;
    u32 program = s->builds[build].program;
    u32 pair = s->builds[build].slots[dh_hive_find_slot(s, build, bundle)].pair;
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(e->body, "reached"), i, item)
    {
        u64 site;
        if (dh_hive_id_read(json_string_value(item), &site))
            dh_hive_site_tell(s, dh_hive_site_of(s, program, site), true);
    }
    json_array_foreach(json_object_get(e->body, "pairs"), i, item)
    {
        u64 sites[2];
        json_t *two = json_object_get(item, "sites");
        const char *word = json_string_value(json_object_get(item, "saw"));
        bool raced = word && strcmp(word, "race") == 0;
        int saw = raced ? DH_HIVE_MET : dh_hive_word(dh_hive_seens, DH_HIVE_SEENS, word);
        if (saw < 0 || !dh_hive_id_read(json_string_value(json_array_get(two, 0)), &sites[0]) ||
            !dh_hive_id_read(json_string_value(json_array_get(two, 1)), &sites[1]))
            continue;
        /* Whatever the outcome, both were executed, which says something about all units that contain
         * them. */
        for (int side = 0; side < 2; side++)
            dh_hive_site_tell(s, dh_hive_site_of(s, program, sites[side]), true);
        u32 unit = dh_hive_carry_candidate(s, build, pair, sites, saw == DH_HIVE_MET);
        if (unit == DH_HIVE_NONE)
            continue;
        s->units[unit].tally.seen[saw]++;
        dh_hive_unit_settle(s, unit);
        if (raced)
            take_race(s, unit, r, item, sites);
    }
    s->units[bundle].tally.seen[DH_HIVE_MET]++; /* a bundle has no verdict, only a count of looks */
}

/* Which of the two accesses were executed. A waiting thread is at the one that should come second. An access
 * without an instruction certainly never is, and nothing has been learned about the other one. */
static void tell_sites(struct dh_hive_state *s, const struct dh_hive_unit *u, const struct dh_hive_record *r,
                       bool saw, const json_t *none)
{
    const u32 at[2] = {u->at[0], u->at[1]};
    if (none) {
        for (size_t side = 0; side < 2; side++)
            if (json_is_true(json_array_get(none, side)))
                dh_hive_site_lacks(s, at[side]);
        return;
    }
    if (r->result == DH_HIVE_TIMEOUT) {
        dh_hive_site_tell(s, at[r->order == DH_HIVE_PRIMARY], true);
        return;
    }
    for (int side = 0; side < 2; side++)
        dh_hive_site_tell(s, at[side], r->result != DH_HIVE_NOT_SEEN || saw);
}

static void take_result(struct event *e, u32 task, const struct dh_hive_record *r)
{
    struct dh_hive_state *s = e->s;
    const struct dh_hive_task t = s->tasks[task];
    const char *run = text_of(e, "run");
    struct dh_hive_unit *u = &s->units[t.unit];
    add_record(s, t.unit, r, false, e->body);
    int saw = dh_hive_word(dh_hive_seens, DH_HIVE_SEENS, text_of(e, "saw"));
    if (saw >= 0)
        u->tally.seen[saw]++;
    count_user(s, t.user, r, number_of(e, "run_us"));
    if (r->result == DH_HIVE_NO_RACE || r->result == DH_HIVE_TIMEOUT)
        count_quiet(s, t.unit, run);
    struct dh_hive_tried *tried = dh_hive_tried_new(s, t.user, t.unit);
    if (r->result == DH_HIVE_TIMEOUT)
        tried->timeouts++;
    else if (r->result != DH_HIVE_NOT_SEEN)
        tried->done |= (u8)(1u << t.order);
    if (r->result == DH_HIVE_INFERENCE)
        take_inference(e, t.build, t.unit, r);
    else
        tell_sites(s, u, r, saw >= 0, json_object_get(e->body, "none"));
    if (r->result != DH_HIVE_TIMEOUT || t.state != DH_HIVE_ACTIVE)
        dh_hive_task_end(s, task, DH_HIVE_FINISHED, e->raw->seq);
    withdraw_settled(s, t.unit, (enum dh_hive_result)r->result, e->raw->seq);
}

static int add_result(struct event *e)
{
    struct dh_hive_state *s = e->s;
    const char *id = text_of(e, "id");
    u32 task = task_of(e);
    int result = dh_hive_word(dh_hive_results, DH_HIVE_RESULTS, text_of(e, "result"));
    int order = dh_hive_word(dh_hive_orders, DH_HIVE_ORDERS, text_of(e, "order"));
    int consequence = dh_hive_word(dh_hive_consequences, DH_HIVE_CONSEQUENCES, text_of(e, "consequence"));
    if (!dh_hive_is_hex(id, 32, 32) || task == DH_HIVE_NONE || result < 0 || order < 0 || consequence < 0 ||
        !dh_hive_is_hex(text_of(e, "run"), 32, 32) || dh_map_get(&s->results, id, 32) ||
        !number_of(e, "says") || (result == DH_HIVE_INFERENCE) != s->units[s->tasks[task].unit].bundle)
        return -EBADMSG;
    const struct dh_hive_task *t = &s->tasks[task];
    const struct dh_hive_record r = {.seq = e->raw->seq,
                                     .time_us = e->raw->time_us,
                                     .waited_us = number_of(e, "waited_us"),
                                     .run_us = number_of(e, "run_us"),
                                     .user = t->user,
                                     .build = t->build,
                                     .tau_us = t->tau_us,
                                     .result = (u8)result,
                                     .order = (u8)order,
                                     .consequence = (u8)consequence};
    dh_map_put(&s->results, id, 32, (void *)(uintptr_t)number_of(e, "says"));
    take_result(e, task, &r);
    return 0;
}

/* ---- Forgetting ---- */

static void forget_unit(struct event *e, u32 unit)
{
    struct dh_hive_unit *u = &e->s->units[unit];
    dh_hive_unit_withdraw(e->s, unit, e->raw->seq);
    count_harm(e->s, u, -1);
    u->tally = (struct dh_hive_tally){.symmetric = u->tally.symmetric};
    u->n_records = 0;
    for (int order = 0; order < DH_HIVE_ORDERS; order++) {
        free(u->stacks[order]);
        u->stacks[order] = NULL;
    }
    u->life++;
    memset(u->tried, 0, sizeof(u->tried));
    dh_hive_unit_settle(e->s, unit);
}

static void forget_build(struct event *e, u32 build)
{
    struct dh_hive_state *s = e->s;
    s->builds[build].forgotten = true;
    dh_hive_source_free(s->builds[build].source);
    s->builds[build].source = NULL;
    dh_hive_symbols_free(s->builds[build].symbols);
    s->builds[build].symbols = NULL;
    for (u32 i = 0; i < s->n_users; i++)
        if (s->users[i].task != DH_HIVE_NONE && s->tasks[s->users[i].task].build == build)
            dh_hive_task_end(s, s->users[i].task, DH_HIVE_WITHDRAWN, e->raw->seq);
    for (size_t i = 0; i < s->builds[build].n_slots; i++)
        dh_hive_unit_settle(s, s->builds[build].slots[i].unit);
}

static void forget_user(struct event *e, u32 user)
{
    struct dh_hive_user *u = &e->s->users[user];
    if (u->task != DH_HIVE_NONE)
        dh_hive_task_end(e->s, u->task, DH_HIVE_WITHDRAWN, e->raw->seq);
    discount_user(e->s, user);
    u->forgotten = true;
}

static int forget(struct event *e)
{
    u32 program = program_of(e), build = build_of(e), user = user_of(e), unit = DH_HIVE_NONE;
    u64 id;
    if (program != DH_HIVE_NONE && dh_hive_id_read(text_of(e, "unit"), &id))
        unit = dh_hive_find_unit(e->s, program, id);
    if (unit != DH_HIVE_NONE)
        forget_unit(e, unit);
    else if (build != DH_HIVE_NONE)
        forget_build(e, build);
    else if (user != DH_HIVE_NONE)
        forget_user(e, user);
    else
        return -EBADMSG;
    return 0;
}

int dh_hive_apply(struct dh_hive_state *s, const struct dh_store_event *raw)
{
    static const struct {
        const char *kind;
        int (*apply)(struct event *e);
    } kinds[] = {{"program", add_program}, {"key", add_key},   {"key-end", revoke_key},
                 {"build", add_build},     {"user", add_user}, {"task", add_task},
                 {"tau", raise_tau},       {"end", end_task},  {"relief", relieve},
                 {"result", add_result},   {"forget", forget}, {"source", add_source},
                 {"symbols", add_symbols}};
    struct event e = {s, raw, json_loads(raw->body, 0, NULL)};
    int rc = -EPROTONOSUPPORT;
    if (!e.body || raw->seq != s->seq + 1)
        rc = -EBADMSG;
    for (size_t i = 0; rc == -EPROTONOSUPPORT && i < DH_ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].kind, raw->kind) == 0)
            rc = kinds[i].apply(&e);
    if (!rc) {
        s->seq = raw->seq;
        s->time_us = raw->time_us;
    }
    json_decref(e.body);
    return rc;
}
