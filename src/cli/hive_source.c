/*
 * hive_source.c - `deadheat hive add --source`: the source lines around the sites of a build, and no others,
 * in the format of hive/source.h. Files are where the compiler found them.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd.h"
#include "cli/hive.h"
#include "report/source.h"
#include "util/path.h"
#include "util/text.h"

/* A line as UTF-8, cut if it is too long. */
static char *text_of(struct dh_arena *arena, const struct dh_source_line *line)
{
    char *text = dh_text_utf8(arena, line->text, line->len);
    size_t n = strlen(text); /* a zero byte ends it */
    if (n > DH_HIVE_SOURCE_WIDTH) {
        n = DH_HIVE_SOURCE_WIDTH;
        while (n && ((u8)text[n] & 0xc0) == 0x80) /* not within a character */
            n--;
        text[n] = 0;
    }
    return text;
}

/* JSON allows no other names. */
static bool is_utf8(const char *path)
{
    json_t *name = json_string(path);
    json_decref(name);
    return name != NULL;
}

/* Line numbers may have changed then. */
static bool is_newer(const char *path, const char *program)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(program, &b) == 0 &&
           (a.st_mtim.tv_sec > b.st_mtim.tv_sec ||
            (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec > b.st_mtim.tv_nsec));
}

static char *source_of(struct dh_cli_hive *c, const char *program, const struct dh_pairs *table, u32 set,
                       struct dh_cli_source_count *ret)
{
    struct dh_arena arena = {0};
    struct dh_source files;
    size_t n;
    struct dh_hive_source_line *wanted = dh_hive_source_wanted(table, set, &n);
    *ret = (struct dh_cli_source_count){0};
    dh_source_init(&files, &arena);
    for (size_t i = 0, end; i < n; i = end) { /* file by file */
        size_t before = ret->lines;
        const char *path = dh_path_join(&arena, wanted[i].dir[0] ? wanted[i].dir : NULL, wanted[i].file);
        for (end = i; end < n && wanted[end].file == wanted[i].file && wanted[end].dir == wanted[i].dir;
             end++) {
            struct dh_source_line line;
            if (!is_utf8(path) || !dh_source_line(&files, path, (int)wanted[end].number, &line))
                continue;
            wanted[end].text = text_of(&arena, &line);
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
    char *text = dh_hive_source_document(wanted, n);
    dh_source_done(&files);
    dh_arena_done(&arena);
    free(wanted);
    return text;
}

char *dh_cli_hive_source(struct dh_cli_hive *c, const char *path, const struct dh_caper_build *build,
                         struct dh_cli_source_count *ret)
{
    struct dh_pairs *table;
    const char *why;
    if (dh_pairs_read(build->bytes, build->n_bytes, &table, &why) != 0) {
        dh_cli_fail(c->command, "'%s': %s", path, why);
        return NULL;
    }
    u32 set = c->style && strcmp(c->style, "sound") == 0 ? DH_PAIRS_SOUND : DH_PAIRS_RELAY;
    char *text = source_of(c, path, table, set, ret);
    dh_pairs_free(table);
    return text;
}

void dh_cli_hive_source_print(const char *program, const struct dh_cli_source_count *n, bool is_new)
{
    printf("%s: %zu line%s of source from %zu file%s%s\n", program, n->lines, n->lines == 1 ? "" : "s",
           n->files, n->files == 1 ? "" : "s", is_new ? "" : ", which are there already");
}
