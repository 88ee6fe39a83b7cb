/*
 * stacks.c - see stacks.h.
 */
#include "hive/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OFFSET ((json_int_t)1 << 47)
enum { MOST_NAME = 4096 };

bool dh_hive_stacks_read(const json_t *list, struct dh_hive_stacks *ret)
{
    struct dh_hive_stacks x = *ret;
    if (json_array_size(list) != 2)
        return false;
    for (size_t side = 0; side < 2; side++) {
        const json_t *stack = json_array_get(list, side), *frame;
        size_t i;
        x.n[side] = (u32)json_array_size(stack);
        if (!json_is_array(stack) || json_array_size(stack) > DH_HIVE_FRAMES)
            return false;
        json_array_foreach(stack, i, frame)
        {
            json_int_t offset = json_integer_value(frame);
            if (!json_is_integer(frame) || offset < 0 || offset >= MOST_OFFSET)
                return false;
            x.frames[side][i] = (u64)offset;
        }
    }
    *ret = x;
    return true;
}

/* ---- Names ---- */

struct function {
    u64 offset, size;
    const char *name;
};

struct line {
    u64 offset;
    u32 file, number;
};

struct dh_hive_symbols {
    struct dh_arena arena;
    char *bytes;
    size_t len;
    struct function *functions;
    const char **files;
    struct line *lines;
    size_t n_functions, n_files, n_lines;
};

static bool number_at(const json_t *list, size_t i, json_int_t most, u64 *ret)
{
    const json_t *n = json_array_get(list, i);
    *ret = (u64)json_integer_value(n);
    return json_is_integer(n) && json_integer_value(n) >= 0 && json_integer_value(n) <= most;
}

static const char *text_at(struct dh_arena *arena, const json_t *list, size_t i)
{
    const char *text = json_string_value(json_array_get(list, i));
    return text && strlen(text) <= MOST_NAME ? dh_arena_strdup(arena, text) : NULL;
}

static const char *read_functions(struct dh_hive_symbols *s, const json_t *list)
{
    s->functions = dh_arena_array(&s->arena, json_array_size(list), sizeof(*s->functions));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        struct function *f = &s->functions[i];
        if (!number_at(item, 0, MOST_OFFSET, &f->offset) || !number_at(item, 1, MOST_OFFSET, &f->size) ||
            !(f->name = text_at(&s->arena, item, 2)))
            return "a function has an offset, a length and a name of up to 4096 bytes";
        if (i && f->offset < f[-1].offset)
            return "functions are sorted by their offsets";
        s->n_functions++;
    }
    return NULL;
}

static const char *read_lines(struct dh_hive_symbols *s, const json_t *files, const json_t *lines)
{
    s->files = dh_arena_array(&s->arena, json_array_size(files), sizeof(*s->files));
    for (; s->n_files < json_array_size(files); s->n_files++)
        if (!(s->files[s->n_files] = text_at(&s->arena, files, s->n_files)))
            return "a file is a name of up to 4096 bytes";
    s->lines = dh_arena_array(&s->arena, json_array_size(lines), sizeof(*s->lines));
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *item = json_array_get(lines, i);
        struct line *l = &s->lines[i];
        u64 file, number;
        if (!number_at(item, 0, MOST_OFFSET, &l->offset) || !number_at(item, 1, UINT32_MAX, &file) ||
            !number_at(item, 2, INT32_MAX, &number) || file >= s->n_files)
            return "a line has an offset, the index of a file, and a number";
        if (i && l->offset < l[-1].offset)
            return "lines are sorted by their offsets";
        l->file = (u32)file;
        l->number = (u32)number;
        s->n_lines++;
    }
    return NULL;
}

int dh_hive_symbols_read(const void *bytes, size_t len, struct dh_hive_symbols **ret, const char **ret_why)
{
    struct dh_hive_symbols *s = dh_util_alloc(sizeof(*s));
    json_t *document =
        len && len <= DH_HIVE_SYMBOLS_MOST ? json_loadb(bytes, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const json_t *functions = json_object_get(document, "functions");
    const char *why = json_is_array(functions) ? read_functions(s, functions)
                                               : "symbols are a JSON object with a list 'functions'";
    if (!why)
        why = read_lines(s, json_object_get(document, "files"), json_object_get(document, "lines"));
    json_decref(document);
    if (why) {
        dh_hive_symbols_free(s);
        *ret_why = why;
        return -EBADMSG;
    }
    s->bytes = dh_arena_dup(&s->arena, bytes, len);
    s->len = len;
    *ret = s;
    return 0;
}

void dh_hive_symbols_free(struct dh_hive_symbols *s)
{
    if (!s)
        return;
    dh_arena_done(&s->arena);
    free(s);
}

const char *dh_hive_symbols_bytes(const struct dh_hive_symbols *s, size_t *ret_len)
{
    *ret_len = s ? s->len : 0;
    return s ? s->bytes : NULL;
}

/* How many of n sorted items, which begin with their offset, are at or before this one. */
static size_t up_to(const void *items, size_t n, size_t size, u64 offset)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        u64 at;
        memcpy(&at, (const char *)items + middle * size, sizeof(at));
        if (at <= offset)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

struct dh_hive_frame dh_hive_symbols_find(const struct dh_hive_symbols *s, u64 offset, bool is_return)
{
    struct dh_hive_frame f = {0};
    if (!s || !offset)
        return f;
    offset -= is_return;
    size_t i = up_to(s->functions, s->n_functions, sizeof(*s->functions), offset);
    if (i && offset - s->functions[i - 1].offset < s->functions[i - 1].size)
        f.function = s->functions[i - 1].name;
    i = up_to(s->lines, s->n_lines, sizeof(*s->lines), offset);
    if (i && s->lines[i - 1].number && f.function) {
        f.file = s->files[s->lines[i - 1].file];
        f.line = s->lines[i - 1].number;
    }
    return f;
}
