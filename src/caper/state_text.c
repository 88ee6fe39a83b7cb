/*
 * state_text.c - the text of a state: one JSON object per line.
 *
 *   {"type": "caper", "v": 1, "build_id": "...", "program": "/..."}
 *   {"type": "run", "time": 1700000000, "new": 3, "escaped": 10, "sp": 12, "dp": 5, "end": "exit 0",
 *    "build_id": "...", "file": "...", "runs": 1, "silent": false}       one for each run
 *   {"type": "escaped", "sites": ["0123456789abcdef", ...]}            ids of sites, as many lines as needed
 *   {"type": "pairs", "pairs": ["0123456789abcdef 0123456789abcdef", ...]}   of the alias analysis, instead
 *   {"type": "end", "checksum": "0123456789abcdef"}                    FNV-1a of all previous lines
 *
 * In a state of the alias analysis the first line also has "analysis": "alias".
 *
 * Nothing in it is trusted: without the last line, or with another checksum, it was truncated or changed.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caper/state.h"
#include "report/json.h"
#include "util/map.h"

enum { VERSION = 1, SITES_A_LINE = 32 };

/* ---- Printing ---- */

static void put_line(FILE *out, json_t *line)
{
    if (!line || json_dumpf(line, out, JSON_COMPACT | JSON_ENSURE_ASCII) != 0)
        dh_util_no_memory();
    fputc('\n', out);
    json_decref(line);
}

static void put_run(FILE *out, const struct dh_caper_merged *m)
{
    put_line(out, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:s, s:o, s:I, s:b}", "type", "run", "time",
                            (json_int_t)m->time, "new", (json_int_t)m->new_sites, "escaped",
                            (json_int_t)m->escaped, "sp", (json_int_t)m->sp, "dp", (json_int_t)m->dp, "end",
                            m->end, "build_id", m->build_id, "file", dh_json_text(m->file), "runs",
                            (json_int_t)m->runs, "silent", m->silent));
}

static void put_sites(FILE *out, const struct dh_caper_state *s)
{
    for (size_t i = 0; i < s->n_sites; i += SITES_A_LINE) {
        fputs("{\"type\":\"escaped\",\"sites\":[", out);
        for (size_t k = i; k < s->n_sites && k < i + SITES_A_LINE; k++)
            fprintf(out, "%s\"%016" PRIx64 "\"", k > i ? "," : "", s->sites[k]);
        fputs("]}\n", out);
    }
}

static void put_pairs(FILE *out, const struct dh_caper_state *s)
{
    for (size_t i = 0; i < s->n_pairs; i += SITES_A_LINE / 2) {
        fputs("{\"type\":\"pairs\",\"pairs\":[", out);
        for (size_t k = i; k < s->n_pairs && k < i + SITES_A_LINE / 2; k++)
            fprintf(out, "%s\"%016" PRIx64 " %016" PRIx64 "\"", k > i ? "," : "", s->pairs[k].site[0],
                    s->pairs[k].site[1]);
        fputs("]}\n", out);
    }
}

static json_t *head_of(const struct dh_caper_state *s)
{
    json_t *head = json_pack("{s:s, s:i, s:s, s:o}", "type", "caper", "v", VERSION, "build_id", s->build_id,
                             "program", dh_json_text(s->program));
    if (head && s->alias)
        json_object_set_new(head, "analysis", json_string("alias"));
    return head;
}

char *dh_caper_state_print(const struct dh_caper_state *s, size_t *ret_len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_len);
    if (!out)
        dh_util_no_memory();
    put_line(out, head_of(s));
    for (size_t i = 0; i < s->n_merged; i++)
        put_run(out, &s->merged[i]);
    put_sites(out, s);
    put_pairs(out, s);
    fflush(out);
    fprintf(out, "{\"type\":\"end\",\"checksum\":\"%016" PRIx64 "\"}\n", dh_util_hash(text, *ret_len));
    if (ferror(out) || fclose(out) != 0)
        dh_util_no_memory();
    return text;
}

/* ---- Reading ---- */

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static u64 number_in(const json_t *object, const char *key)
{
    json_int_t n = json_integer_value(json_object_get(object, key));
    return n > 0 ? (u64)n : 0;
}

static bool is_id(const char *text)
{
    return strspn(text, "0123456789abcdef") == 16;
}

