/*
 * page_list.c - the list of candidates, GET /: by verdict, filtered and searched; and the list of users, GET
 * /users.
 *
 * Everything is in the URL, so that a view can be bookmarked and sent to others.
 */
#include <string.h>

#include "hive/page.h"

enum { ROWS = 100 };

/* What the page shows, according to the query; "" if not given. */
struct shown {
    const char *program, *build, *q, *verdict, *kind;
};

static const char *asked(struct dh_hive_request *r, const char *name)
{
    const char *value = dh_hive_query(r, name);
    return value ? value : "";
}

/* The URL of a view. */
static void put_view(struct dh_page *p, const char *path, const struct shown *s, json_int_t after)
{
    const char *const names[] = {"program", "build", "q", "verdict", "kind"};
    const char *const values[] = {s->program, s->build, s->q, s->verdict, s->kind};
    const char *between = "?";
    dh_page_put(p, "%h", path);
    for (size_t i = 0; i < DH_ARRAY_LEN(names); i++) {
        if (!*values[i])
            continue;
        dh_page_put(p, "%h%h=%u", between, names[i], values[i]);
        between = "&amp;";
    }
    if (after)
        dh_page_put(p, "%hafter=%i", between, after);
}

/* ---- Head ---- */

static void put_option(struct dh_page *p, const char *value, const char *chosen)
{
    dh_page_put(p, "<option value=\"%t\"%h>", value, strcmp(value, chosen) == 0 ? " selected" : "");
}

static void put_programs(struct dh_page *p, const struct shown *s, const json_t *programs)
{
    size_t i;
    const json_t *program;
    dh_page_put(p,
                "<div><label for=\"program\">Program</label><select id=\"program\" name=\"program\">"
                "<option value=\"\">All programs</option>");
    json_array_foreach(programs, i, program)
    {
        put_option(p, dh_page_text_in(program, "program"), s->program);
        dh_page_put(p, "%t</option>", dh_page_text_in(program, "program"));
    }
    dh_page_put(p, "</select></div>");
}

/* Newest first. */
static void put_builds(struct dh_page *p, const struct shown *s, const json_t *builds)
{
    dh_page_put(p,
                "<div><label for=\"build\">Build</label><select id=\"build\" name=\"build\">"
                "<option value=\"\">All builds</option>");
    for (size_t i = json_array_size(builds); i-- > 0;) {
        const json_t *b = json_array_get(builds, i);
        put_option(p, dh_page_text_in(b, "build"), s->build);
        json_int_t day = dh_page_int_in(b, "added_us");
        char id[13];
        snprintf(id, sizeof(id), "%s", dh_page_text_in(b, "build"));
        dh_page_put(p, "%t %t, %D</option>", dh_page_text_in(b, "program"), id, day);
    }
    dh_page_put(p, "</select></div>");
}

static void put_filter(struct dh_page *p, const struct shown *s, const json_t *status, const json_t *builds)
{
    const json_t *programs = json_object_get(status, "programs");
    dh_page_put(p, "<form id=\"filter\" class=\"filter\" method=\"get\" action=\"/\" role=\"search\">");
    if (json_array_size(programs) > 1)
        put_programs(p, s, programs);
    put_builds(p, s, json_object_get(builds, "builds"));
    dh_page_put(
        p,
        "<div class=\"grow\"><label for=\"q\">Search</label><input id=\"q\" name=\"q\" type=\"search\" "
        "value=\"%t\" placeholder=\"Function, file, variable or id\" autocomplete=\"off\"></div>",
        s->q);
    if (*s->verdict)
        dh_page_put(p, "<input type=\"hidden\" name=\"verdict\" value=\"%t\">", s->verdict);
    if (*s->kind)
        dh_page_put(p, "<input type=\"hidden\" name=\"kind\" value=\"%t\">", s->kind);
    dh_page_put(p, "<button>Show</button></form>\n");
}

static void put_facts(struct dh_page *p, const struct shown *s, const json_t *status)
{
    size_t i;
    json_int_t users = 0, results = 0, waited_us = 0, run_us = 0;
    const json_t *program;
    json_array_foreach(json_object_get(status, "programs"), i, program)
    {
        if (*s->program && strcmp(s->program, dh_page_text_in(program, "program")) != 0)
            continue;
        users += dh_page_int_in(program, "users");
        results += dh_page_int_in(program, "results");
        waited_us += dh_page_int_in(program, "waited_us");
        run_us += dh_page_int_in(program, "run_us");
    }
    dh_page_put(
        p, "<dl class=\"facts\"><div><dt>Users</dt><dd>%n</dd></div><div><dt>Results</dt><dd>%n</dd></div>",
        users, results);
    dh_page_put(p, "<div><dt>Waited for races</dt><dd>%d</dd></div>", waited_us);
    if (run_us)
        dh_page_put(p, "<div><dt>Overhead</dt><dd>%o</dd></div>", (double)waited_us / (double)run_us);
    dh_page_put(p, "</dl>\n");
}

