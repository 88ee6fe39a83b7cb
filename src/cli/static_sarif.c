/*
 * static_sarif.c - the pairs in SARIF 2.1.0, for code-review tools.
 *
 * A pair is one result: its first side is the location, the second the related one. Possible races are notes:
 * they are proposals to look at. The flag of a waiting loop is a warning. partialFingerprints holds the
 * pair's id, which does not change when other lines of the program do.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/static.h"

static const char schema[] = "https://json.schemastore.org/sarif-2.1.0.json";

static json_t *text(const char *s)
{
    json_t *j = json_string(s);
    return j ? j : json_string("?"); /* a name that is no UTF-8 */
}

static json_t *message(const char *s)
{
    return json_pack("{s:o}", "text", text(s));
}

/* A path as a URI reference: file:///... if it is absolute. */
static const char *uri(struct dh_static *s, const char *path)
{
    static const char kept[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *out = dh_arena_alloc(&s->scratch, strlen(path) * 3 + sizeof("file://")), *at = out;
    if (path[0] == '/')
        at = stpcpy(at, "file://");
    for (; *path; path++)
        if (strchr(kept, *path))
            *at++ = *path;
        else
            at += sprintf(at, "%%%02X", (unsigned char)*path);
    *at = '\0';
    return out;
}

static json_t *location(struct dh_static *s, const struct dh_pairs_side *side)
{
    const struct dh_pairs_site *site = &s->pairs->sites[side->site];
    json_t *j = json_object();
    if (site->at.file[0]) {
        json_t *physical =
            json_pack("{s:{s:o}}", "artifactLocation", "uri", text(uri(s, dh_static_path(s, &site->at))));
        if (site->at.line) {
            json_t *region = json_pack("{s:I}", "startLine", (json_int_t)site->at.line);
            if (site->at.column)
                json_object_set_new(region, "startColumn", json_integer(site->at.column));
            size_t len;
            const char *line = dh_static_line(s, &site->at, &len);
            if (len)
                json_object_set_new(region, "snippet", message(dh_arena_dup(&s->scratch, line, len)));
            json_object_set_new(physical, "region", region);
        }
        json_object_set_new(j, "physicalLocation", physical);
    }
    json_object_set_new(j, "logicalLocations",
                        json_pack("[{s:o,s:s}]", "fullyQualifiedName",
                                  text(dh_static_function(s, site->function)), "kind", "function"));
    json_object_set_new(
        j, "message",
        message(dh_arena_printf(&s->scratch, "%s holding %s, run by %s", dh_static_access(s, site),
                                dh_static_held(s, side->locks), dh_static_reached(s, side->entries))));
    return j;
}

static json_t *result(struct dh_static *s, u32 variable, u32 number)
{
    const struct dh_pairs_pair *pair = &s->pairs->pairs[number];
    const struct dh_pairs_site *a = &s->pairs->sites[pair->side[0].site];
    const struct dh_pairs_site *b = &s->pairs->sites[pair->side[1].site];
    bool ad_hoc = pair->flags & DH_PAIRS_AD_HOC;
    const char *sentence = dh_arena_printf(
        &s->scratch, "Possible data race on %s: %s in %s and %s in %s%s%s. Why: %s.",
        dh_static_subject(s, variable), dh_static_access(s, a), dh_static_function(s, a->function),
        dh_static_access(s, b), dh_static_function(s, b->function), b->at.file[0] ? " at " : "",
        dh_static_place(s, &b->at), dh_static_why(s, pair));
    json_t *related = location(s, &pair->side[1]);
    json_object_set_new(related, "id", json_integer(1));
    return json_pack("{s:s,s:i,s:s,s:o,s:[o],s:[o],s:{s:s}}", "ruleId",
                     ad_hoc ? "deadheat/ad-hoc-synchronisation" : "deadheat/possible-race", "ruleIndex",
                     ad_hoc, "level", ad_hoc ? "warning" : "note", "message", message(sentence), "locations",
                     location(s, &pair->side[0]), "relatedLocations", related, "partialFingerprints",
                     "deadheatPair/v1", dh_static_pair_id(s, pair));
}

static json_t *driver(void)
{
    return json_pack(
        "{s:s,s:s,s:[{s:s,s:{s:s},s:{s:s},s:{s:s}},{s:s,s:{s:s},s:{s:s},s:{s:s}}]}", "name", "deadheat",
        "semanticVersion", DH_VERSION, "rules", "id", "deadheat/possible-race", "shortDescription", "text",
        "Two accesses may race", "fullDescription", "text",
        "Two threads may access the same memory at the same time, one of them writing, and no lock that both "
        "hold orders them.",
        "defaultConfiguration", "level", "note", "id", "deadheat/ad-hoc-synchronisation", "shortDescription",
        "text", "A waiting loop on a plain flag", "fullDescription", "text",
        "A thread waits in a loop for a variable that another thread writes without synchronisation.",
        "defaultConfiguration", "level", "warning");
}

void dh_static_print_sarif(struct dh_static *s)
{
    json_t *tool = json_pack("{s:o}", "driver", driver());
    fprintf(s->out, "{\"$schema\":\"%s\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":", schema);
    json_dumpf(tool, s->out, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(tool);
    json_t *properties = json_pack("{s:s,s:s,s:b,s:o}", "of", dh_static_of_word(s), "style", s->style,
                                   "noThreads", s->pairs->no_threads, "program", text(s->pairs->program));
    fputs(",\"columnKind\":\"utf16CodeUnits\",\"properties\":", s->out);
    json_dumpf(properties, s->out, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(properties);
    fputs(",\"results\":[", s->out);
    bool first = true;
    for (size_t g = 0; g < s->n_groups; g++) {
        const struct dh_static_group *group = &s->groups[g];
        for (size_t i = 0; i < dh_static_shown(s, group); i++, dh_static_forget(s)) {
            json_t *j = result(s, group->variable, group->pairs[i]);
            fputs(first ? "\n" : ",\n", s->out);
            json_dumpf(j, s->out, JSON_COMPACT | JSON_ENSURE_ASCII);
            json_decref(j);
            first = false;
        }
    }
    fputs("]}]}\n", s->out);
}
