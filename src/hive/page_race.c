/*
 * page_race.c - the page of one race, GET /races/PROGRAM/ID: what is known about it, both accesses with their
 * source, what was tried, by whom and at what cost, and every result.
 */
#include <string.h>

#include "hive/page.h"

enum { RESULTS = 50, MOST_RESULTS = 1000, CHART_W = 960, CHART_H = 96 };

static bool is(const json_t *o, const char *member, const char *word)
{
    return strcmp(dh_page_text_in(o, member), word) == 0;
}

static const char *s_of(json_int_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- The verdict ---- */

static void put_confidence(struct dh_page *p, const json_t *unit)
{
    const json_t *c = json_object_get(unit, "confidence");
    json_int_t n = dh_page_int_in(c, "executions");
    if (!n) {
        dh_page_put(p,
                    "<p>No execution has tried to make the two meet, so nothing is said about how likely a "
                    "race is.</p>");
        return;
    }
    dh_page_put(p,
                "<p id=\"confidence\">%n execution%h reached both accesses and saw no race. If executions "
                "are alike and "
                "independent of each other, at most %o of them would show the race, with 95%% confidence. "
                "Users are not "
                "alike, so take it as a scale.</p>",
                n, s_of(n), dh_page_real_in(c, "at_most"));
}

/* What followed `n` of the race's occurrences: did it follow other races of the program, too? */
static void put_consequence(struct dh_page *p, const json_t *unit, bool crash, json_int_t n)
{
    const json_t *others = json_object_get(unit, "other_races");
    const json_int_t races = dh_page_int_in(others, "races");
    const bool likely = dh_page_real_in(others, crash ? "crash_chance" : "hang_chance") <= 0.05;
    dh_page_put(p, "<p class=\"bad\"><strong>Consequence: %h.</strong> The program %h after %n of them.",
                crash ? "crash" : "hang", crash ? "crashed" : "hung", n);
    if (races)
        dh_page_put(p, " After other races of this program it did so in %n of %n cases, so %h.</p>",
                    dh_page_int_in(others, crash ? "crashes" : "hangs"), races,
                    likely ? "this race is the likely cause" : "something else may be the cause");
    else
        dh_page_put(p, " No other race of this program has been seen that this could be compared with.</p>");
}

static void put_true_race(struct dh_page *p, const json_t *unit)
{
    const json_t *n = json_object_get(unit, "results");
    json_int_t crash = dh_page_int_in(n, "crash"), hang = dh_page_int_in(n, "hang");
    json_int_t races = dh_page_int_in(n, "race_primary") + dh_page_int_in(n, "race_alternate");
    dh_page_put(p, "<p><strong>This race is real.</strong> It was seen %n time%h, %h.</p>", races,
                s_of(races), is(unit, "orders", "both") ? "in both orders" : "always in the same order");
    if (crash)
        put_consequence(p, unit, true, crash);
    if (hang)
        put_consequence(p, unit, false, hang);
    if (races == dh_page_int_in(n, "caught"))
        dh_page_put(p, "<p>It was caught by context inference, which does not observe what follows.</p>");
    else if (!crash && !hang)
        dh_page_put(p, "<p>No crash and no hang followed. What it did to the data is not known.</p>");
}

static void put_likely_false(struct dh_page *p, const json_t *unit)
{
    static const struct {
        const char *reason, *sentence;
    } all[] = {{"synchronisation", "the accesses were always ordered by synchronisation"},
               {"context", "both accesses ran, but never in two threads"},
               {"not-aliasing", "both accesses ran, but never on the same memory"}};
    for (size_t i = 0; i < DH_ARRAY_LEN(all); i++)
        if (is(unit, "reason", all[i].reason))
            dh_page_put(p, "<p><strong>Likely a false positive:</strong> as far as users have seen, %h.</p>",
                        all[i].sentence);
    put_confidence(p, unit);
}

static void put_judgement(struct dh_page *p, const json_t *unit)
{
    dh_page_put(p, "<section class=\"card judgement\" aria-labelledby=\"h-verdict\"><h2 id=\"h-verdict\">");
    dh_page_verdict(p, unit);
    dh_page_put(p, "</h2>");
    if (is(unit, "verdict", "true-race"))
        put_true_race(p, unit);
    else if (is(unit, "verdict", "likely-false-positive"))
        put_likely_false(p, unit);
    else if (is(unit, "kind", "bundle"))
        dh_page_put(p,
                    "<p>A bundle stands for %n pairs of accesses, too many to be validated one by one. Users "
                    "find out which of "
                    "them meet; each pair that does becomes a candidate of its own.</p>",
                    dh_page_int_in(unit, "stands_for"));
    else
        dh_page_put(p,
                    "<p><strong>Not known yet.</strong> No execution has shown the race, and none has "
                    "shown why it cannot "
                    "happen.</p>");
    if (dh_page_true_in(unit, "carried_over"))
        dh_page_put(p,
                    "<p>All results are of other builds. They are taken to hold for this one, because the "
                    "tables of the builds show no change of the two accesses, of the functions they are in, "
                    "or of the locks and threads there.</p>");
    if (*dh_page_text_in(unit, "why"))
        dh_page_put(p, "<p class=\"dim\">Why it was considered possible: %p</p>",
                    dh_page_text_in(unit, "why"));
    dh_page_put(p, "</section>\n");
}

/* ---- The accesses ---- */

static void put_source(struct dh_page *p, const json_t *site, const char *number)
{
    const json_t *lines = json_object_get(site, "source"), *line;
    json_int_t here = dh_page_int_in(site, "line");
    size_t i;
    if (!json_array_size(lines)) {
        dh_page_put(p,
                    "<p class=\"dim\">No source: <code>deadheat hive add --source</code> uploads the lines "
                    "around the "
                    "accesses.</p>");
        return;
    }
    dh_page_put(
        p, "<pre class=\"source\" tabindex=\"0\" role=\"region\" aria-label=\"Source of the %h access\">",
        number);
    json_array_foreach(lines, i, line)
    {
        bool this = dh_page_int_in(line, "line") == here;
        dh_page_put(p, "<span class=\"line%h\"><span class=\"no\">%h%i</span><span>%l\n</span></span>",
                    this ? " here" : "", this ? "▸ " : "", dh_page_int_in(line, "line"),
                    dh_page_text_in(line, "text"));
    }
    dh_page_put(p, "</pre>");
}

static void put_frames(struct dh_page *p, const json_t *site)
{
    const json_t *stack = json_object_get(site, "stack"), *frame;
    size_t i;
    dh_page_put(p, "<ol class=\"stack\">");
    json_array_foreach(stack, i, frame)
    {
        dh_page_put(p, "<li><code>%t</code>", dh_page_text_in(frame, "function"));
        if (*dh_page_text_in(frame, "file"))
            dh_page_put(p, " <span class=\"place\">%t:%i</span>", dh_page_text_in(frame, "file"),
                        dh_page_int_in(frame, "line"));
        dh_page_put(p, "%h</li>",
                    dh_page_true_in(frame, "inlined") ? " <span class=\"tag\">inlined</span>" : "");
    }
    if (*dh_page_text_in(site, "run_by"))
        dh_page_put(p, "<li class=\"entry\">called in a thread that begins in %p</li>",
                    dh_page_text_in(site, "run_by"));
    dh_page_put(p, "</ol>");
}

static void put_access(struct dh_page *p, const json_t *site, bool first)
{
    const char *number = first ? "first" : "second", *did = dh_page_text_in(site, "did");
    dh_page_put(p,
                "<section class=\"card side %h\" aria-labelledby=\"h-%h\"><h2 id=\"h-%h\">%h access: <span "
                "class=\"did %h\">%t</span></h2>",
                is(site, "access", "write") ? "writes" : "reads", number, number, first ? "First" : "Second",
                is(site, "access", "write") ? "write" : "read", *did ? did : dh_page_text_in(site, "access"));
    put_frames(p, site);
    put_source(p, site, number);
    if (*dh_page_text_in(site, "holds"))
        dh_page_put(p, "<p>Locks that it always holds: %p</p>",
                    is(site, "holds", "no lock") ? "none" : dh_page_text_in(site, "holds"));
    dh_page_put(p, "<p class=\"dim\">Site <code>%t</code></p></section>\n", dh_page_text_in(site, "site"));
}

/* ---- Stacks ---- */

static void put_stack(struct dh_page *p, const json_t *frames, bool first)
{
    const json_t *frame;
    size_t i;
    dh_page_put(p, "<div><h3>%h access</h3><ol class=\"stack\">", first ? "First" : "Second");
    json_array_foreach(frames, i, frame)
    {
        json_int_t offset = dh_page_int_in(frame, "offset");
        if (!offset)
            dh_page_put(p, "<li class=\"entry\">other modules</li>");
        else if (*dh_page_text_in(frame, "function"))
            dh_page_put(p, "<li><code>%t</code>", dh_page_text_in(frame, "function"));
        else
            dh_page_put(p, "<li><code>offset %i</code>", offset);
        if (*dh_page_text_in(frame, "file"))
            dh_page_put(p, " <span class=\"place\">%t:%i</span>", dh_page_text_in(frame, "file"),
                        dh_page_int_in(frame, "line"));
        if (offset)
            dh_page_put(p, "</li>");
    }
    dh_page_put(p, "</ol></div>");
}

static void put_stacks(struct dh_page *p, const json_t *unit)
{
    const json_t *all = json_object_get(unit, "stacks"), *seen;
    size_t i;
    json_array_foreach(all, i, seen)
    {
        const json_t *accesses = json_object_get(seen, "accesses");
        dh_page_put(
            p,
            "<section class=\"card seen\" aria-labelledby=\"h-%h\"><h2 id=\"h-%h\">Stacks as seen, %h "
            "access first</h2>",
            is(seen, "order", "primary") ? "primary" : "alternate",
            is(seen, "order", "primary") ? "primary" : "alternate",
            is(seen, "order", "primary") ? "first" : "second");
        dh_page_put(p, "<div class=\"sides\">");
        put_stack(p, json_array_get(accesses, 0), true);
        put_stack(p, json_array_get(accesses, 1), false);
        dh_page_put(p, "</div></section>\n");
    }
}

/* ---- What was tried ---- */

static void put_orders(struct dh_page *p, const json_t *unit)
{
    static const char *const words[] = {"first access first", "second access first"};
    static const struct {
        const char *member, *title;
    } columns[] = {{"tasks", "Tasks"},     {"race", "Race"},         {"no-race", "No race"},
                   {"timeout", "Timeout"}, {"not-seen", "Not seen"}, {"crash", "Crash"},
                   {"hang", "Hang"}};
    dh_page_put(p,
                "<section class=\"card\" aria-labelledby=\"h-orders\"><h2 id=\"h-orders\">Orders tried</h2>"
                "<table class=\"orders\"><thead><tr><th scope=\"col\">Order</th>");
    for (size_t k = 0; k < DH_ARRAY_LEN(columns); k++)
        dh_page_put(p, "<th scope=\"col\" class=\"r\">%h</th>", columns[k].title);
    dh_page_put(p, "</tr></thead><tbody>");
    for (int i = 0; i < DH_HIVE_ORDERS; i++) {
        const json_t *n = json_object_get(json_object_get(unit, "orders_tried"), dh_hive_orders[i]);
        dh_page_put(p, "<tr><th scope=\"row\">%h</th>", words[i]);
        for (size_t k = 0; k < DH_ARRAY_LEN(columns); k++)
            dh_page_put(p, "<td class=\"r\" data-of=\"%h\">%n</td>", columns[k].title,
                        dh_page_int_in(n, columns[k].member));
        dh_page_put(p, "</tr>");
    }
    dh_page_put(p, "</tbody></table></section>\n");
}

static void put_cost(struct dh_page *p, const json_t *unit)
{
    const json_t *cost = json_object_get(unit, "cost");
    json_int_t run_us = dh_page_int_in(cost, "run_us");
    dh_page_put(p,
                "<section class=\"card\" aria-labelledby=\"h-users\"><h2 id=\"h-users\">Users and "
                "overhead</h2><dl class=\"facts\">"
                "<div><dt>Users who tried</dt><dd>%n</dd></div><div><dt>At work now</dt><dd>%n</dd></div>"
                "<div><dt>Waited in all</dt><dd>%d</dd></div><div><dt>Ran in all</dt><dd>%d</dd></div>",
                dh_page_int_in(cost, "users"), dh_page_int_in(unit, "active_tasks"),
                dh_page_int_in(cost, "waited_us"), run_us);
    if (run_us)
        dh_page_put(p, "<div><dt>Overhead</dt><dd>%o</dd></div>", dh_page_real_in(cost, "overhead"));
    dh_page_put(p, "</dl></section>\n");
}

/* ---- Results over time ---- */

static const struct {
    const char *result, *words;
} results[] = {{"race", "Race"},
               {"no-race", "No race"},
               {"timeout", "Timeout"},
               {"not-seen", "Not seen"},
               {"inference", "Looked at"}};

static size_t result_of(const json_t *event)
{
    size_t k = 0;
    while (k + 1 < DH_ARRAY_LEN(results) && !is(event, "result", results[k].result))
        k++;
    return k;
}

static void put_bars(struct dh_page *p, const json_t *parts, json_int_t most)
{
    json_int_t w = CHART_W / (json_int_t)json_array_size(parts);
    size_t i;
    const json_t *part;
    json_array_foreach(parts, i, part)
    {
        json_int_t below = 0;
        for (size_t k = 0; k < DH_ARRAY_LEN(results); k++) {
            json_int_t n = dh_page_int_in(part, results[k].result);
            json_int_t top = CHART_H - CHART_H * (below + n) / most,
                       bottom = CHART_H - CHART_H * below / most;
            if (n)
                dh_page_put(p, "<rect class=\"%h\" x=\"%i\" y=\"%i\" width=\"%i\" height=\"%i\"/>",
                            results[k].result, (json_int_t)i * w + 1, top, w - 2, bottom - top);
            below += n;
        }
    }
}

/* Bars: how many results of each kind came when. The legend and the table convey it to those who cannot see
 * them. */
static void put_chart(struct dh_page *p, const json_t *history)
{
    const json_t *parts = json_object_get(history, "parts"), *part;
    json_int_t most = 1, totals[DH_ARRAY_LEN(results)] = {0};
    size_t i;
    json_array_foreach(parts, i, part)
    {
        json_int_t sum = 0;
        for (size_t k = 0; k < DH_ARRAY_LEN(results); k++) {
            totals[k] += dh_page_int_in(part, results[k].result);
            sum += dh_page_int_in(part, results[k].result);
        }
        most = sum > most ? sum : most;
    }
    dh_page_put(p,
                "<svg class=\"chart\" viewBox=\"0 0 %i %i\" preserveAspectRatio=\"none\" role=\"img\" "
                "aria-label=\"Results over time\">",
                (json_int_t)CHART_W, (json_int_t)CHART_H);
    put_bars(p, parts, most);
    dh_page_put(p, "</svg><p class=\"axis\"><span>%T</span><span>%T</span></p><ul class=\"legend\">",
                dh_page_int_in(history, "begin_us"), dh_page_int_in(history, "end_us"));
    for (size_t k = 0; k < DH_ARRAY_LEN(results); k++)
        if (totals[k])
            dh_page_put(p, "<li><span class=\"key %h\" aria-hidden=\"true\"></span>%h: %n</li>",
                        results[k].result, results[k].words, totals[k]);
    dh_page_put(p, "</ul>");
}

static void put_event(struct dh_page *p, const json_t *e)
{
    char build[13];
    bool visible = !is(e, "consequence", "none");
    snprintf(build, sizeof(build), "%s", dh_page_text_in(e, "build"));
    dh_page_put(p,
                "<tr id=\"e-%i\"><th scope=\"row\">%T</th><td data-of=\"Result\"><span class=\"key %h\" "
                "aria-hidden=\"true\"></span>%h%h%h</td>"
                "<td data-of=\"Order\">%h</td><td class=\"r\" data-of=\"Could wait\">%d</td><td class=\"r\" "
                "data-of=\"Waited\">%d</td>"
                "<td class=\"r\" data-of=\"User\">%i</td><td data-of=\"Build\"><code>%t</code></td></tr>\n",
                dh_page_int_in(e, "event"), dh_page_int_in(e, "time_us"), results[result_of(e)].result,
                results[result_of(e)].words, visible ? ", " : "",
                !visible                        ? ""
                : is(e, "consequence", "crash") ? "crash"
                                                : "hang",
                is(e, "order", "primary") ? "first access first" : "second access first",
                dh_page_int_in(e, "tau_us"), dh_page_int_in(e, "waited_us"), dh_page_int_in(e, "user"),
                build);
}

static void put_timeline(struct dh_page *p, const json_t *unit, struct dh_hive_request *r)
{
    const json_t *timeline = json_object_get(unit, "timeline");
    size_t n = json_array_size(timeline);
    json_int_t all = dh_page_int_in(unit, "results_total");
    dh_page_put(p, "<section class=\"card\" aria-labelledby=\"h-results\"><h2 id=\"h-results\">Results</h2>");
    if (!n) {
        dh_page_put(p, "<p class=\"dim\">None yet.</p></section>\n");
        return;
    }
    put_chart(p, json_object_get(unit, "history"));
    dh_page_put(
        p,
        "<table class=\"results\"><caption class=\"hidden\">Results, the newest first</caption><thead><tr>"
        "<th scope=\"col\">When</th><th scope=\"col\">Result</th><th scope=\"col\">Order</th>"
        "<th scope=\"col\" class=\"r\">Could wait</th><th scope=\"col\" class=\"r\">Waited</th>"
        "<th scope=\"col\" class=\"r\">User</th><th scope=\"col\">Build</th></tr></thead><tbody>\n");
    for (size_t i = n; i-- > 0;)
        put_event(p, json_array_get(timeline, i));
    dh_page_put(p, "</tbody></table>");
    if ((json_int_t)n < all) {
        const char *build = dh_hive_query(r, "build");
        dh_page_put(p, "<p>The newest %n of %n are shown. <a href=\"?results=%i", (json_int_t)n, all,
                    (json_int_t)MOST_RESULTS);
        if (build && *build)
            dh_page_put(p, "&amp;build=%u", build);
        dh_page_put(p, "\">Show up to %n</a></p>", (json_int_t)MOST_RESULTS);
    }
    dh_page_put(p, "</section>\n");
}

/* ---- The page ---- */

static void put_builds(struct dh_page *p, const json_t *unit)
{
    const json_t *builds = json_object_get(unit, "builds");
    const char *here = dh_page_text_in(unit, "build");
    if (!json_array_size(builds))
        return;
    dh_page_put(p,
                "<form id=\"filter\" class=\"filter\" method=\"get\"><div><label for=\"build\">Build</label>"
                "<select id=\"build\" name=\"build\">");
    for (size_t i = json_array_size(builds); i-- > 0;) {
        const char *id = json_string_value(json_array_get(builds, i));
        char shown[13];
        snprintf(shown, sizeof(shown), "%s", id);
        dh_page_put(p, "<option value=\"%t\"%h>%t</option>", id, strcmp(id, here) == 0 ? " selected" : "",
                    shown);
    }
    dh_page_put(p, "</select></div><button>Show</button></form>\n");
}

static void put_race(struct dh_hive_request *r, const json_t *unit)
{
    struct dh_page p;
    const char *variable = dh_page_text_in(unit, "variable"), *program = dh_page_text_in(unit, "program");
    const char *id = dh_page_text_in(unit, "id"), *from = dh_page_text_in(unit, "found_in");
    const json_t *sites = json_object_get(unit, "sites");
    dh_page_begin(&p, *variable ? variable : id, "");
    dh_page_put(&p,
                "<nav class=\"trail\" aria-label=\"Where this is\"><a href=\"/\">Races</a> <span "
                "aria-hidden=\"true\">/</span> "
                "<a href=\"/?program=%u\">%t</a></nav>\n",
                program, program);
    dh_page_put(&p, "<h1>Race %h ", *variable ? "on" : "between");
    dh_page_name(&p, unit);
    dh_page_put(&p, "</h1>\n");
    dh_page_put(&p, "<p class=\"lead\">%p, id <code>%t</code>", dh_page_text_in(unit, "subject"), id);
    if (*from)
        dh_page_put(&p, ", found in <a href=\"/races/%u/%t\">a bundle</a>", program, from);
    dh_page_put(&p, "</p>\n");
    put_builds(&p, unit);
    put_judgement(&p, unit);
    dh_page_put(&p, "<div class=\"sides\">\n");
    put_access(&p, json_array_get(sites, 0), true);
    put_access(&p, json_array_get(sites, 1), false);
    dh_page_put(&p, "</div>\n");
    put_stacks(&p, unit);
    if (!is(unit, "kind", "bundle"))
        put_orders(&p, unit);
    put_cost(&p, unit);
    put_timeline(&p, unit, r);
    dh_page_end(&p, r, 200);
}

void dh_hive_page_race(struct dh_hive_request *r)
{
    struct dh_hive_filter f;
    json_t *unit = NULL;
    u64 most;
    if (!dh_hive_query_number(r, "results", RESULTS, &most) || most > MOST_RESULTS)
        most = RESULTS;
    const struct dh_hive_state *s = dh_hive_engine_lock(r->server->engine);
    u32 at = dh_hive_unit_of_path(s, r->rest);
    if (dh_hive_query_filter(r, s, &f) && at != DH_HIVE_NONE &&
        (f.build == DH_HIVE_NONE || dh_hive_find_slot(s, f.build, at) != DH_HIVE_NONE))
        unit = dh_hive_view_race(s, at, f.build, most);
    dh_hive_engine_unlock(r->server->engine);
    if (!unit) {
        dh_hive_page_refused(r, 404, "There is no such race in this build.");
        return;
    }
    put_race(r, unit);
    json_decref(unit);
}
