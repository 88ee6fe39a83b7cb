/*
 * decide.c - see decide.h. Everything that comes from outside is checked here; what passes can be applied.
 */
#include "hive/decide.h"

#include <stdlib.h>
#include <string.h>

static const char BAD_STACKS[] = "'stacks' are two lists of up to 64 offsets, and go with a race";
enum { MAX_NAME = 100, MAX_PAIRS = 1000, MAX_OUTSIDE = 64, MAX_REACHED = 256 };

static void add(struct dh_hive_batch *b, const char *kind, json_t *body, const void *data, size_t len)
{
    char *text = body ? json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (!text)
        dh_util_no_memory();
    json_decref(body);
    struct dh_store_event e = {.seq = b->state->seq + 1,
                               .time_us = b->now_us,
                               .kind = kind,
                               .body = dh_arena_strdup(&b->arena, text),
                               .data = data ? dh_arena_dup(&b->arena, data, len) : NULL,
                               .data_len = len};
    free(text);
    int rc = dh_hive_apply(b->state, &e);
    if (rc)
        abort(); /* a log that cannot be read back must not be written */
    b->events = dh_util_grow(b->events, b->n_events, &b->cap_events, sizeof(*b->events));
    b->events[b->n_events++] = e;
}

void dh_hive_batch_clear(struct dh_hive_batch *b)
{
    dh_arena_done(&b->arena);
    b->arena = (struct dh_arena){0};
    b->n_events = 0;
}

void dh_hive_batch_done(struct dh_hive_batch *b)
{
    dh_arena_done(&b->arena);
    free(b->events);
    *b = (struct dh_hive_batch){0};
}

static enum dh_hive_status refuse(enum dh_hive_status status, const char *why, const char **ret_why)
{
    *ret_why = why;
    return status;
}

/* ---- Programs and builds ---- */

static bool is_name(const char *name)
{
    size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") : 0;
    return n && n <= MAX_NAME && !name[n];
}

enum dh_hive_status dh_hive_add_program(struct dh_hive_batch *b, const char *name, const char **ret_why)
{
    if (!is_name(name))
        return refuse(
            DH_HIVE_BAD,
            "a program's name has up to 100 letters, digits, dots, underscores, plus and minus signs",
            ret_why);
    if (dh_hive_find_program(b->state, name) != DH_HIVE_NONE)
        return DH_HIVE_OK;
    add(b, "program", json_pack("{s:s}", "program", name), NULL, 0);
    return DH_HIVE_CREATED;
}

enum dh_hive_status dh_hive_add_key(struct dh_hive_batch *b, const char *program, const char *hash,
                                    u32 *ret_number, const char **ret_why)
{
    u32 at = is_name(program) ? dh_hive_find_program(b->state, program) : DH_HIVE_NONE;
    if (at == DH_HIVE_NONE)
        return refuse(DH_HIVE_NOT_FOUND, "there is no such program", ret_why);
    add(b, "key", json_pack("{s:s, s:s}", "program", program, "hash", hash), NULL, 0);
    *ret_number = (u32)b->state->programs[at].n_keys;
    return DH_HIVE_CREATED;
}

enum dh_hive_status dh_hive_revoke_key(struct dh_hive_batch *b, const char *program, u32 number,
                                       const char **ret_why)
{
    u32 at = is_name(program) ? dh_hive_find_program(b->state, program) : DH_HIVE_NONE;
    if (at == DH_HIVE_NONE || !number || number > b->state->programs[at].n_keys)
        return refuse(DH_HIVE_NOT_FOUND, "the program has no such key", ret_why);
    if (!b->state->programs[at].keys[number - 1].revoked)
        add(b, "key-end", json_pack("{s:s, s:i}", "program", program, "key", (int)number), NULL, 0);
    return DH_HIVE_OK;
}

