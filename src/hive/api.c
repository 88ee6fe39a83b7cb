/*
 * api.c - the hive's routes except polls; openapi.json describes them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hive/secret.h"
#include "hive/server.h"

enum {
    SMALL = 64 << 10,
    RESULT = 256 << 10, /* an inference with 1000 pairs, 64 of which have stacks, takes 200 KB */
    TABLE = 256 << 20,
    PAGE = 100,
    MOST = 1000
};

/* ---- Shared ---- */

/* Parses the body as a JSON object without duplicate members. False: already answered. */
static bool read_object(struct dh_hive_request *r)
{
    r->input = r->body ? json_loadb(r->body, r->len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (json_is_object(r->input))
        return true;
    dh_hive_answer_error(r, 400, "the body must be a JSON object");
    return false;
}

static const char *text_in(const struct dh_hive_request *r, const char *member)
{
    return json_string_value(json_object_get(r->input, member));
}

static void answer_status(struct dh_hive_request *r, enum dh_hive_status status, const char *why)
{
    if (status >= DH_HIVE_BAD)
        dh_hive_answer_error(r, status, why);
    else
        dh_hive_answer(r, status, json_pack("{s:b}", "new", status == DH_HIVE_CREATED));
}

bool dh_hive_query_number(struct dh_hive_request *r, const char *name, u64 otherwise, u64 *ret)
{
    const char *text = dh_hive_query(r, name);
    char *end;
    *ret = text ? strtoull(text, &end, 10) : otherwise;
    return !text || (text[0] >= '0' && text[0] <= '9' && !*end && strlen(text) < 19);
}

/* A form sends all of its fields: an empty one counts as absent. */
static const char *filled(struct dh_hive_request *r, const char *name)
{
    const char *value = dh_hive_query(r, name);
    return value && *value ? value : NULL;
}

bool dh_hive_query_filter(struct dh_hive_request *r, const struct dh_hive_state *s,
                          struct dh_hive_filter *ret)
{
    static const char *const kinds[] = {"all", "candidate", "bundle"};
    const char *program = filled(r, "program"), *build = filled(r, "build");
    const char *verdict = filled(r, "verdict"), *kind = filled(r, "kind");
    int which = kind ? dh_hive_word(kinds, DH_ARRAY_LEN(kinds), kind) : DH_HIVE_ANY;
    *ret = (struct dh_hive_filter){.program = program ? dh_hive_find_program(s, program) : DH_HIVE_NONE,
                                   .build = build ? dh_hive_find_build(s, build) : DH_HIVE_NONE,
                                   .verdict = dh_hive_word(dh_hive_verdicts, DH_HIVE_VERDICTS, verdict),
                                   .kind = (u8)which,
                                   .search = filled(r, "q")};
    if (program && ret->program == DH_HIVE_NONE)
        dh_hive_answer_error(r, 404, "there is no such program");
    else if (build && (ret->build == DH_HIVE_NONE || s->builds[ret->build].forgotten))
        dh_hive_answer_error(r, 404, "there is no such build");
    else if ((verdict && ret->verdict < 0) || which < 0 ||
             !dh_hive_query_number(r, "after", 0, &ret->after) ||
             !dh_hive_query_number(r, "limit", PAGE, &ret->limit) || ret->limit > MOST)
        dh_hive_answer_error(
            r, 400,
            "'verdict' is unknown, likely-false-positive or true-race; 'kind' is all, candidate or bundle; "
            "'limit' is up to 1000");
    return !r->answered;
}

/* ---- Public ---- */

static char *copy(const char *text)
{
    char *to = strdup(text);
    if (!to)
        dh_util_no_memory();
    return to;
}

static void get_health(struct dh_hive_request *r)
{
    dh_hive_answer_text(r, 200, "text/plain", copy("ok\n"));
}

static void get_ready(struct dh_hive_request *r)
{
    struct dh_hive_engine_stats stats;
    dh_hive_engine_stats(r->server->engine, &stats);
    dh_hive_answer_text(r, stats.ready ? 200 : 503, "text/plain",
                        copy(stats.ready ? "ready\n" : "not ready\n"));
}

static void get_metrics(struct dh_hive_request *r)
{
    dh_hive_answer_text(r, 200, "text/plain; version=0.0.4", dh_hive_metrics(r->server));
}

static void get_openapi(struct dh_hive_request *r)
{
    dh_hive_answer_text(r, 200, "application/json", copy(dh_hive_openapi));
}

/* ---- Agents ---- */

static void poll(struct dh_hive_request *r)
{
    if (read_object(r))
        dh_hive_poll_route(r);
}

static void work_result(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why = "";
    enum dh_hive_status status = dh_hive_add_result(b, r->program, r->user, r->input, &why);
    if (status >= DH_HIVE_BAD) {
        dh_hive_answer_error(r, status, why);
        return;
    }
    u32 user = dh_hive_find_user(b->state, r->user);
    dh_hive_answer(r, status,
                   json_pack("{s:s, s:b, s:I, s:o}", "id", text_in(r, "id"), "new", status == DH_HIVE_CREATED,
                             "version", (json_int_t)b->state->users[user].changed, "task",
                             dh_hive_view_task(b->state, user)));
}

static void post_result(struct dh_hive_request *r)
{
    if (read_object(r))
        dh_hive_submit(r, work_result);
}

/* ---- Administrators: reading ---- */

static void get_status(struct dh_hive_request *r)
{
    const struct dh_hive_state *s = dh_hive_engine_lock(r->server->engine);
    dh_hive_answer(r, 200, dh_hive_view_status(s));
    dh_hive_engine_unlock(r->server->engine);
}

static void get_builds(struct dh_hive_request *r)
{
    struct dh_hive_filter f;
    const struct dh_hive_state *s = dh_hive_engine_lock(r->server->engine);
    if (dh_hive_query_filter(r, s, &f))
        dh_hive_answer(r, 200, dh_hive_view_builds(s, f.program));
    dh_hive_engine_unlock(r->server->engine);
}

static void get_candidates(struct dh_hive_request *r)
{
    struct dh_hive_filter f;
    const struct dh_hive_state *s = dh_hive_engine_lock(r->server->engine);
    if (dh_hive_query_filter(r, s, &f))
        dh_hive_answer(r, 200, dh_hive_view_units(s, &f));
    dh_hive_engine_unlock(r->server->engine);
}

static void get_users(struct dh_hive_request *r)
{
    struct dh_hive_filter f;
    const struct dh_hive_state *s = dh_hive_engine_lock(r->server->engine);
    if (dh_hive_query_filter(r, s, &f))
        dh_hive_answer(r, 200, dh_hive_view_users(s, &f));
    dh_hive_engine_unlock(r->server->engine);
}

u32 dh_hive_unit_of_path(const struct dh_hive_state *s, const char *rest)
{
    char name[128];
    u64 id;
    const char *slash = strchr(rest, '/');
    size_t n = slash ? (size_t)(slash - rest) : sizeof(name);
    if (n >= sizeof(name) || !dh_hive_id_read(slash + 1, &id))
        return DH_HIVE_NONE;
    memcpy(name, rest, n);
    name[n] = 0;
    u32 program = dh_hive_find_program(s, name);
    return program == DH_HIVE_NONE ? DH_HIVE_NONE : dh_hive_find_unit(s, program, id);
}

/* /v1/candidates/PROGRAM/ID */
static void get_candidate(struct dh_hive_request *r)
{
    struct dh_hive_filter f;
    const struct dh_hive_state *s = dh_hive_engine_lock(r->server->engine);
    u32 unit = dh_hive_unit_of_path(s, r->rest);
    bool here = dh_hive_query_filter(r, s, &f) && unit != DH_HIVE_NONE &&
                (f.build == DH_HIVE_NONE || dh_hive_find_slot(s, f.build, unit) != DH_HIVE_NONE);
    if (here)
        dh_hive_answer(r, 200, dh_hive_view_race(s, unit, f.build, MOST));
    else if (!r->answered)
        dh_hive_answer_error(r, 404, "there is no such candidate");
    dh_hive_engine_unlock(r->server->engine);
}

/* ---- Administrators: changing ---- */

static void work_build(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why = "";
    answer_status(r,
                  dh_hive_add_build(b, dh_hive_query(r, "program"), dh_hive_query(r, "build"),
                                    dh_hive_query(r, "style"), r->body, r->len, &why),
                  why);
}

static void post_build(struct dh_hive_request *r)
{
    dh_hive_submit(r, work_build);
}

static void work_source(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why = "";
    answer_status(r, dh_hive_add_source(b, dh_hive_query(r, "build"), r->body, r->len, &why), why);
}

static void post_source(struct dh_hive_request *r)
{
    dh_hive_submit(r, work_source);
}

static void work_symbols(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why = "";
    answer_status(r, dh_hive_add_symbols(b, dh_hive_query(r, "build"), r->body, r->len, &why), why);
}

static void post_symbols(struct dh_hive_request *r)
{
    dh_hive_submit(r, work_symbols);
}

static void work_key(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why = "";
    char key[DH_HIVE_SECRET + 1], hash[65];
    u32 n;
    dh_hive_secret_new(key);
    dh_hive_secret_hash(key, strlen(key), hash);
    enum dh_hive_status status = dh_hive_add_key(b, text_in(r, "program"), hash, &n, &why);
    if (status >= DH_HIVE_BAD)
        dh_hive_answer_error(r, status, why);
    else
        dh_hive_answer(r, status, json_pack("{s:i, s:s}", "number", (int)n, "key", key));
}

static void post_key(struct dh_hive_request *r)
{
    if (read_object(r))
        dh_hive_submit(r, work_key);
}

static void work_revoke(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why = "";
    json_int_t n = json_integer_value(json_object_get(r->input, "number"));
    answer_status(r, dh_hive_revoke_key(b, text_in(r, "program"), n > 0 && n < 1 << 30 ? (u32)n : 0, &why),
                  why);
}

static void post_revoke(struct dh_hive_request *r)
{
    if (read_object(r))
        dh_hive_submit(r, work_revoke);
}

static void work_forget(struct dh_hive_batch *b, void *ctx)
{
    struct dh_hive_request *r = ctx;
    const char *why = "", *user = NULL;
    const json_t *n = json_object_get(r->input, "user");
    if (json_is_integer(n) && json_integer_value(n) >= 0 && (u64)json_integer_value(n) < b->state->n_users)
        user = b->state->users[json_integer_value(n)].hash;
    answer_status(
        r, dh_hive_forget(b, text_in(r, "program"), text_in(r, "candidate"), text_in(r, "build"), user, &why),
        why);
}

static void post_forget(struct dh_hive_request *r)
{
    if (read_object(r))
        dh_hive_submit(r, work_forget);
}

const struct dh_hive_route dh_hive_routes[] = {
    {"GET", "/healthz", DH_HIVE_ANYBODY, 0, get_health},
    {"GET", "/readyz", DH_HIVE_ANYBODY, 0, get_ready},
    {"GET", "/metrics", DH_HIVE_ANYBODY, 0, get_metrics},
    {"GET", "/v1/openapi.json", DH_HIVE_ANYBODY, 0, get_openapi},
    {"POST", "/v1/poll", DH_HIVE_AGENT, SMALL, poll},
    {"POST", "/v1/results", DH_HIVE_AGENT, RESULT, post_result},
    {"GET", "/v1/status", DH_HIVE_READER, 0, get_status},
    {"GET", "/v1/builds", DH_HIVE_READER, 0, get_builds},
    {"POST", "/v1/builds", DH_HIVE_ADMIN, TABLE, post_build},
    {"POST", "/v1/source", DH_HIVE_ADMIN, DH_HIVE_SOURCE_MOST, post_source},
    {"POST", "/v1/symbols", DH_HIVE_ADMIN, DH_HIVE_SYMBOLS_MOST, post_symbols},
    {"GET", "/v1/changes", DH_HIVE_READER, 0, dh_hive_watch_route},
    {"GET", "/v1/candidates", DH_HIVE_READER, 0, get_candidates},
    {"GET", "/v1/candidates/", DH_HIVE_READER, 0, get_candidate},
    {"GET", "/v1/users", DH_HIVE_READER, 0, get_users},
    {"POST", "/v1/keys", DH_HIVE_ADMIN, SMALL, post_key},
    {"POST", "/v1/keys/revoke", DH_HIVE_ADMIN, SMALL, post_revoke},
    {"POST", "/v1/forget", DH_HIVE_ADMIN, SMALL, post_forget},
    {"GET", "/", DH_HIVE_PAGE, 0, dh_hive_page_list},
    {"GET", "/races/", DH_HIVE_PAGE, 0, dh_hive_page_race},
    {"GET", "/users", DH_HIVE_PAGE, 0, dh_hive_page_users},
    {"GET", "/page/", DH_HIVE_OPEN_PAGE, 0, dh_hive_page_asset},
    {"GET", "/signin", DH_HIVE_PAGE, 0, dh_hive_session_there},
    {"POST", "/signin", DH_HIVE_OPEN_PAGE, SMALL, dh_hive_session_begin},
    {"POST", "/signout", DH_HIVE_OPEN_PAGE, SMALL, dh_hive_session_end},
};
const size_t dh_hive_n_routes = DH_ARRAY_LEN(dh_hive_routes);