/* Tabs for the verdicts, with counts. */
static void put_tabs(struct dh_page *p, const struct shown *s, const json_t *counts)
{
    static const struct {
        const char *verdict, *kind, *member, *words;
    } tabs[] = {{"", "", NULL, "All candidates"},
                {"true-race", "", "true-race", "True races"},
                {"unknown", "", "unknown", "Unknown"},
                {"likely-false-positive", "", "likely-false-positive", "Likely false"},
                {"", "bundle", "bundles", "Bundles"}};
    dh_page_put(p, "<nav class=\"tabs\" aria-label=\"Verdicts\"><ul>");
    for (size_t i = 0; i < DH_ARRAY_LEN(tabs); i++) {
        struct shown to = *s;
        json_int_t n = tabs[i].member
                           ? dh_page_int_in(counts, tabs[i].member)
                           : dh_page_int_in(counts, "true-race") + dh_page_int_in(counts, "unknown") +
                                 dh_page_int_in(counts, "likely-false-positive");
        bool here = strcmp(s->verdict, tabs[i].verdict) == 0 && strcmp(s->kind, tabs[i].kind) == 0;
        to.verdict = tabs[i].verdict;
        to.kind = tabs[i].kind;
        dh_page_put(p, "<li><a id=\"tab-%i\"%h href=\"", (json_int_t)i, here ? " aria-current=\"true\"" : "");
        put_view(p, "/", &to, 0);
        dh_page_put(p, "\">%h <b>%n</b></a></li>", tabs[i].words, n);
    }
    dh_page_put(p, "</ul></nav>\n");
}

/* ---- Rows ---- */

static void put_access(struct dh_page *p, const json_t *site)
{
    const json_t *frame = json_array_get(json_object_get(site, "stack"), 0);
    const char *did = dh_page_text_in(site, "did"), *function = dh_page_text_in(frame, "function");
    dh_page_put(
        p, "<li><span class=\"did %h\">%t</span> in <code>%t</code> <span class=\"place\">%t:%i</span></li>",
        strcmp(dh_page_text_in(site, "access"), "write") == 0 ? "write" : "read",
        *did ? did : dh_page_text_in(site, "access"),
        *function ? function : dh_page_text_in(site, "function"), dh_page_text_in(site, "file"),
        dh_page_int_in(site, "line"));
}

static void put_known(struct dh_page *p, const struct shown *s, const json_t *unit)
{
    const char *verdict = dh_page_text_in(unit, "verdict"), *reason = dh_page_text_in(unit, "reason");
    const json_t *results = json_object_get(unit, "results");
    if (strcmp(verdict, "true-race") == 0) {
        bool crash = dh_page_true_in(unit, "causes_crash"), hang = dh_page_true_in(unit, "causes_hang");
        bool observed = dh_page_int_in(results, "race_primary") + dh_page_int_in(results, "race_alternate") >
                        dh_page_int_in(results, "caught");
        dh_page_put(p, "%h%h%h%h", crash ? "<strong>crashes</strong>, " : "",
                    hang ? "<strong>hangs</strong>, " : "",
                    crash || hang ? ""
                    : observed    ? "no visible consequence, "
                                  : "consequence not observed, ",
                    strcmp(dh_page_text_in(unit, "orders"), "both") == 0 ? "in both orders" : "in one order");
    } else if (strcmp(verdict, "likely-false-positive") == 0) {
        const json_t *confidence = json_object_get(unit, "confidence");
        dh_page_put(p, "%h",
                    strcmp(reason, "synchronisation") == 0 ? "synchronised"
                    : strcmp(reason, "context") == 0       ? "never in two threads"
                                                           : "never the same memory");
        if (dh_page_int_in(confidence, "executions"))
            dh_page_put(p, "; at most %o of executions", dh_page_real_in(confidence, "at_most"));
    } else if (!*verdict) {
        dh_page_put(p, "stands for %n pairs", dh_page_int_in(unit, "stands_for"));
    } else {
        dh_page_put(p, dh_page_int_in(results, "not_seen") || dh_page_int_in(results, "timeout")
                           ? "tried, nothing seen"
                           : "nothing reported yet");
    }
    if (*s->build && dh_page_true_in(unit, "carried_over"))
        dh_page_put(p, " <span class=\"tag\">from another build</span>");
}