enum dh_hive_status dh_hive_add_build(struct dh_hive_batch *b, const char *program, const char *build,
                                      const char *style, const void *table, size_t len, const char **ret_why)
{
    struct dh_pairs *pairs;
    bool sound = style && strcmp(style, "sound") == 0;
    if (!dh_hive_is_hex(build, 8, 128))
        return refuse(DH_HIVE_BAD, "a build id has 8 to 128 hexadecimal digits", ret_why);
    if (style && !sound && strcmp(style, "relay") != 0)
        return refuse(DH_HIVE_BAD, "the style of a build is relay or sound", ret_why);
    u32 at = dh_hive_find_build(b->state, build);
    if (at != DH_HIVE_NONE && !b->state->builds[at].forgotten) {
        const struct dh_hive_build *there = &b->state->builds[at];
        if (!is_name(program) || strcmp(b->state->programs[there->program].name, program) != 0)
            return refuse(DH_HIVE_CONFLICT, "this build is one of another program", ret_why);
        if (style && sound != (there->set == DH_PAIRS_SOUND))
            return refuse(DH_HIVE_CONFLICT, "this build is there in the other style; forget it first",
                          ret_why);
        return DH_HIVE_OK;
    }
    if (!is_name(program))
        return dh_hive_add_program(b, program, ret_why);
    if (!len || dh_pairs_read(table, len, &pairs, ret_why) != 0)
        return refuse(DH_HIVE_UNPROCESSABLE, "it is no table of pairs that this version of deadheat can read",
                      ret_why);
    dh_pairs_free(pairs);
    enum dh_hive_status status = dh_hive_add_program(b, program, ret_why);
    if (status >= DH_HIVE_BAD)
        return status;
    add(b, "build",
        json_pack("{s:s, s:s, s:s, s:s}", "program", program, "build", build, "style",
                  sound ? "sound" : "relay", "carry", "code"),
        table, len);
    return DH_HIVE_CREATED;
}

enum dh_hive_status dh_hive_add_source(struct dh_hive_batch *b, const char *build, const void *bytes,
                                       size_t len, const char **ret_why)
{
    struct dh_hive_source *source;
    u32 at = dh_hive_is_hex(build, 8, 128) ? dh_hive_find_build(b->state, build) : DH_HIVE_NONE;
    if (at == DH_HIVE_NONE || b->state->builds[at].forgotten)
        return refuse(DH_HIVE_NOT_FOUND, "there is no such build", ret_why);
    if (dh_hive_source_read(bytes, len, b->state->builds[at].table, b->state->builds[at].set, true, &source,
                            ret_why) != 0)
        return DH_HIVE_UNPROCESSABLE;
    bool same = dh_hive_source_equal(b->state->builds[at].source, source);
    dh_hive_source_free(source);
    if (same)
        return DH_HIVE_OK;
    add(b, "source", json_pack("{s:s}", "build", build), bytes, len);
    return DH_HIVE_CREATED;
}

enum dh_hive_status dh_hive_add_symbols(struct dh_hive_batch *b, const char *build, const void *bytes,
                                        size_t len, const char **ret_why)
{
    struct dh_hive_symbols *symbols;
    size_t n;
    u32 at = dh_hive_is_hex(build, 8, 128) ? dh_hive_find_build(b->state, build) : DH_HIVE_NONE;
    if (at == DH_HIVE_NONE || b->state->builds[at].forgotten)
        return refuse(DH_HIVE_NOT_FOUND, "there is no such build", ret_why);
    const char *there = dh_hive_symbols_bytes(b->state->builds[at].symbols, &n);
    if (there && n == len && memcmp(there, bytes, len) == 0)
        return DH_HIVE_OK;
    if (dh_hive_symbols_read(bytes, len, &symbols, ret_why) != 0)
        return DH_HIVE_UNPROCESSABLE;
    dh_hive_symbols_free(symbols);
    add(b, "symbols", json_pack("{s:s}", "build", build), bytes, len);
    return DH_HIVE_CREATED;
}

/* ---- Tasks ---- */

/* Otherwise many waiting polls would spend their time on hash look-ups, whenever anything changes. */
static u32 find_user(const struct dh_hive_state *s, const char *user, u32 hint)
{
    bool known = hint < s->n_users && memcmp(s->users[hint].hash, user, DH_HIVE_HASH) == 0;
    return known ? hint : dh_hive_find_user(s, user);
}

/* The build it last reported, unless there is a newer one of this name. */
static bool runs_build(const struct dh_hive_state *s, const struct dh_hive_user *u, const char *build)
{
    const struct dh_hive_build *b = &s->builds[u->build];
    return strcmp(b->id, build) == 0 && (!b->forgotten || dh_hive_find_build(s, build) == u->build);
}

bool dh_hive_poll_changes(const struct dh_hive_state *s, u32 program, const char *user, const char *build,
                          u64 now_us, u32 *user_at)
{
    u32 at = find_user(s, user, *user_at);
    *user_at = DH_HIVE_NONE;
    if (at == DH_HIVE_NONE || s->users[at].program != program || s->users[at].forgotten ||
        !runs_build(s, &s->users[at], build))
        return true;
    *user_at = at;
    return s->users[at].task == DH_HIVE_NONE && s->users[at].relieved_until_us <= now_us &&
           (s->builds[s->users[at].build].n_open > 0 || dh_hive_idle(&s->builds[s->users[at].build]) > 0);
}

