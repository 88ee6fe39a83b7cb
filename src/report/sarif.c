/*
 * sarif.c - findings in SARIF 2.1.0, for code-review tools.
 *
 * A finding is one result: the access at which the race was found is its location, the other one and the
 * variants are related locations. Where there are stacks, each thread is a threadFlow of one codeFlow, from
 * the outermost call to the access. partialFingerprints holds the fingerprint, which does not change when
 * other lines of the program do.
 */
#include <inttypes.h>
#include <string.h>

#include "report/json.h"
#include "report/pairs.h"
#include "util/path.h"

static const char schema[] = "https://json.schemastore.org/sarif-2.1.0.json";

enum rule { OBSERVED, FREED, PREDICTED, POSSIBLE, AD_HOC, CONFIRMED };

/* What to do about it: services show this next to each finding. */
static const char mend[] =
    "Let both accesses hold the same lock, order them (join the thread, hand the data over through a "
    "queue or a condition variable), or make the variable atomic. Both stacks are in the code flow; the "
    "locks that were held are with the locations. A race is undefined behaviour in C and C++ even if its "
    "outcome seems harmless; one that is meant can be annotated or suppressed.";
static const char mend_free[] =
    "Let whoever frees the memory wait for those who use it: join them, count references, or free it under "
    "the lock that they hold. Both stacks are in the code flow.";
static const char check[] =
    "This was not seen to happen. If the two can run at the same time, let both hold the same lock, order "
    "them, or make the variable atomic; if something orders them that the analysis does not know, say so "
    "by an annotation or a suppression.";

static const struct {
    const char *id, *level, *title, *sentence, *help;
} rules[] = {
    [OBSERVED] = {"deadheat/data-race", "error", "Two accesses raced",
                  "Two threads accessed the same memory, one of them writing, and nothing ordered the two.",
                  mend},
    [FREED] = {"deadheat/use-after-free-race", "error", "Memory was used and freed without order",
               "A thread used memory that another one freed, and nothing ordered the two.", mend_free},
    [PREDICTED] = {"deadheat/predicted-race", "warning", "Two accesses race in another schedule",
                   "Another order of the events of an execution lets two accesses meet.", mend},
    [POSSIBLE] =
        {"deadheat/possible-race", "note", "Two accesses may race",
         "Two threads may access the same memory at the same time, one of them writing, and no lock that "
         "both hold orders them.",
         check},
    [AD_HOC] = {"deadheat/ad-hoc-synchronisation", "warning", "A spin loop on a non-atomic flag",
                "A thread waits in a loop for a variable that another thread writes without synchronisation.",
                check},
    [CONFIRMED] = {"deadheat/confirmed-race", "error", "Two accesses met in the field",
                   "A race that was considered possible was seen to happen.", mend},
};

static enum rule rule_of(const struct dh_finding *f)
{
    switch (f->provenance) {
    case DH_FINDING_PREDICTED:
        return PREDICTED;
    case DH_FINDING_POSSIBLE:
        return f->possible.ad_hoc ? AD_HOC : POSSIBLE;
    case DH_FINDING_CONFIRMED:
        return CONFIRMED;
    case DH_FINDING_OBSERVED:
        break;
    }
    return dh_finding_is_free(f) ? FREED : OBSERVED;
}

static json_t *message(const char *s)
{
    return json_pack("{so}", "text", dh_json_text(s));
}

