/*
 * chase_from.c - pairs proposed by others: race records, findings in JSON from any command, and the table of
 * the static analysis in a field build.
 *
 * Records are converted to findings first, so that there is one input format. Nothing in a file is trusted.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/chase.h"
#include "cli/cmd.h"
#include "cli/static.h"
#include "util/lines.h"
#include "util/path.h"

enum { MAX_MEGABYTES = 512, FINDINGS_VERSION = 2 };

struct dh_chase_candidate *dh_chase_add_candidate(struct dh_chase_request *q, struct dh_chase_candidates *c,
                                                  const struct dh_chase_position at[2])
{
    const char *name = dh_arena_printf(&q->arena, "%s:%s", dh_chase_position_text(&q->arena, &at[0]),
                                       dh_chase_position_text(&q->arena, &at[1]));
    size_t *known = dh_map_get(&c->by_name, name, strlen(name));
    if (known) {
        c->at[*known].repeated++;
        return NULL;
    }
    size_t *index = dh_arena_alloc(&q->arena, sizeof(*index));
    *index = c->n;
    dh_map_put(&c->by_name, name, strlen(name), index);
    c->at = dh_util_grow(c->at, c->n, &c->cap, sizeof(*c->at));
    c->at[c->n] = (struct dh_chase_candidate){.at = {at[0], at[1]}, .name = name};
    return &c->at[c->n++];
}

/* ---- Findings ---- */

/* The line to look at: the innermost that is not in a system header or library, or else the innermost. NULL:
 * not known, for example in a file that was rebuilt. The line of a caller is not that of the access. */
static const json_t *frame_of(const json_t *stack)
{
    const json_t *first = NULL;
    for (size_t i = 0; i < json_array_size(stack); i++) {
        const json_t *frame = json_array_get(stack, i);
        const char *file = json_string_value(json_object_get(frame, "file"));
        const char *module = json_string_value(json_object_get(frame, "module"));
        if (!file || json_integer_value(json_object_get(frame, "line")) <= 0) {
            if (module && !dh_path_is_system(module))
                return NULL;
            continue;
        }
        if (!dh_path_is_system(file))
            return frame;
        first = first ? first : frame;
    }
    return first;
}

static bool position_of(struct dh_arena *arena, const json_t *access, struct dh_chase_position *ret)
{
    static const struct {
        const char *word;
        u8 kinds;
    } kinds[] = {{"read", DH_CONTROL_READ},
                 {"write", DH_CONTROL_WRITE},
                 {"update", DH_CONTROL_READ | DH_CONTROL_WRITE}};
    const json_t *frame = frame_of(json_object_get(access, "stack"));
    const char *kind = json_string_value(json_object_get(access, "kind"));
    const char *file = json_string_value(json_object_get(frame, "file"));
    json_int_t line = json_integer_value(json_object_get(frame, "line"));
    json_int_t column = json_integer_value(json_object_get(frame, "column"));
    for (size_t i = 0; file && kind && line < 10000000 && i < DH_ARRAY_LEN(kinds); i++) {
        if (strcmp(kind, kinds[i].word) != 0)
            continue;
        bool placed = column > 0 && column < 10000000;
        *ret = (struct dh_chase_position){.file = dh_arena_strdup(arena, file),
                                          .line = (int)line,
                                          .column = placed ? (int)column : 0,
                                          .all = !placed,
                                          .kinds = kinds[i].kinds};
        return !strchr(file, ':');
    }
    return false;
}

/* For a pair proposed by the static analysis, what speaks against it: assumptions other than the usual ones,
 * and locks. Among equals, variables take turns: there are often more pairs for one of them than there is
 * time for. */