static void put_row(struct dh_page *p, const struct shown *s, const json_t *unit)
{
    const json_t *results = json_object_get(unit, "results"), *sites = json_object_get(unit, "sites");
    const char *program = dh_page_text_in(unit, "program"), *id = dh_page_text_in(unit, "id");
    static const char *const members[] = {"race_primary", "race_alternate", "no_race", "timeout", "not_seen"};
    json_int_t n = 0;
    for (size_t i = 0; i < DH_ARRAY_LEN(members); i++)
        n += dh_page_int_in(results, members[i]);
    dh_page_put(p, "<tr id=\"u-%u-%h\"><td data-of=\"Verdict\">", program, id);
    dh_page_verdict(p, unit);
    dh_page_put(p, "</td><th scope=\"row\"><a id=\"a-%u-%h\" href=\"/races/%u/%h", program, id, program, id);
    if (*s->build)
        dh_page_put(p, "?build=%u", s->build);
    dh_page_put(p, "\">");
    dh_page_name(p, unit);
    dh_page_put(p, "</a>");
    if (!*s->program)
        dh_page_put(p, " <span class=\"dim\">%t</span>", program);
    dh_page_put(p, "</th><td data-of=\"Accesses\"><ul class=\"accesses\">");
    put_access(p, json_array_get(sites, 0));
    put_access(p, json_array_get(sites, 1));
    dh_page_put(p, "</ul></td><td data-of=\"Known\">");
    put_known(p, s, unit);
    dh_page_put(
        p,
        "</td><td class=\"r\" data-of=\"Results\">%n</td><td class=\"r\" data-of=\"At work\">%n</td></tr>\n",
        n, dh_page_int_in(unit, "active_tasks"));
}

static void put_paging(struct dh_page *p, const struct shown *s, json_int_t after, json_int_t shown,
                       json_int_t total)
{
    if (total <= shown)
        return;
    dh_page_put(p, "<nav class=\"paging\" aria-label=\"Parts of the list\">");
    if (after) {
        dh_page_put(p, "<a rel=\"prev\" href=\"");
        put_view(p, "/", s, after > ROWS ? after - ROWS : 0);
        dh_page_put(p, "\">Previous</a>");
    }
    dh_page_put(p, "<span>%n to %n of %n</span>", after + 1, after + shown, total);
    if (after + shown < total) {
        dh_page_put(p, "<a rel=\"next\" href=\"");
        put_view(p, "/", s, after + shown);
        dh_page_put(p, "\">Next</a>");
    }
    dh_page_put(p, "</nav>\n");
}

static void put_list(struct dh_page *p, const struct shown *s, const json_t *list, json_int_t after)
{
    const json_t *units = json_object_get(list, "candidates"), *unit;
    size_t i, n = json_array_size(units);
    if (!n) {
        dh_page_put(p, "<p class=\"none\">%h</p>\n",
                    *s->q || *s->verdict || *s->kind || *s->build || *s->program
                        ? "Nothing matches this filter."
                        : "Nothing is registered yet: <code>deadheat hive add</code> does that.");
        return;
    }
    dh_page_put(
        p,
        "<table class=\"races\"><caption class=\"hidden\">Candidates, the worst first</caption><thead><tr>"
        "<th scope=\"col\">Verdict</th><th scope=\"col\">Race on</th><th scope=\"col\">Accesses</th>"
        "<th scope=\"col\">What is known</th><th scope=\"col\" class=\"r\">Results</th>"
        "<th scope=\"col\" class=\"r\">At work</th></tr></thead><tbody>\n");
    json_array_foreach(units, i, unit) put_row(p, s, unit);
    dh_page_put(p, "</tbody></table>\n");
    put_paging(p, s, after, (json_int_t)n, dh_page_int_in(list, "total"));
}

/* The requested view cannot be shown. */
static void refuse(struct dh_hive_request *r)
{
    dh_hive_page_refused(r, r->status,
                         r->status == 404 ? "There is no such program or build."
                                          : "The address asks for what a list cannot show.");
}

