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
#include "util/output.h"

enum { MAX_MEGABYTES = 64, DOCUMENT_VERSION = 2 };

struct dh_baseline {
    struct dh_arena arena;
    struct dh_map known; /* fingerprint -> struct dh_baseline_entry; several may map to the same one */
    struct dh_baseline_entry **entries;
    size_t n, cap;
    const char *path;   /* to be written at the end; NULL: not written */
    struct dh_map seen; /* for that: fingerprint -> struct dh_baseline_entry, of findings */
    const struct dh_baseline_entry **unseen;
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

/* Adds an entry, unless there is one with this fingerprint; NULL: it is not a fingerprint. */
static struct dh_baseline_entry *add(struct dh_baseline *b, const char *text, size_t len,
                                     const char *identity)
{
    if (!dh_fingerprint_is_valid(text, len))
        return NULL;
    struct dh_baseline_entry *entry = dh_map_get(&b->known, text, len);
    if (entry)
        return entry;
    entry = dh_arena_alloc(&b->arena, sizeof(*entry));
    *entry = (struct dh_baseline_entry){.identity = identity ? dh_arena_strdup(&b->arena, identity) : NULL};
    memcpy(entry->hash, text, len);
    dh_map_put(&b->known, text, len, entry);
    if (b->n == b->cap) {
        b->cap = b->cap ? 2 * b->cap : 64;
        b->entries = dh_util_realloc(b->entries, b->cap * sizeof(*b->entries));
    }
    b->entries[b->n++] = entry;
    return entry;
}

/* Another fingerprint for an entry. */
static bool add_earlier(struct dh_baseline *b, struct dh_baseline_entry *entry, const char *text, size_t len)
{
    if (!dh_fingerprint_is_valid(text, len))
        return false;
    if (!dh_map_get(&b->known, text, len))
        dh_map_put(&b->known, text, len, entry);
    return true;
}

/* ---- A document ---------------------------------------------------------------------------------------- */

/* Findings, or the variants of one, which have no variants themselves. An empty object ends a list that
 * write_entries wrote. */
static bool add_findings(struct dh_baseline *b, const json_t *list, bool variants)
{
    size_t i, k;
    const json_t *finding, *earlier;
    json_array_foreach(list, i, finding)
    {
        if (json_is_object(finding) && json_object_size(finding) == 0)
            continue;
        const json_t *hash = json_object_get(finding, "fingerprint");
        struct dh_baseline_entry *entry = json_is_string(hash)
                                              ? add(b, json_string_value(hash), json_string_length(hash),
                                                    json_string_value(json_object_get(finding, "identity")))
                                              : NULL;
        if (!entry)
            return false;
        json_array_foreach(json_object_get(finding, "earlier_fingerprints"), k, earlier)
        {
            if (!json_is_string(earlier) ||
                !add_earlier(b, entry, json_string_value(earlier), json_string_length(earlier)))
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
    if (record.type != DH_RECORD_RACE && record.type != DH_RECORD_FINDING)
        return 0;
    const struct dh_finding *f = record.type == DH_RECORD_RACE
                                     ? dh_finding_of_record(&r->arena, r->symbols, record.race, true)
                                     : record.finding;
    const struct dh_fingerprint *print = &f->fingerprint;
    struct dh_baseline_entry *entry = add(b, print->hash, strlen(print->hash), print->identity);
    add_earlier(b, entry, print->old_hash, strlen(print->old_hash));
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
    if (line == end || add(b, line, (size_t)(end - line), NULL))
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

/* A document is one object, records are one per line; only the first line is examined to distinguish them.
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

int dh_baseline_load(const char *path, bool update, dh_symbol_warn *warn, void *ctx, struct dh_baseline **ret,
                     struct dh_baseline_error *ret_err)
{
    char *text = NULL;
    size_t len;
    int rc = dh_lines_load(path, (size_t)MAX_MEGABYTES << 20, &text, &len);
    bool absent = update && rc == -ENOENT;
    if (rc == -EFBIG)
        snprintf(ret_err->text, sizeof(ret_err->text), "it has more than %d MB", MAX_MEGABYTES);
    else if (rc)
        snprintf(ret_err->text, sizeof(ret_err->text), "%s", strerror(-rc));
    if (rc && !absent)
        return rc;
    struct dh_baseline *b = dh_util_alloc(sizeof(*b));
    *b = (struct dh_baseline){0};
    dh_map_init(&b->known, &b->arena);
    dh_map_init(&b->seen, &b->arena);
    b->path = update ? dh_arena_strdup(&b->arena, path) : NULL;
    rc = absent ? 0 : read_text(b, text, len, warn, ctx, ret_err);
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
    dh_map_done(&b->seen);
    free(b->entries);
    free(b->unseen);
    dh_arena_done(&b->arena);
    free(b);
}

/* ---- Findings ------------------------------------------------------------------------------------------ */

/* The current fingerprint decides: one of an earlier version may also be that of another race. */
static struct dh_baseline_entry *find(const struct dh_baseline *b, const struct dh_fingerprint *f)
{
    struct dh_baseline_entry *entry = dh_map_get(&b->known, f->hash, strlen(f->hash));
    return entry ? entry : dh_map_get(&b->known, f->old_hash, strlen(f->old_hash));
}

static void remember(struct dh_baseline *b, const struct dh_fingerprint *f)
{
    if (!b->path || dh_map_get(&b->seen, f->hash, strlen(f->hash)))
        return;
    struct dh_baseline_entry *entry = dh_arena_alloc(&b->arena, sizeof(*entry));
    *entry = (struct dh_baseline_entry){.identity = dh_arena_strdup(&b->arena, f->identity), .seen = true};
    memcpy(entry->hash, f->hash, sizeof(entry->hash));
    dh_map_put(&b->seen, f->hash, strlen(f->hash), entry);
}

void dh_baseline_judge(struct dh_baseline *b, struct dh_finding *f)
{
    if (!b)
        return;
    struct dh_baseline_entry *entry = find(b, &f->fingerprint);
    bool known = entry != NULL;
    if (entry)
        entry->seen = true;
    remember(b, &f->fingerprint);
    for (struct dh_finding *v = f->variants; v; v = v->next) {
        dh_baseline_judge(b, v);
        known &= v->baseline == DH_FINDING_KNOWN;
    }
    f->baseline = known ? DH_FINDING_KNOWN : DH_FINDING_NEW;
}

static int compare(const void *left, const void *right)
{
    const struct dh_baseline_entry *const *a = left, *const *b = right;
    return strcmp((*a)->hash, (*b)->hash);
}

size_t dh_baseline_unseen(struct dh_baseline *b, const struct dh_baseline_entry *const **ret)
{
    size_t n = 0;
    b->unseen = dh_util_realloc(b->unseen, (b->n + 1) * sizeof(*b->unseen));
    for (size_t i = 0; i < b->n; i++)
        if (!b->entries[i]->seen)
            b->unseen[n++] = b->entries[i];
    qsort(b->unseen, n, sizeof(*b->unseen), compare);
    *ret = b->unseen;
    return n;
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

bool dh_baseline_is_updated(const struct dh_baseline *b)
{
    return b && b->path;
}

/* One line for each, all in the same form. If the last one had no comma, it would change whenever something
 * is added after it, and additions by two branches at the same place would not be valid JSON when git keeps
 * both (merge=union). So the list ends with an empty object. */
static void write_entries(FILE *out, const struct dh_baseline_entry **entries, size_t n)
{
    fprintf(out, "{\"version\":%d,\n\"findings\":[\n", DOCUMENT_VERSION);
    for (size_t i = 0; i < n; i++) {
        json_t *object =
            json_pack("{ss ss*}", "fingerprint", entries[i]->hash, "identity", entries[i]->identity);
        if (!object) /* the identity is not UTF-8 */
            object = json_pack("{ss}", "fingerprint", entries[i]->hash);
        json_dumpf(object, out, JSON_COMPACT | JSON_ENSURE_ASCII);
        json_decref(object);
        fputs(",\n", out);
    }
    fputs("{}]}\n", out);
}

int dh_baseline_write(struct dh_baseline *b, bool keep, struct dh_baseline_change *ret, const char **ret_why)
{
    const struct dh_baseline_entry *const *unseen;
    size_t n = 0, n_unseen = dh_baseline_unseen(b, &unseen), at = 0, len;
    const struct dh_baseline_entry **all = dh_util_alloc((b->seen.n + n_unseen + 1) * sizeof(*all));
    struct dh_output out = {0};
    const void *key;
    for (void *value; dh_map_next(&b->seen, &at, &key, &len, &value);)
        all[n++] = value;
    *ret = (struct dh_baseline_change){.kept = b->n - n_unseen, .removed = keep ? 0 : n_unseen};
    ret->added = n > ret->kept ? n - ret->kept : 0;
    for (size_t i = 0; keep && i < n_unseen; i++, ret->kept++)
        all[n++] = unseen[i];
    qsort(all, n, sizeof(*all), compare);
    int rc = dh_output_replace(&out, &b->arena, b->path);
    if (!rc) {
        write_entries(out.stream, all, n);
        rc = dh_output_commit(&out);
    }
    *ret_why = out.why;
    free(all);
    return rc;
}
