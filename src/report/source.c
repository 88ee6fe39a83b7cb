/*
 * source.c - see source.h. A file is read once; very large ones are not read at all.
 */
#include "report/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SIZE = 16 << 20 };

struct dh_source_file {
    struct dh_source_line *lines;
    size_t n;
};

void dh_source_init(struct dh_source *s, struct dh_arena *arena)
{
    s->arena = arena;
    dh_map_init(&s->files, arena);
    dh_map_init(&s->given, arena);
}

void dh_source_done(struct dh_source *s)
{
    dh_map_done(&s->files);
    dh_map_done(&s->given);
}

static char *read_all(struct dh_arena *arena, const char *path, size_t *ret_len)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= MAX_SIZE) {
        size_t size = (size_t)st.st_size, have = 0;
        text = dh_arena_alloc(arena, size);
        ssize_t n;
        while (have < size && (n = read(fd, text + have, size - have)) > 0)
            have += (size_t)n;
        *ret_len = have;
    }
    close(fd);
    return text;
}

static struct dh_source_file *load(struct dh_source *s, const char *path)
{
    struct dh_source_file *file = dh_arena_alloc(s->arena, sizeof(*file));
    size_t len = 0, lines = 0;
    const char *text = read_all(s->arena, path, &len);
    dh_map_put(&s->files, path, strlen(path), file);
    if (!text)
        return file;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    file->lines = dh_arena_array(s->arena, lines + 1, sizeof(*file->lines));
    for (const char *at = text, *end = text + len; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        size_t n = (size_t)(stop - at);
        file->lines[file->n++] = (struct dh_source_line){at, n && at[n - 1] == '\r' ? n - 1 : n};
        at = stop + 1;
    }
    return file;
}

enum { KEY_MAX = 8192 };

static size_t key_of(const char *path, int number, char ret[KEY_MAX])
{
    int n = snprintf(ret, KEY_MAX, "%s\n%d", path, number);
    return n < KEY_MAX ? (size_t)n : KEY_MAX - 1;
}

void dh_source_add(struct dh_source *s, const char *path, int first, const char *text)
{
    char key[KEY_MAX];
    dh_map_put(&s->given, path, strlen(path), s);
    for (; *text; first++) {
        struct dh_source_line *line = dh_arena_alloc(s->arena, sizeof(*line));
        *line = (struct dh_source_line){text, strcspn(text, "\n")};
        dh_map_put(&s->given, key, key_of(path, first, key), line);
        text += line->len + (text[line->len] == '\n');
    }
}

static bool given_line(const struct dh_source *s, const char *path, int number, struct dh_source_line *ret)
{
    char key[KEY_MAX];
    const struct dh_source_line *line = dh_map_get(&s->given, key, key_of(path, number, key));
    if (line)
        *ret = *line;
    return line != NULL;
}

bool dh_source_line(struct dh_source *s, const char *path, int number, struct dh_source_line *ret)
{
    if (s->given.n && dh_map_get(&s->given, path, strlen(path)))
        return given_line(s, path, number, ret);
    const struct dh_source_file *file = dh_map_get(&s->files, path, strlen(path));
    if (!file)
        file = load(s, path);
    if (number < 1 || (size_t)number > file->n)
        return false;
    *ret = file->lines[number - 1];
    return true;
}