static u32 rank_of_finding(struct dh_chase_request *q, struct dh_chase_candidates *c, const json_t *finding)
{
    enum { TURNS = 1 << 16 };
    const json_t *flag, *access;
    const char *variable = json_string_value(json_object_get(finding, "summary"));
    const char *provenance = json_string_value(json_object_get(finding, "provenance"));
    bool relay = false, assumed = false;
    u32 against = 0;
    size_t i;
    if (!variable || !provenance || strcmp(provenance, "possible") != 0)
        return 0;
    json_array_foreach(json_object_get(finding, "flags"), i, flag)
    {
        const char *word = json_string_value(flag);
        relay |= word && strcmp(word, "relay") == 0;
        assumed |= word && strncmp(word, "if-", 3) == 0;
    }
    json_array_foreach(json_object_get(finding, "accesses"), i, access) against +=
        json_array_size(json_object_get(access, "locks")) > 0;
    against += (assumed ? 3 : 0) + (relay ? 0 : 6);
    const char *key = dh_arena_printf(&q->arena, "%u %s", against, variable);
    u32 *turn = dh_map_get(&c->turns, key, strlen(key));
    if (!turn) {
        turn = dh_arena_array(&q->arena, 1, sizeof(*turn));
        dh_map_put(&c->turns, key, strlen(key), turn);
    }
    return against * TURNS + (*turn < TURNS - 1 ? (*turn)++ : *turn);
}

static void add_finding(struct dh_chase_request *q, struct dh_chase_candidates *c, const json_t *finding)
{
    const json_t *accesses = json_object_get(finding, "accesses"), *variant;
    const char *order = json_string_value(json_object_get(finding, "order"));
    const char *fingerprint = json_string_value(json_object_get(finding, "fingerprint"));
    struct dh_chase_position at[2];
    size_t i;
    if (!position_of(&q->arena, json_array_get(accesses, 1), &at[0]) ||
        !position_of(&q->arena, json_array_get(accesses, 0), &at[1])) {
        c->left_out++;
    } else {
        struct dh_chase_candidate *new = dh_chase_add_candidate(q, c, at);
        if (new) {
            new->fingerprint = fingerprint ? dh_arena_strdup(&q->arena, fingerprint) : NULL;
            new->reversed = order &&strcmp(order, "reversed") == 0;
            new->rank = rank_of_finding(q, c, finding);
        }
    }
    json_array_foreach(json_object_get(finding, "variants"), i, variant) add_finding(q, c, variant);
}

/* ---- Records ---- */

json_t *dh_chase_findings(const char *text, size_t len)
{
    char *out = NULL;
    size_t n = 0;
    struct dh_reporter_result result;
    FILE *memory = open_memstream(&out, &n), *nothing = fopen("/dev/null", "we");
    if (!memory || !nothing)
        dh_util_no_memory();
    struct dh_reporter_options options = {.out = memory,
                                          .messages = nothing,
                                          .input = "records",
                                          .suppressions = "",
                                          .print = true,
                                          .format = DH_PRINT_JSON,
                                          .all = true};
    struct dh_reporter *reporter = dh_reporter_new(&options);
    for (u64 number = 1; len; number++) {
        const char *end = memchr(text, '\n', len);
        size_t line = end ? (size_t)(end - text) : len;
        dh_reporter_take(reporter, text, line, number);
        line += end != NULL;
        text += line;
        len -= line;
    }
    dh_reporter_finish(reporter, &result);
    fclose(memory);
    fclose(nothing);
    json_t *document = result.bad_lines ? NULL : json_loadb(out, n, 0, NULL);
    free(out);
    return document;
}

const char *dh_chase_fingerprint(struct dh_arena *arena, const char *records, size_t len)
{
    json_t *document = dh_chase_findings(records, len);
    const char *text = json_string_value(
        json_object_get(json_array_get(json_object_get(document, "findings"), 0), "fingerprint"));
    const char *copy = text ? dh_arena_strdup(arena, text) : NULL;
    json_decref(document);
    return copy;
}

/* Are some of the records from this program before it was rebuilt? Nothing is said about other files: the one
 * that is chased was usually compiled differently. */