enum dh_hive_status dh_hive_poll(struct dh_hive_batch *b, u32 program, const char *user, const char *build,
                                 u32 *ret_user, const char **ret_why)
{
    struct dh_hive_state *s = b->state;
    if (!dh_hive_is_hex(build, 8, 128))
        return refuse(DH_HIVE_BAD, "a build id has 8 to 128 hexadecimal digits", ret_why);
    u32 in = dh_hive_find_build(s, build), at = dh_hive_find_user(s, user);
    if (in == DH_HIVE_NONE || s->builds[in].program != program || s->builds[in].forgotten)
        return refuse(DH_HIVE_NOT_FOUND, "this program has no such build", ret_why);
    if (at == DH_HIVE_NONE || s->users[at].build != in || s->users[at].forgotten) {
        add(b, "user", json_pack("{s:s, s:s}", "user", user, "build", build), NULL, 0);
        at = dh_hive_find_user(s, user);
    }
    struct dh_hive_choice c;
    *ret_user = at;
    if (s->users[at].task != DH_HIVE_NONE || !b->policy->choose(b->policy, s, at, b->now_us, &b->random, &c))
        return DH_HIVE_OK;
    char id[17];
    u32 tau_us = 0;
    b->policy->tau(b->policy, 0, &tau_us);
    json_t *body =
        json_pack("{s:I, s:s, s:s, s:s, s:I}", "task", (json_int_t)s->n_tasks, "user", user, "unit",
                  dh_hive_id_text(s->units[c.unit].id, id), "order", dh_hive_orders[c.order], "tau_us",
                  (json_int_t)(s->units[c.unit].bundle ? 0 : tau_us));
    if (c.overdue != DH_HIVE_NONE)
        json_object_set_new(body, "overdue", json_integer(c.overdue));
    add(b, "task", body, NULL, 0);
    return DH_HIVE_OK;
}

/* After a Timeout: a longer wait, or give up. */
static void after_timeout(struct dh_hive_batch *b, u32 task)
{
    const struct dh_hive_task *t = &b->state->tasks[task];
    u32 tau_us;
    if (b->policy->tau(b->policy, dh_hive_tried(b->state, t->user, t->unit)->timeouts, &tau_us))
        add(b, "tau", json_pack("{s:I, s:I}", "task", (json_int_t)task, "tau_us", (json_int_t)tau_us), NULL,
            0);
    else
        add(b, "end", json_pack("{s:I, s:s}", "task", (json_int_t)task, "why", "abandoned"), NULL, 0);
}

static void relieve(struct dh_hive_batch *b, u32 user)
{
    const struct dh_hive_user *u = &b->state->users[user];
    if (u->relieved_until_us > b->now_us || !b->policy->relieve(b->policy, b->state, user))
        return;
    if (u->task != DH_HIVE_NONE)
        add(b, "end", json_pack("{s:I, s:s}", "task", (json_int_t)u->task, "why", "relieved"), NULL, 0);
    u = &b->state->users[user];
    add(b, "relief",
        json_pack("{s:s, s:I}", "user", u->hash, "until_us",
                  (json_int_t)b->now_us + (json_int_t)b->policy->settings.relieve_us),
        NULL, 0);
}

/* ---- Results ---- */

static const char *text_in(const json_t *o, const char *member)
{
    return json_string_value(json_object_get(o, member));
}

/* Not negative, not absurd; 0 if absent. */
static bool time_in(const json_t *o, const char *member, json_int_t *ret)
{
    const json_t *n = json_object_get(o, member);
    *ret = json_integer_value(n);
    return !n || (json_is_integer(n) && *ret >= 0 && *ret <= 366ll * 86400 * 1000000);
}

/* What context inference may have seen of a pair; "race": two threads were at the accesses at once. */
static bool is_seen(const char *saw)
{
    return saw && (strcmp(saw, "race") == 0 || dh_hive_word(dh_hive_seens, DH_HIVE_SEENS, saw) >= 0);
}

static bool has_met(const char *saw)
{
    return strcmp(saw, "race") == 0 || strcmp(saw, "met") == 0;
}

/* Are these the stacks of a race, or none? */
static bool are_stacks(const json_t *r, bool race)
{
    struct dh_hive_stacks stacks = {0};
    const json_t *given = json_object_get(r, "stacks");
    return !given || (race && dh_hive_stacks_read(given, &stacks));
}

