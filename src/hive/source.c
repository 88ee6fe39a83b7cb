/*
 * source.c - see source.h. What a table wants is computed in one place, and an upload must be a subset of
 * that: there is no second rule about what may be stored.
 */
#include "hive/source.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b)
{
    const struct dh_hive_source_line *x = a, *y = b;
    int order = strcmp(x->dir, y->dir);
    if (!order)
        order = strcmp(x->file, y->file);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static struct dh_hive_source_line *find(const struct dh_hive_source_line *lines, size_t n, const char *dir,
                                        const char *file, u32 number)
{
    const struct dh_hive_source_line key = {dir, file, number, NULL};
    return n ? bsearch(&key, lines, n, sizeof(key), by_place) : NULL;
}

/* ---- What is wanted ---- */

struct wanted {
    struct dh_hive_source_line *lines;
    size_t n, cap;
    bool strict;
};

static void want_around(struct wanted *w, const struct dh_pairs_place *at)
{
    if (!at->file[0] || !at->line || at->line > INT32_MAX)
        return;
    u32 first = at->line > DH_HIVE_SOURCE_AROUND ? at->line - DH_HIVE_SOURCE_AROUND : 1;
    for (u32 i = first; i <= at->line + DH_HIVE_SOURCE_AROUND; i++) {
        w->lines = dh_util_grow(w->lines, w->n, &w->cap, sizeof(*w->lines));
        w->lines[w->n++] = (struct dh_hive_source_line){at->dir, at->file, i, NULL};
    }
}

struct dh_hive_source_line *dh_hive_source_wanted(const struct dh_pairs *table, u32 set, size_t *ret_n)
{
    struct wanted w = {0};
    u8 *used = dh_util_alloc(table->n_sites + 1); /* by pairs that a hive takes from the table */
    for (size_t i = 0; i < table->n_pairs; i++) {
        const struct dh_pairs_pair *p = &table->pairs[i];
        for (int side = 0; p->flags & set && side < 2; side++) {
            size_t n;
            const u32 *more = dh_pairs_items(table, p->alike[side], &n);
            used[p->side[side].site] = 1;
            for (size_t k = 0; k < n; k++)
                used[more[k]] = 1;
        }
    }
    for (size_t i = 0; i < table->n_sites; i++)
        if (used[i])
            want_around(&w, &table->sites[i].at);
    free(used);
    size_t n = 0;
    if (w.n)
        qsort(w.lines, w.n, sizeof(*w.lines), by_place);
    for (size_t i = 0; i < w.n; i++)
        if (!n || by_place(&w.lines[n - 1], &w.lines[i]) != 0)
            w.lines[n++] = w.lines[i];
    *ret_n = n;
    return w.lines;
}

/* ---- What is uploaded ---- */

/* NULL: it cannot be written as JSON, because a name is not UTF-8. */
static json_t *begin_part(const struct dh_hive_source_line *at)
{
    return json_pack("{s:s, s:s, s:I, s:[]}", "dir", at->dir, "file", at->file, "from",
                     (json_int_t)at->number, "lines");
}

char *dh_hive_source_document(const struct dh_hive_source_line *lines, size_t n)
{
    json_t *parts = json_array(), *part = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!lines[i].text) {
            part = NULL;
            continue;
        }
        if (!part || lines[i].dir != lines[i - 1].dir || lines[i].file != lines[i - 1].file ||
            lines[i].number != lines[i - 1].number + 1) {
            part = begin_part(&lines[i]);
            json_array_append_new(parts, part);
        }
        json_array_append_new(json_object_get(part, "lines"), json_string(lines[i].text));
    }
    json_t *document = json_pack("{s:o}", "source", parts);
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    if (!text)
        dh_util_no_memory();
    json_decref(document);
    return text;
}

static const char *read_part(const json_t *part, struct dh_hive_source *s, const struct wanted *w)
{
    const char *dir = json_string_value(json_object_get(part, "dir"));
    const char *file = json_string_value(json_object_get(part, "file"));
    json_int_t from = json_integer_value(json_object_get(part, "from"));
    const json_t *lines = json_object_get(part, "lines"), *line;
    size_t i;
    if (!dir || !file || from < 1 || from > INT32_MAX || !json_is_array(lines))
        return "a part of the source has 'dir', 'file', 'from' and 'lines'";
    json_array_foreach(lines, i, line)
    {
        const char *text = json_string_value(line);
        struct dh_hive_source_line *at =
            i <= INT32_MAX ? find(w->lines, w->n, dir, file, (u32)from + (u32)i) : NULL;
        if (!text || (w->strict && strlen(text) > DH_HIVE_SOURCE_WIDTH))
            return "a line of source is a text of up to 400 bytes";
        if (!at && !w->strict)
            continue;
        if (!at)
            return "a line of source is not near a site of the build's table";
        if (at->text)
            return "a line of source is there twice";
        at->text = dh_arena_strdup(&s->arena, text);
        s->n++;
    }
    return NULL;
}

static const char *read_parts(const json_t *document, struct dh_hive_source *s, const struct wanted *w)
{
    const json_t *parts = json_object_get(document, "source"), *part;
    size_t i;
    if (!json_is_array(parts))
        return "lines of source are a JSON object with a list 'source'";
    json_array_foreach(parts, i, part)
    {
        const char *why = read_part(part, s, w);
        if (why)
            return why;
    }
    return NULL;
}

int dh_hive_source_read(const void *bytes, size_t len, const struct dh_pairs *table, u32 set, bool strict,
                        struct dh_hive_source **ret, const char **ret_why)
{
    struct dh_hive_source *s = dh_util_alloc(sizeof(*s));
    struct wanted w = {.strict = strict};
    size_t n = 0;
    w.lines = dh_hive_source_wanted(table, set, &w.n);
    json_t *document =
        len && len <= DH_HIVE_SOURCE_MOST ? json_loadb(bytes, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *why = read_parts(document, s, &w);
    json_decref(document);
    if (!why) {
        s->lines = dh_arena_array(&s->arena, s->n, sizeof(*s->lines));
        for (size_t i = 0; i < w.n; i++)
            if (w.lines[i].text)
                s->lines[n++] = w.lines[i];
    }
    free(w.lines);
    if (why) {
        dh_hive_source_free(s);
        *ret_why = why;
        return -EBADMSG;
    }
    *ret = s;
    return 0;
}

void dh_hive_source_free(struct dh_hive_source *s)
{
    if (!s)
        return;
    dh_arena_done(&s->arena);
    free(s);
}

bool dh_hive_source_equal(const struct dh_hive_source *a, const struct dh_hive_source *b)
{
    if (!a || !b || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (by_place(&a->lines[i], &b->lines[i]) != 0 || strcmp(a->lines[i].text, b->lines[i].text) != 0)
            return false;
    return true;
}

const char *dh_hive_source_find(const struct dh_hive_source *s, const struct dh_pairs_place *at, u32 number)
{
    const struct dh_hive_source_line *found = s ? find(s->lines, s->n, at->dir, at->file, number) : NULL;
    return found ? found->text : NULL;
}
