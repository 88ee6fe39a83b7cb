/*
 * hive_source.c - `deadheat hive add --source`: the lines of source around the sites of a build, and no
 * others, as hive/source.h has them. Files are where the compiler found them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd.h"
#include "cli/hive.h"
#include "report/source.h"
#include "util/path.h"
#include "util/text.h"

/* A line as UTF-8 that is not too long. */
static json_t *text_of(struct dh_arena *arena, const struct dh_source_line *line)
{
    char *text = dh_text_utf8(arena, line->text, line->len);
    size_t n = strlen(text); /* a zero in it ends it */
    if (n > DH_HIVE_SOURCE_WIDTH) {
        n = DH_HIVE_SOURCE_WIDTH;
        while (n && ((u8)text[n] & 0xc0) == 0x80) /* not within a character */
            n--;
    }
    return json_stringn(text, n);
}

/* JSON has no other names. */
static bool is_utf8(const char *path)
{
    json_t *name = json_string(path);
    json_decref(name);
    return name != NULL;
}

struct upload {
    struct dh_arena arena;
    struct dh_source files;
    json_t *parts, *lines;                  /* lines: of the part that is being written */
    const struct dh_hive_source_line *last; /* the line before, if it was there */
};

static void add_line(struct upload *u, const struct dh_hive_source_line *at,
                     const struct dh_source_line *line)
{
    if (!u->last || u->last->file != at->file || u->last->dir != at->dir ||
        u->last->number + 1 != at->number) {
        json_t *part = json_object();
        u->lines = json_array();
        json_object_set_new(part, "dir", json_string(at->dir));
        json_object_set_new(part, "file", json_string(at->file));
        json_object_set_new(part, "from", json_integer(at->number));
        json_object_set_new(part, "lines", u->lines);
        json_array_append_new(u->parts, part);
    }
    json_array_append_new(u->lines, text_of(&u->arena, line));
    u->last = at;
}

/* Lines have other numbers then. */
static bool is_newer(const char *path, const char *program)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(program, &b) == 0 &&
           (a.st_mtim.tv_sec > b.st_mtim.tv_sec ||
            (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec > b.st_mtim.tv_nsec));
}

char *dh_cli_hive_source(struct dh_cli_hive *c, const char *program, const struct dh_pairs *table,
                         struct dh_cli_source_count *ret)
{
    struct upload u = {.parts = json_array()};
    size_t n;
    struct dh_hive_source_line *wanted = dh_hive_source_wanted(table, &n);
    *ret = (struct dh_cli_source_count){0};
    dh_source_init(&u.files, &u.arena);
    for (size_t i = 0, end; i < n; i = end) { /* file by file */
        size_t before = ret->lines;
        const char *path = dh_path_join(&u.arena, wanted[i].dir[0] ? wanted[i].dir : NULL, wanted[i].file);
        for (end = i; end < n && wanted[end].file == wanted[i].file && wanted[end].dir == wanted[i].dir;
             end++) {
            struct dh_source_line line;
            if (!is_utf8(path) || !dh_source_line(&u.files, path, (int)wanted[end].number, &line))
                continue;
            add_line(&u, &wanted[end], &line);
            ret->lines++;
        }
        ret->files += ret->lines > before;
        if (ret->lines == before)
            dh_cli_warn(c->command, "cannot read '%s': its lines are left out", path);
        else if (is_newer(path, program))
            dh_cli_warn(c->command,
                        "'%s' is newer than '%s': its lines may be others than those that were built", path,
                        program);
    }
    json_t *document = json_pack("{s:o}", "source", u.parts);
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    if (!text)
        dh_util_no_memory();
    json_decref(document);
    free(wanted);
    dh_source_done(&u.files);
    dh_arena_done(&u.arena);
    return text;
}