/* NULL, or what is wrong with the pairs of a context inference. Others than the bundle's may have met, too:
 * those have to be looked for in the whole table, so only a few are allowed. */
static const char *check_pairs(const struct dh_hive_state *s, const struct dh_hive_task *t,
                               const json_t *pairs)
{
    const struct dh_hive_build *b = &s->builds[t->build];
    u32 pair = b->slots[dh_hive_find_slot(s, t->build, t->unit)].pair;
    size_t i, outside = 0;
    const json_t *item;
    if (!json_is_array(pairs) || json_array_size(pairs) > MAX_PAIRS)
        return "an inference has a list of up to 1000 pairs";
    json_array_foreach(pairs, i, item)
    {
        u64 sites[2];
        const json_t *two = json_object_get(item, "sites");
        if (json_array_size(two) != 2 ||
            !dh_hive_id_read(json_string_value(json_array_get(two, 0)), &sites[0]) ||
            !dh_hive_id_read(json_string_value(json_array_get(two, 1)), &sites[1]) ||
            !is_seen(text_in(item, "saw")))
            return "a pair of an inference has two sites, and 'saw': race, met, not-aliasing or one-thread";
        if (!are_stacks(item, strcmp(text_in(item, "saw"), "race") == 0))
            return BAD_STACKS;
        if (dh_hive_bundle_has(b->table, pair, sites[0], sites[1]))
            continue;
        if (!has_met(text_in(item, "saw")) || outside++ == MAX_OUTSIDE)
            return "a pair of an inference is none of the bundle's; up to 64 others may have met";
        if (dh_hive_pair_with(b->table, sites) == DH_PAIRS_NONE)
            return "a pair of an inference is none of the build's";
    }
    return NULL;
}

/* NULL, or what is wrong with the accesses that were reached. */
static const char *check_reached(const struct dh_hive_build *b, const json_t *reached)
{
    size_t i;
    const json_t *item;
    if (reached && (!json_is_array(reached) || json_array_size(reached) > MAX_REACHED))
        return "'reached' is a list of up to 256 sites";
    json_array_foreach(reached, i, item)
    {
        u64 site;
        if (!dh_hive_id_read(json_string_value(item), &site) ||
            dh_pairs_find_site(b->table, site) == DH_PAIRS_NONE)
            return "a site in 'reached' is none of the build's";
    }
    return NULL;
}

static const char *check_result(const struct dh_hive_state *s, const struct dh_hive_task *t, const json_t *r,
                                json_int_t times[2])
{
    int result = dh_hive_word(dh_hive_results, DH_HIVE_RESULTS, text_in(r, "result"));
    const json_t *consequence = json_object_get(r, "consequence"), *order = json_object_get(r, "order");
    bool bundle = s->units[t->unit].bundle;
    if (result < 0 || (result == DH_HIVE_INFERENCE) != bundle)
        return bundle ? "the result of a bundle is inference"
                      : "'result' is race, no-race, timeout or not-seen";
    if (consequence &&
        dh_hive_word(dh_hive_consequences, DH_HIVE_CONSEQUENCES, json_string_value(consequence)) < 0)
        return "'consequence' is none, crash or hang";
    if (order && dh_hive_word(dh_hive_orders, DH_HIVE_ORDERS, json_string_value(order)) < 0)
        return "'order' is primary or alternate";
    if (json_object_get(r, "saw") &&
        (result != DH_HIVE_NOT_SEEN || dh_hive_word(dh_hive_seens, DH_HIVE_SEENS, text_in(r, "saw")) < 0))
        return "'saw' is met, not-aliasing or one-thread, and goes with not-seen";
    const json_t *none = json_object_get(r, "none");
    if (none && (result != DH_HIVE_NOT_SEEN || json_array_size(none) != 2 ||
                 !json_is_boolean(json_array_get(none, 0)) || !json_is_boolean(json_array_get(none, 1))))
        return "'none' says of each of the two accesses whether the build has no instruction for it, and "
               "goes "
               "with not-seen";
    if (!are_stacks(r, result == DH_HIVE_RACE))
        return BAD_STACKS;
    if (!dh_hive_is_hex(text_in(r, "run"), 32, 32))
        return "'run' has 32 hexadecimal digits, drawn at random for each execution";
    if (!time_in(r, "waited_us", &times[0]) || !time_in(r, "run_us", &times[1]))
        return "times are microseconds, up to a year";
    const json_t *reached = json_object_get(r, "reached");
    const json_t *pairs = json_object_get(r, "pairs");
    if (!bundle)
        return reached || pairs ? "'pairs' and 'reached' go with inference" : NULL;
    const char *why = check_pairs(s, t, pairs);
    return why ? why : check_reached(&s->builds[t->build], reached);
}

