/*
 * baseline.c - reading a baseline, and comparing findings with it. See baseline.h.
 */
#include "report/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/record.h"
#include "util/lines.h"

enum { MAX_MEGABYTES = 64, DOCUMENT_VERSION = 2 };

struct dh_baseline {
    struct dh_arena arena;
    struct dh_map known; /* fingerprints */
};

__attribute__((format(printf, 2, 3))) static int invalid(struct dh_baseline_error *ret, const char *format,
                                                         ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ret->text, sizeof(ret->text), format, args);
    va_end(args);
    return -EINVAL;
}

static bool add(struct dh_baseline *b, const char *text, size_t len)
{
    if (!dh_fingerprint_is_valid(text, len))
        return false;
    dh_map_put(&b->known, text, len, b);
    return true;
}

static bool add_json(struct dh_baseline *b, const json_t *value)
{
    return json_is_string(value) && add(b, json_string_value(value), json_string_length(value));
}

/* ---- A document ---------------------------------------------------------------------------------------- */

/* Findings, or the variants of one: these have none of their own. */
static bool add_findings(struct dh_baseline *b, const json_t *list, bool variants)
{
    size_t i, k;
    const json_t *finding, *earlier;
    json_array_foreach(list, i, finding)
    {
        if (!add_json(b, json_object_get(finding, "fingerprint")))
            return false;
        json_array_foreach(json_object_get(finding, "earlier_fingerprints"), k, earlier)
        {
            if (!add_json(b, earlier))
                return false;
        }
        if (!variants && !add_findings(b, json_object_get(finding, "variants"), true))
            return false;
    }
    return true;
}

static int read_document(struct dh_baseline *b, const json_t *document, struct dh_baseline_error *ret_err)
{
    if (json_integer_value(json_object_get(document, "version")) != DOCUMENT_VERSION)
        return invalid(ret_err, "it is a findings document of another version than %d", DOCUMENT_VERSION);
    if (!json_is_array(json_object_get(document, "findings")) ||
        !add_findings(b, json_object_get(document, "findings"), false))
        return invalid(ret_err, "it is a findings document, but not all of its findings have fingerprints");
    return 0;
}

/* ---- Lines --------------------------------------------------------------------------------------------- */

/* What the records of a file refer to. */
struct records {
    struct dh_arena arena;
    struct dh_model model;
    struct dh_symbol *symbols;
};

static int read_record(struct dh_baseline *b, struct records *r, const char *line, size_t len, u64 number,
                       struct dh_baseline_error *ret_err)
{
    struct dh_record record;
    struct dh_record_error err;
    if (dh_record_read(&r->model, line, len, &record, &err) != 0)
        return invalid(ret_err, "line %" PRIu64 " is no race record: %.150s", number, err.text);
    if (record.type != DH_RECORD_RACE)
        return 0;
    const struct dh_finding *f = dh_finding_of_record(&r->arena, r->symbols, record.race, true);
    add(b, f->fingerprint.hash, strlen(f->fingerprint.hash));
    add(b, f->fingerprint.old_hash, strlen(f->fingerprint.old_hash));
    return 0;
}

static int read_listed(struct dh_baseline *b, const char *line, size_t len, u64 number,
                       struct dh_baseline_error *ret_err)
{
    static const char blanks[] = {' ', '\t', '\r'};
    const char *comment = memchr(line, '#', len), *end = comment ? comment : line + len;
    while (line < end && memchr(blanks, *line, sizeof(blanks)))
        line++;
    while (line < end && memchr(blanks, end[-1], sizeof(blanks)))
        end--;
    if (line == end || add(b, line, (size_t)(end - line)))
        return 0;
    return invalid(ret_err, "line %" PRIu64 " is no fingerprint, which is dh2- and 12 hex digits", number);
}

/* records: NULL for a list. */
static int read_lines(struct dh_baseline *b, struct records *records, const char *text, size_t len,
                      struct dh_baseline_error *ret_err)
{
    const char *end = text + len;
    int rc = 0;
    for (u64 number = 1; text < end && !rc; number++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        size_t n = (size_t)(stop - text);
        rc = records ? read_record(b, records, text, n, number, ret_err)
                     : read_listed(b, text, n, number, ret_err);
        text = newline ? newline + 1 : end;
    }
    return rc;
}

static int read_records(struct dh_baseline *b, const char *text, size_t len, dh_symbol_warn *warn, void *ctx,
                        struct dh_baseline_error *ret_err)
{
    struct records r = {0};
    dh_model_init(&r.model, &r.arena);
    r.symbols = dh_symbol_new(&r.arena, warn, ctx);
    int rc = read_lines(b, &r, text, len, ret_err);
    dh_symbol_free(r.symbols);
    dh_model_done(&r.model);
    dh_arena_done(&r.arena);
    return rc;
}

/* ---- The file ------------------------------------------------------------------------------------------ */

/* A document is one object, records are one a line: of these only the first is looked at to tell them apart.
 */
static int read_text(struct dh_baseline *b, const char *text, size_t len, dh_symbol_warn *warn, void *ctx,
                     struct dh_baseline_error *ret_err)
{
    if (text[strspn(text, " \t\r\n")] != '{')
        return read_lines(b, NULL, text, len, ret_err);
    json_t *document = json_loadb(text, len, 0, NULL);
    int rc = json_object_get(document, "findings") ? read_document(b, document, ret_err)
                                                   : read_records(b, text, len, warn, ctx, ret_err);
    json_decref(document);
    return rc;
}

int dh_baseline_load(const char *path, dh_symbol_warn *warn, void *ctx, struct dh_baseline **ret,
                     struct dh_baseline_error *ret_err)
{
    char *text;
    size_t len;
    int rc = dh_lines_load(path, (size_t)MAX_MEGABYTES << 20, &text, &len);
    if (rc == -EFBIG)
        snprintf(ret_err->text, sizeof(ret_err->text), "it has more than %d MB", MAX_MEGABYTES);
    else if (rc)
        snprintf(ret_err->text, sizeof(ret_err->text), "%s", strerror(-rc));
    if (rc)
        return rc;
    struct dh_baseline *b = dh_util_alloc(sizeof(*b));
    *b = (struct dh_baseline){0};
    dh_map_init(&b->known, &b->arena);
    rc = read_text(b, text, len, warn, ctx, ret_err);
    free(text);
    if (rc)
        dh_baseline_free(b);
    else
        *ret = b;
    return rc;
}

void dh_baseline_free(struct dh_baseline *b)
{
    if (!b)
        return;
    dh_map_done(&b->known);
    dh_arena_done(&b->arena);
    free(b);
}

/* ---- Findings ------------------------------------------------------------------------------------------ */

static bool holds(const struct dh_baseline *b, const char *hash)
{
    return dh_map_get(&b->known, hash, strlen(hash)) != NULL;
}

void dh_baseline_judge(const struct dh_baseline *b, struct dh_finding *f)
{
    if (!b)
        return;
    bool known = holds(b, f->fingerprint.hash) || holds(b, f->fingerprint.old_hash);
    for (struct dh_finding *v = f->variants; v; v = v->next) {
        dh_baseline_judge(b, v);
        known &= v->baseline == DH_FINDING_KNOWN;
    }
    f->baseline = known ? DH_FINDING_KNOWN : DH_FINDING_NEW;
}