static bool has_other_build(const struct dh_chase_request *q, const char *text, size_t len)
{
    const char *own = dh_chase_lines_build_id(q->modules[0].file);
    bool other = false;
    while (len && !other && own[0]) {
        const char *end = memchr(text, '\n', len);
        size_t line = end ? (size_t)(end - text) : len;
        json_t *record = memmem(text, line, "\"build_id\"", 10) ? json_loadb(text, line, 0, NULL) : NULL;
        const char *path = json_string_value(json_object_get(record, "path"));
        const char *id = json_string_value(json_object_get(record, "build_id"));
        other = path && id && id[0] && strcmp(path, q->modules[0].path) == 0 && strcmp(id, own) != 0;
        json_decref(record);
        line += end != NULL;
        text += line;
        len -= line;
    }
    return other;
}

/* A document of findings that are one in a line (--format=jsonl). NULL: there is something else. */
static json_t *findings_in_lines(const char *text, size_t len)
{
    json_t *findings = json_array();
    bool good = len > 0;
    while (len && good) {
        const char *end = memchr(text, '\n', len);
        size_t line = end ? (size_t)(end - text) : len;
        json_t *finding = json_loadb(text, line, 0, NULL);
        good = json_is_array(json_object_get(finding, "accesses")) && json_object_get(finding, "fingerprint");
        if (good)
            json_array_append(findings, finding);
        json_decref(finding);
        line += end != NULL;
        text += line;
        len -= line;
    }
    if (good)
        return json_pack("{s:i, s:o}", "version", FINDINGS_VERSION, "findings", findings);
    json_decref(findings);
    return NULL;
}

static const char no_findings[] = "'%s' holds neither race records nor findings in JSON";

/* The document in a file, or made from its records. NULL after a message. */
static json_t *read_findings(const struct dh_chase_request *q, bool *ret_other_build)
{
    const char *path = q->from;
    char *text = NULL;
    size_t len = 0;
    int rc = dh_lines_load_objects(path, (size_t)MAX_MEGABYTES << 20, &text, &len);
    if (rc) {
        if (rc == -EILSEQ)
            dh_cli_fail("chase", no_findings, path);
        else if (rc == -EFBIG)
            dh_cli_fail("chase", "cannot read '%s': it has more than %d MB", path, MAX_MEGABYTES);
        else
            dh_cli_fail("chase", "cannot read '%s': %s", path, strerror(-rc));
        return NULL;
    }
    json_t *document = json_loadb(text, len, 0, NULL);
    if (document && !json_is_array(json_object_get(document, "findings"))) {
        json_decref(document);
        document = NULL;
    }
    document = document ? document : findings_in_lines(text, len);
    document = document ? document : dh_chase_findings(text, len);
    *ret_other_build = has_other_build(q, text, len);
    free(text);
    if (!document) {
        dh_cli_fail("chase", no_findings, path);
    } else if (json_integer_value(json_object_get(document, "version")) != FINDINGS_VERSION) {
        dh_cli_fail("chase", "'%s' holds findings of another version than %d", path, FINDINGS_VERSION);
        json_decref(document);
        document = NULL;
    }
    return document;
}

int dh_chase_from_file(struct dh_chase_request *q, struct dh_chase_candidates *ret)
{
    bool other_build = false;
    json_t *document = read_findings(q, &other_build), *finding;
    size_t i;
    if (!document)
        return DH_EXIT_TROUBLE;
    dh_map_init(&ret->turns, &q->arena);
    json_array_foreach(json_object_get(document, "findings"), i, finding) add_finding(q, ret, finding);
    dh_map_done(&ret->turns);
    json_decref(document);
    if (!ret->n && other_build)
        return dh_cli_fail("chase",
                           "'%s' was built again since the races in '%s' were found, so their lines are not "
                           "known any more; find them again, or chase the program that they were found in",
                           q->modules[0].path, q->from);
    if (!ret->n && !q->may_be_none)
        return dh_cli_fail("chase", "'%s' has no race of which both lines are known", q->from);
    if (other_build)
        dh_cli_warn("chase",
                    "'%s' was built again since some of the races in '%s' were found, so these are left out "
                    "if their lines are not known any more, or may be at other lines now",
                    q->modules[0].path, q->from);
    return 0;
}

/* ---- The table of a field build ---- */