/* A hash of the result's contents; never 0. */
static u64 hash_of(const json_t *result)
{
    char *text = json_dumps(result, JSON_COMPACT | JSON_SORT_KEYS);
    if (!text)
        dh_util_no_memory();
    u64 h = dh_util_hash(text, strlen(text)) >> 2; /* JSON has 63 bits */
    free(text);
    return h ? h : 1;
}

enum dh_hive_status dh_hive_add_result(struct dh_hive_batch *b, u32 program, const char *user,
                                       const json_t *result, const char **ret_why)
{
    struct dh_hive_state *s = b->state;
    const char *id = text_in(result, "id"), *why;
    const json_t *number = json_object_get(result, "task");
    json_int_t times[2];
    if (!dh_hive_is_hex(id, 32, 32) || !json_is_integer(number))
        return refuse(DH_HIVE_BAD, "a result has an 'id' of 32 hexadecimal digits, and a 'task'", ret_why);
    u64 says = hash_of(result), before = (u64)(uintptr_t)dh_map_get(&s->results, id, 32);
    u32 who = dh_hive_find_user(s, user);
    json_int_t task = json_integer_value(number);
    if (who == DH_HIVE_NONE || s->users[who].program != program || task < 0 || (u64)task >= s->n_tasks ||
        s->tasks[task].user != who)
        return refuse(DH_HIVE_FORBIDDEN, "this task was not given to this user", ret_why);
    if (before)
        return before == says ? DH_HIVE_OK
                              : refuse(DH_HIVE_CONFLICT, "there is another result of this id", ret_why);
    const struct dh_hive_task *t = &s->tasks[task];
    if (t->state == DH_HIVE_FINISHED || t->state == DH_HIVE_ABANDONED)
        return refuse(DH_HIVE_CONFLICT, "this task has ended", ret_why);
    why = check_result(s, t, result, times);
    if (why)
        return refuse(DH_HIVE_BAD, why, ret_why);
    const char *order = text_in(result, "order"), *consequence = text_in(result, "consequence");
    json_t *body =
        json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "id", id, "task", task, "result",
                  text_in(result, "result"), "order", order ? order : dh_hive_orders[t->order], "consequence",
                  consequence ? consequence : "none", "run", text_in(result, "run"), "waited_us", times[0],
                  "run_us", times[1], "says", (json_int_t)says);
    if (text_in(result, "saw"))
        json_object_set(body, "saw", json_object_get(result, "saw"));
    if (json_object_get(result, "none"))
        json_object_set(body, "none", json_object_get(result, "none"));
    if (json_object_get(result, "stacks"))
        json_object_set(body, "stacks", json_object_get(result, "stacks"));
    if (s->units[t->unit].bundle)
        json_object_set(body, "pairs", json_object_get(result, "pairs"));
    if (json_object_get(result, "reached"))
        json_object_set(body, "reached", json_object_get(result, "reached"));
    add(b, "result", body, NULL, 0);
    if (s->tasks[task].state == DH_HIVE_ACTIVE)
        after_timeout(b, (u32)task);
    relieve(b, who);
    return DH_HIVE_CREATED;
}

enum dh_hive_status dh_hive_forget(struct dh_hive_batch *b, const char *program, const char *unit,
                                   const char *build, const char *user, const char **ret_why)
{
    struct dh_hive_state *s = b->state;
    u64 id;
    u32 in = program ? dh_hive_find_program(s, program) : DH_HIVE_NONE;
    u32 at = build ? dh_hive_find_build(s, build) : DH_HIVE_NONE;
    bool found = unit ? in != DH_HIVE_NONE && dh_hive_id_read(unit, &id) &&
                            dh_hive_find_unit(s, in, id) != DH_HIVE_NONE
                 : build ? at != DH_HIVE_NONE && !s->builds[at].forgotten
                         : user && dh_hive_find_user(s, user) != DH_HIVE_NONE;
    if (!found)
        return refuse(DH_HIVE_NOT_FOUND, "there is nothing of this name to forget", ret_why);
    if (unit)
        add(b, "forget", json_pack("{s:s, s:s}", "program", program, "unit", unit), NULL, 0);
    else
        add(b, "forget", json_pack("{s:s}", build ? "build" : "user", build ? build : user), NULL, 0);
    return DH_HIVE_OK;
}
