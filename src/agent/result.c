/*
 * result.c - see result.h.
 */
#include "agent/result.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/control.h"
#include "util/arena.h"

const char *dh_agent_result_saw(u8 seen)
{
    return seen & DH_CONTROL_SEEN_SAME    ? "met"
           : seen & DH_CONTROL_SEEN_OTHER ? "not-aliasing"
           : seen & DH_CONTROL_SEEN_SELF  ? "one-thread"
                                          : NULL;
}

static void set(json_t *o, const char *member, json_t *value)
{
    if (json_object_set_new(o, member, value) != 0)
        dh_util_no_memory();
}

static json_t *stack_of(const u64 *frames, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer((json_int_t)frames[i]));
    return list;
}

static json_t *pair_of(const struct dh_agent_met *met)
{
    char a[17], b[17];
    snprintf(a, sizeof(a), "%016" PRIx64, met->sites[0]);
    snprintf(b, sizeof(b), "%016" PRIx64, met->sites[1]);
    json_t *o = json_pack("{s:[s,s], s:s}", "sites", a, b, "saw",
                          met->raced ? "race" : dh_agent_result_saw(met->seen));
    if (met->raced)
        set(o, "stacks",
            json_pack("[o, o]", stack_of(met->raced->at[0], met->raced->n[0]),
                      stack_of(met->raced->at[1], met->raced->n[1])));
    return o;
}

char *dh_agent_result_text(const struct dh_agent_result *r)
{
    json_t *o = json_object();
    set(o, "id", json_string(r->id));
    set(o, "task", json_integer((json_int_t)r->task));
    set(o, "result", json_string(r->result));
    set(o, "order", json_string(r->alternate ? "alternate" : "primary"));
    if (r->consequence)
        set(o, "consequence", json_string(r->consequence));
    set(o, "run", json_string(r->run));
    set(o, "waited_us", json_integer((json_int_t)r->waited_us));
    set(o, "run_us", json_integer((json_int_t)r->run_us));
    if (r->saw)
        set(o, "saw", json_string(r->saw));
    if (r->none[0] || r->none[1])
        set(o, "none", json_pack("[b,b]", r->none[0], r->none[1]));
    if (strcmp(r->result, "inference") == 0) {
        json_t *pairs = json_array();
        for (size_t i = 0; i < r->n_met; i++)
            json_array_append_new(pairs, pair_of(&r->met[i]));
        set(o, "pairs", pairs);
        json_t *reached = json_array();
        for (size_t i = 0; i < r->n_reached; i++)
            json_array_append_new(reached, json_sprintf("%016" PRIx64, r->reached[i]));
        set(o, "reached", reached);
    }
    if (r->n_stacks[0] || r->n_stacks[1])
        set(o, "stacks",
            json_pack("[o, o]", stack_of(r->stacks[0], r->n_stacks[0]),
                      stack_of(r->stacks[1], r->n_stacks[1])));
    char *text = json_dumps(o, JSON_COMPACT);
    if (!text)
        dh_util_no_memory();
    json_decref(o);
    return text;
}