static bool take_id(struct dh_caper_state *s, const char *text)
{
    if (s->alias || strlen(text) != 16 || !is_id(text))
        return false;
    dh_caper_state_add_site(s, strtoull(text, NULL, 16));
    return true;
}

static bool take_pair(struct dh_caper_state *s, const char *text)
{
    if (!s->alias || strlen(text) != 33 || !is_id(text) || text[16] != ' ' || !is_id(text + 17))
        return false;
    dh_caper_state_add_pair(s, strtoull(text, NULL, 16), strtoull(text + 17, NULL, 16));
    return true;
}

static bool take_line(struct dh_caper_state *s, const json_t *line)
{
    const char *type = text_in(line, "type");
    if (strcmp(type, "run") == 0) {
        const struct dh_caper_merged m = {.time = (int64_t)number_in(line, "time"),
                                          .runs = number_in(line, "runs"),
                                          .silent = json_is_true(json_object_get(line, "silent")),
                                          .new_sites = number_in(line, "new"),
                                          .escaped = number_in(line, "escaped"),
                                          .sp = number_in(line, "sp"),
                                          .dp = number_in(line, "dp"),
                                          .end = dh_arena_strdup(s->arena, text_in(line, "end")),
                                          .build_id = dh_arena_strdup(s->arena, text_in(line, "build_id")),
                                          .file = dh_arena_strdup(s->arena, text_in(line, "file"))};
        dh_caper_state_add_merged(s, &m);
        return m.runs > 0;
    }
    bool pairs = strcmp(type, "pairs") == 0;
    const json_t *items = json_object_get(line, pairs ? "pairs" : "sites");
    if ((!pairs && strcmp(type, "escaped") != 0) || !json_is_array(items))
        return false;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *text = json_string_value(json_array_get(items, i));
        if (!text || !(pairs ? take_pair(s, text) : take_id(s, text)))
            return false;
    }
    return true;
}

/* Checks the last line, and the others against it; NULL: all is well. */
static const char *check_end(const char *text, size_t len, size_t *ret_len)
{
    const char *last = len > 1 && text[len - 1] == '\n' ? memrchr(text, '\n', len - 1) : NULL;
    if (!last)
        return "it is cut off";
    size_t before = (size_t)(last + 1 - text);
    json_t *line = json_loadb(last + 1, len - before, 0, NULL);
    char sum[17];
    snprintf(sum, sizeof(sum), "%016" PRIx64, dh_util_hash(text, before));
    bool is_end = strcmp(text_in(line, "type"), "end") == 0,
         fits = strcmp(text_in(line, "checksum"), sum) == 0;
    json_decref(line);
    *ret_len = before;
    return !is_end ? "it is cut off" : !fits ? "it was changed or damaged" : NULL;
}

static const char *take_head(struct dh_caper_state *s, const char *text, size_t len)
{
    json_t *line = json_loadb(text, len, 0, NULL);
    const char *why = NULL;
    s->build_id = dh_arena_strdup(s->arena, text_in(line, "build_id"));
    s->program = dh_arena_strdup(s->arena, text_in(line, "program"));
    s->alias = strcmp(text_in(line, "analysis"), "alias") == 0;
    if (strcmp(text_in(line, "type"), "caper") != 0 || !s->build_id[0])
        why = "it is no state of 'deadheat caper'";
    else if (json_integer_value(json_object_get(line, "v")) != VERSION)
        why = "it is from another version of deadheat";
    json_decref(line);
    return why;
}

static const char *parse(struct dh_caper_state *s, const char *text, size_t len)
{
    const char *end = len ? memchr(text, '\n', len) : NULL;
    const char *why = end ? take_head(s, text, (size_t)(end - text)) : "it is no state of 'deadheat caper'";
    if (!why)
        why = check_end(text, len, &len);
    size_t at = end ? (size_t)(end - text) + 1 : 0;
    for (u64 number = 2; !why && at < len; number++) {
        end = memchr(text + at, '\n', len - at);
        json_t *line = json_loadb(text + at, (size_t)(end - text) - at, 0, NULL);
        if (!line || !take_line(s, line))
            why = dh_arena_printf(s->arena, "line %" PRIu64 " makes no sense", number);
        json_decref(line);
        at = (size_t)(end - text) + 1;
    }
    return why;
}

int dh_caper_state_parse(struct dh_caper_state *s, const char *text, size_t len, const char **ret_why)
{
    const char *why = parse(s, text, len);
    if (!why)
        return 0;
    *ret_why = why;
    return -1;
}