/* Counts what speaks against a pair; the numbers are only for ordering pairs. */
static u32 rank_of(const struct dh_pairs *p, const struct dh_pairs_pair *pair)
{
    static const struct {
        u32 reason, against;
    } reasons[] = {{DH_PAIRS_BY_ONE_UNLOCKED, 5}, {DH_PAIRS_BY_OTHER_LOCKS, 10},
                   {DH_PAIRS_BY_SHARED_MODE, 15}, {DH_PAIRS_BY_MANY_LOCKS, 20},
                   {DH_PAIRS_BY_MAY_ALIAS, 10},   {DH_PAIRS_BY_OUTSIDE, 20},
                   {DH_PAIRS_BY_CAST, 30}};
    size_t n;
    const u32 *variables = dh_pairs_items(p, pair->variables, &n);
    u32 rank = pair->flags & DH_PAIRS_RELAY ? 0 : 100;
    rank += pair->flags & DH_PAIRS_AD_HOC ? 50 : 0;
    rank += n ? 3 * p->variables[variables[0]].storage : 20;
    for (size_t i = 0; i < DH_ARRAY_LEN(reasons); i++)
        rank += pair->reasons & reasons[i].reason ? reasons[i].against : 0;
    return rank;
}

static void add_pairs(struct dh_chase_request *q, struct dh_chase_candidates *c, const struct dh_static *s)
{
    for (size_t g = 0; g < s->n_groups; g++) {
        for (size_t i = 0; i < s->groups[g].n; i++) {
            const struct dh_pairs_pair *pair = &s->pairs->pairs[s->groups[g].pairs[i]];
            struct dh_chase_position at[2];
            struct dh_chase_candidate *new = NULL;
            if (dh_chase_position_of_site(&q->arena, &s->pairs->sites[pair->side[0].site], &at[0]) &&
                dh_chase_position_of_site(&q->arena, &s->pairs->sites[pair->side[1].site], &at[1]))
                new = dh_chase_add_candidate(q, c, at);
            else
                c->left_out++;
            if (new)
                new->rank = rank_of(s->pairs, pair);
            c->left_out += dh_pairs_stands_for(s->pairs, pair) - 1;
        }
    }
}

int dh_chase_load_table(struct dh_chase_request *q, const char *style, struct dh_static *ret)
{
    char *path = (char *)q->modules[0].path;
    struct dh_static_input in = {.files = &path, .n_files = 1};
    *ret = (struct dh_static){
        .style = style, .set = strcmp(style, "sound") == 0 ? DH_PAIRS_SOUND : DH_PAIRS_RELAY, .input = path};
    dh_map_init(&ret->from.names, &ret->arena);
    dh_suppress_init(&ret->rules, &ret->arena);
    int rc = dh_static_load(ret, &in);
    if (rc)
        return rc;
    ret->from.table = ret->pairs;
    ret->from.arena = &ret->arena;
    ret->from.set = ret->set;
    ret->assumed = dh_static_assumed(ret, ret->set);
    return 0;
}

void dh_chase_forget_table(struct dh_static *s)
{
    dh_pairs_free(s->pairs);
    dh_map_done(&s->from.names);
    dh_static_forget(s);
    dh_arena_done(&s->arena);
}

int dh_chase_from_program(struct dh_chase_request *q, struct dh_chase_candidates *ret)
{
    struct dh_static s;
    if (!dh_chase_lines_has_section(q->modules[0].file, DH_PAIRS_SECTION))
        return dh_cli_fail(
            "chase",
            "'%s' holds no table of pairs: build it with 'deadheat cc --dh-mode=field', or give "
            "pairs with --from",
            q->modules[0].path);
    int rc = dh_chase_load_table(q, q->style, &s);
    if (!rc) {
        dh_static_select(&s);
        add_pairs(q, ret, &s);
        if (!ret->n)
            rc = dh_cli_fail("chase", "the static analysis has found no pair in '%s' that can be chased",
                             q->modules[0].path);
    }
    dh_chase_forget_table(&s);
    return rc;
}