void dh_hive_page_list(struct dh_hive_request *r)
{
    const struct shown s = {asked(r, "program"), asked(r, "build"), asked(r, "q"), asked(r, "verdict"),
                            asked(r, "kind")};
    struct dh_hive_filter f;
    json_t *list = NULL, *status = NULL, *builds = NULL;
    const struct dh_hive_state *state = dh_hive_engine_lock(r->server->engine);
    if (dh_hive_query_filter(r, state, &f)) {
        f.kind = f.kind == DH_HIVE_ANY ? DH_HIVE_CANDIDATES : f.kind;
        f.limit = ROWS;
        list = dh_hive_view_ranked(state, &f);
        status = dh_hive_view_status(state);
        builds = dh_hive_view_builds(state, f.program);
    }
    dh_hive_engine_unlock(r->server->engine);
    if (!list) {
        refuse(r);
        return;
    }
    struct dh_page p;
    dh_page_begin(&p, "Races", "/");
    dh_page_put(&p, "<h1>Possible races%h%t</h1>\n", *s.program ? " of " : "", s.program);
    put_facts(&p, &s, status);
    put_filter(&p, &s, status, builds);
    put_tabs(&p, &s, json_object_get(list, "counts"));
    put_list(&p, &s, list, (json_int_t)f.after);
    dh_page_end(&p, r, 200);
    json_decref(list);
    json_decref(status);
    json_decref(builds);
}

/* ---- Users ---- */

static void put_user(struct dh_page *p, const json_t *user, json_int_t now_us)
{
    char build[13];
    snprintf(build, sizeof(build), "%s", dh_page_text_in(user, "build"));
    dh_page_put(p,
                "<tr><th scope=\"row\">%i</th><td data-of=\"Program\">%t</td><td "
                "data-of=\"Build\"><code>%t</code></td>"
                "<td class=\"r\" data-of=\"Results\">%n</td><td class=\"r\" data-of=\"Timeouts\">%n</td>"
                "<td class=\"r\" data-of=\"Waited\">%d</td><td class=\"r\" data-of=\"Ran\">%d</td>",
                dh_page_int_in(user, "user"), dh_page_text_in(user, "program"), build,
                dh_page_int_in(user, "results"), dh_page_int_in(user, "timeouts"),
                dh_page_int_in(user, "waited_us"), dh_page_int_in(user, "run_us"));
    if (dh_page_int_in(user, "run_us"))
        dh_page_put(p, "<td class=\"r\" data-of=\"Overhead\">%o</td>", dh_page_real_in(user, "overhead"));
    else
        dh_page_put(p, "<td class=\"r\" data-of=\"Overhead\">-</td>");
    dh_page_put(p, "<td data-of=\"Last seen\">%T%h</td></tr>\n", dh_page_int_in(user, "last_us"),
                dh_page_int_in(user, "relieved_until_us") > now_us ? " <span class=\"tag\">relieved</span>"
                                                                   : "");
}

void dh_hive_page_users(struct dh_hive_request *r)
{
    struct shown s = {asked(r, "program"), "", "", "", ""};
    struct dh_hive_filter f;
    json_t *users = NULL;
    const struct dh_hive_state *state = dh_hive_engine_lock(r->server->engine);
    if (dh_hive_query_filter(r, state, &f)) {
        f.limit = ROWS;
        users = dh_hive_view_users(state, &f);
    }
    json_int_t now_us = (json_int_t)dh_hive_engine_now(r->server->engine);
    dh_hive_engine_unlock(r->server->engine);
    if (!users) {
        refuse(r);
        return;
    }
    struct dh_page p;
    size_t i, n = json_array_size(json_object_get(users, "users"));
    const json_t *user;
    dh_page_begin(&p, "Users", "/users");
    dh_page_put(&p,
                "<h1>Users</h1>\n<p class=\"lead\">A user is one installation, known by a number only. The "
                "overhead is "
                "the time that its threads waited for a race, against the time that its programs ran.</p>\n");
    if (n) {
        dh_page_put(&p,
                    "<table class=\"users\"><caption class=\"hidden\">Users</caption><thead><tr><th "
                    "scope=\"col\">User</th>"
                    "<th scope=\"col\">Program</th><th scope=\"col\">Build</th><th scope=\"col\" "
                    "class=\"r\">Results</th>"
                    "<th scope=\"col\" class=\"r\">Timeouts</th><th scope=\"col\" class=\"r\">Waited</th>"
                    "<th scope=\"col\" class=\"r\">Ran</th><th scope=\"col\" class=\"r\">Overhead</th>"
                    "<th scope=\"col\">Last seen</th></tr></thead><tbody>\n");
        json_array_foreach(json_object_get(users, "users"), i, user) put_user(&p, user, now_us);
        dh_page_put(&p, "</tbody></table>\n");
    } else {
        dh_page_put(&p, "<p class=\"none\">Nobody has asked for a task yet.</p>\n");
    }
    if (json_is_integer(json_object_get(users, "next"))) {
        dh_page_put(&p, "<nav class=\"paging\" aria-label=\"Parts of the list\"><a rel=\"next\" href=\"");
        put_view(&p, "/users", &s, dh_page_int_in(users, "next"));
        dh_page_put(&p, "\">Next</a></nav>\n");
    }
    dh_page_end(&p, r, 200);
    json_decref(users);
}