/* A path as a URI reference: file:///... if it is absolute. */
static const char *uri(struct dh_print *p, const char *path)
{
    static const char kept[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    path = dh_path_beneath(p->cwd, path);
    char *out = dh_arena_alloc(&p->scratch, strlen(path) * 3 + sizeof("file://")), *at = out;
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

static json_t *region(struct dh_print *p, const struct dh_symbol_frame *f)
{
    struct dh_source_line line;
    bool known = dh_words_source(p, f, f->line, &line);
    return json_pack("{si so* so*}", "startLine", f->line, "startColumn", dh_json_number((u64)f->column),
                     "snippet", known ? message(dh_words_trimmed(p, &line)) : NULL);
}

/* A frame; NULL: somewhere in the input. */
static json_t *location(struct dh_print *p, const struct dh_symbol_frame *f, const char *words)
{
    const char *path = !f ? p->about->input : f->file ? f->file : f->module;
    json_t *physical = NULL, *logical = NULL;
    if (path)
        physical = json_pack("{s{so} so*}", "artifactLocation", "uri", dh_json_text(uri(p, path)), "region",
                             f && f->file && f->line ? region(p, f) : NULL);
    if (f && f->function)
        logical = json_pack("[{so ss}]", "fullyQualifiedName", dh_json_text(f->function), "kind", "function");
    return json_pack("{so* so* so*}", "physicalLocation", physical, "logicalLocations", logical, "message",
                     words ? message(words) : NULL);
}

static json_t *access_location(struct dh_print *p, const struct dh_finding_access *a)
{
    const char *at = a->place ? dh_arena_printf(&p->scratch, " at %s", dh_words_at(p, a)) : "";
    const char *held =
        a->locks_known ? dh_arena_printf(&p->scratch, ", holding %s", dh_finding_held(&p->scratch, a)) : "";
    const char *words = dh_arena_printf(&p->scratch, "%s%s%s, run by %s", dh_finding_did(&p->scratch, a), at,
                                        held, a->run_by);
    return location(p, dh_symbol_top(&a->stack), words);
}

/* ---- One result ---------------------------------------------------------------------------------------- */

static void relate(json_t *list, json_t *location)
{
    json_object_set_new(location, "id", json_integer((json_int_t)json_array_size(list) + 1));
    json_array_append_new(list, location);
}

static json_t *related(struct dh_print *p, const struct dh_finding *f)
{
    const struct dh_finding_location *at = &f->location;
    const struct dh_symbol_frame *allocated = dh_symbol_top(&at->allocated_at);
    const struct dh_symbol_frame declared = {.file = at->variable.file, .line = at->variable.line};
    json_t *list = json_array();
    if (f->accesses[1].known)
        relate(list, access_location(p, &f->accesses[1]));
    if (allocated && (allocated->file || allocated->module))
        relate(list, location(p, allocated, "the memory is allocated here"));
    else if (declared.file)
        relate(list, location(p, &declared, "the variable is declared here"));
    for (const struct dh_finding *v = f->variants; v; v = v->next)
        for (int i = 0; i < 2; i++)
            if (v->accesses[i].known)
                relate(list, access_location(p, &v->accesses[i]));
    return list;
}

static json_t *thread_flow(struct dh_print *p, const struct dh_finding_access *a)
{
    json_t *steps = json_array();
    for (size_t i = dh_words_visible(&a->stack); i-- > 1;)
        json_array_append_new(steps, json_pack("{so}", "location", location(p, &a->stack.frames[i], NULL)));
    json_array_append_new(steps, json_pack("{so}", "location", access_location(p, a)));
    return json_pack("{soso}", "message", message(a->run_by), "locations", steps);
}

/* pair: the id of a possible race, or 0. */
static json_t *fingerprints(struct dh_print *p, const char *hash, u64 pair)
{
    /* The third character is the version of the fingerprint: dh2-... */
    const char *key = dh_arena_printf(&p->scratch, "deadheat/v%c", hash[2]);
    /* The name that GitHub goes by, and the form it has there: a hash, and which of several it is. Without
     * it, an alert would be known by its line, and be another one when the code above it changes. */
    return json_pack("{ss so so*}", key, hash, "primaryLocationLineHash", json_sprintf("%s:1", hash),
                     "deadheatPair/v1", pair ? json_sprintf("%016" PRIx64, pair) : NULL);
}

/* One for each thread about which more than the access is known. */
static json_t *code_flows(struct dh_print *p, const struct dh_finding *f)
{
    if (f->accesses[0].stack.n <= 1 && f->accesses[1].stack.n <= 1)
        return NULL;
    return json_pack("[{s[oo]}]", "threadFlows", thread_flow(p, &f->accesses[0]),
                     thread_flow(p, &f->accesses[1]));
}

static void sarif_finding(struct dh_print *p, const struct dh_finding *f)
{
    static const char *const states[] = {
        [DH_FINDING_UNCOMPARED] = NULL, [DH_FINDING_NEW] = "new", [DH_FINDING_KNOWN] = "unchanged"};
    enum rule rule = rule_of(f);
    fputs(p->n ? ",\n" : "\n", p->out);
    dh_json_write(
        p,
        json_pack(
            "{ss si ss ss* so s[o] so so* so s{so* so* so* so*}}", "ruleId", rules[rule].id, "ruleIndex",
            (int)rule, "level", dh_words_level(f), "baselineState", states[f->baseline], "message",
            message(dh_words_sentence(p, f)), "locations", access_location(p, &f->accesses[0]),
            "relatedLocations", related(p, f), "codeFlows", code_flows(p, f), "partialFingerprints",
            fingerprints(p, f->fingerprint.hash, f->provenance == DH_FINDING_POSSIBLE ? f->possible.id : 0),
            "properties", "detector", dh_json_text(f->detector), "guarantee", dh_json_text(f->guarantee),
            "count", dh_json_number(f->count), "test", f->test && f->test[0] ? dh_json_text(f->test) : NULL));
}

/* ---- The document -------------------------------------------------------------------------------------- */

static json_t *driver(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < DH_ARRAY_LEN(rules); i++)
        json_array_append_new(list, json_pack("{ss s{ss} s{ss} s{ss} s{ss}}", "id", rules[i].id,
                                              "shortDescription", "text", rules[i].title, "fullDescription",
                                              "text", rules[i].sentence, "help", "text", rules[i].help,
                                              "defaultConfiguration", "level", rules[i].level));
    return json_pack("{ss ss ss ss so}", "name", "deadheat", "version", DH_VERSION, "semanticVersion",
                     DH_VERSION, "informationUri", DH_HOMEPAGE, "rules", list);
}

static void sarif_begin(struct dh_print *p)
{
    const struct dh_print_about *about = p->about;
    const struct dh_print_static *s = about->pairs;
    fprintf(p->out, "{\"$schema\":\"%s\",\"version\":\"2.1.0\",\"runs\":[{\"tool\":", schema);
    dh_json_write(p, json_pack("{so}", "driver", driver()));
    fputs(",\"columnKind\":\"utf16CodeUnits\",\"properties\":", p->out);
    dh_json_write(p,
                  json_pack("{ss so ss* ss* so* so*}", "command", about->command, "input",
                            dh_json_text(about->input), "of", s ? s->of : NULL, "style", s ? s->style : NULL,
                            "noThreads", s ? json_boolean(s->table->no_threads) : NULL, "program",
                            s ? dh_json_text(s->table->program) : NULL));
    const char *gap = dh_words_gap(about);
    fputs(",\"invocations\":", p->out);
    dh_json_write(p, gap ? json_pack("[{sb s[{ss so}]}]", "executionSuccessful", 0,
                                     "toolExecutionNotifications", "level", "error", "message", message(gap))
                         : json_pack("[{sb}]", "executionSuccessful", 1));
    fputs(",\"results\":[", p->out);
}

/* Entries of the baseline that were not seen: only their identity is known. */
static void absent(struct dh_print *p, const struct dh_baseline_entry *e)
{
    const char *words = dh_arena_printf(&p->scratch, "Not seen any more: %s", dh_words_identity(p, e));
    dh_json_write(p, json_pack("{ss si ss so s[o] so}", "ruleId", rules[OBSERVED].id, "ruleIndex", OBSERVED,
                               "baselineState", "absent", "message", message(words), "locations",
                               location(p, NULL, NULL), "partialFingerprints", fingerprints(p, e->hash, 0)));
}

static void sarif_end(struct dh_print *p)
{
    const struct dh_baseline_entry *const *unseen;
    size_t n = p->about->baseline ? dh_baseline_unseen(p->about->baseline, &unseen) : 0;
    for (size_t i = 0; i < n; i++) {
        fputs(p->n + i ? ",\n" : "\n", p->out);
        absent(p, unseen[i]);
    }
    fputs("]}]}\n", p->out);
}

const struct dh_print_ops dh_print_as_sarif = {
    .begin = sarif_begin, .finding = sarif_finding, .end = sarif_end};
