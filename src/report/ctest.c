/*
 * ctest.c - see ctest.h.
 *
 * The files are looked for where the command was started, which is where its test was added unless the
 * project says otherwise; then from the directory of CTest on, through all that they name as subdirs(). The
 * nearest file that has the command decides. The working directory of CTest is that of a test while it starts
 * the test, so the directory that CTest itself was started in counts as well.
 *
 * Only what CMake itself writes is understood; whatever else a file holds is passed over.
 */
#include "report/ctest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/lines.h"

enum { MAX_TEXT = 16 << 20, MAX_FILES = 10000 };

#define SPACE " \t\r\n"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

struct below {
    struct directory *directory;
    struct below *next;
};

struct directory {
    const char *path;
    bool read;
    struct dh_map tests; /* command, see key_of -> name; "": several tests have it */
    struct below *below, **below_end;
    u64 search;             /* the last one that came here, and ... */
    struct directory *next; /* ... where it went then */
};

/* Words, each with its zero. Of the program only the last part of its name counts: CTest looks for programs
 * itself. */
static char *key_of(const char *const *words, size_t n, size_t *ret_len)
{
    char *key = NULL;
    FILE *out = open_memstream(&key, ret_len);
    if (!out)
        dh_util_no_memory();
    for (size_t i = 0; i < n; i++) {
        const char *word = i ? words[i] : dh_path_base(words[i]);
        fwrite(word, 1, strlen(word) + 1, out);
    }
    if (fclose(out) != 0)
        dh_util_no_memory();
    return key;
}

static struct directory *directory_at(struct dh_ctest *c, const char *path)
{
    struct directory *d = dh_map_get(&c->directories, path, strlen(path));
    if (!d) {
        d = dh_arena_alloc(c->arena, sizeof(*d));
        d->path = dh_arena_strdup(c->arena, path);
        d->below_end = &d->below;
        dh_map_init(&d->tests, c->arena);
        dh_map_put(&c->directories, path, strlen(path), d);
    }
    return d;
}

/* ---- The language of CMake ----------------------------------------------------------------------------- */

static char *skip_space(char *at)
{
    while (at += strspn(at, SPACE), *at == '#')
        at += strcspn(at, "\n");
    return at;
}

/* The next argument of a command, in the arena; NULL behind the last. */
static const char *read_argument(struct dh_arena *a, char **at)
{
    char *begin = skip_space(*at), *from = begin, *to = begin;
    size_t level = strspn(begin + (*begin == '['), "=");
    *at = begin;
    if (!*begin || *begin == ')')
        return NULL;
    if (*begin == '[' && begin[1 + level] == '[') { /* as it is, from [==[ to ]==] */
        char *close = dh_arena_dup(a, begin, level + 2);
        close[0] = close[level + 1] = ']';
        begin += level + 2;
        to = strstr(begin, close);
        *at = to ? to + level + 2 : begin + strlen(begin);
        return dh_arena_dup(a, begin, (size_t)((to ? to : *at) - begin));
    }
    bool quoted = *from == '"';
    for (from += quoted; *from && !strchr(quoted ? "\"" : SPACE "()\"#", *from);) {
        from += from[0] == '\\' && from[1];
        *to++ = *from++;
    }
    from += (quoted && *from) || from == begin; /* what else may stand here is passed over */
    *at = from;
    return dh_arena_dup(a, begin, (size_t)(to - begin));
}

static void add_test(struct dh_ctest *c, struct directory *d, const char *const *words, size_t n)
{
    size_t len;
    char *key = key_of(words + 1, n - 1, &len);
    const char *known = dh_map_get(&d->tests, key, len);
    bool same = !known || strcmp(known, words[0]) == 0; /* each configuration may have the test */
    dh_map_put(&d->tests, key, len, dh_arena_strdup(c->arena, same ? words[0] : ""));
    free(key);
}

static void add_below(struct dh_ctest *c, struct directory *d, const char *path)
{
    struct below *b = dh_arena_alloc(c->arena, sizeof(*b));
    b->directory = directory_at(c, dh_path_join(c->arena, d->path, path));
    *d->below_end = b;
    d->below_end = &b->next;
}

static void parse(struct dh_ctest *c, struct directory *d, char *at)
{
    struct dh_arena scratch = {0};
    const char **words = NULL, *word;
    size_t cap = 0;
    while (*(at = skip_space(at))) {
        const char *command = at;
        size_t len = strspn(at, LETTERS), n = 0;
        at = skip_space(at + len);
        const bool call = *at == '(';
        at += *at != '\0';
        if (!call)
            continue;
        while ((word = read_argument(&scratch, &at))) {
            words = dh_util_grow(words, n, &cap, sizeof(*words));
            words[n++] = word;
        }
        if (n > 1 && len == 8 && memcmp(command, "add_test", len) == 0)
            add_test(c, d, words, n);
        for (size_t i = 0; len == 7 && memcmp(command, "subdirs", len) == 0 && i < n; i++)
            add_below(c, d, words[i]);
    }
    free(words);
    dh_arena_done(&scratch);
}

static void read_directory(struct dh_ctest *c, struct directory *d)
{
    const char *path =
        dh_path_mapped(c->arena, c->paths, dh_path_join(c->arena, d->path, "CTestTestfile.cmake"));
    char *text;
    size_t len;
    d->read = true;
    if (dh_lines_load(path, MAX_TEXT, &text, &len) != 0)
        return;
    parse(c, d, text);
    free(text);
}

/* ---- Searching ----------------------------------------------------------------------------------------- */

static void visit(struct dh_ctest *c, struct directory *d, struct directory ***end)
{
    if (d->search == c->searches)
        return;
    d->search = c->searches;
    d->next = NULL;
    **end = d;
    *end = &d->next;
}

static const char *search(struct dh_ctest *c, struct directory *first, struct directory **end,
                          const char *const keys[2], const size_t lens[2])
{
    size_t files = 0;
    for (struct directory *d = first; d && files < MAX_FILES; d = d->next, files++) {
        if (!d->read)
            read_directory(c, d);
        const char *name = dh_map_get(&d->tests, keys[0], lens[0]);
        const char *script = dh_map_get(&d->tests, keys[1], lens[1]);
        if (name && script && strcmp(name, script) != 0)
            return "";
        if (name || script)
            return name ? name : script;
        for (const struct below *b = d->below; b; b = b->next)
            visit(c, b->directory, &end);
    }
    return "";
}

const char *dh_ctest_name(struct dh_ctest *c, const struct dh_model_ctest *started)
{
    struct directory *first = NULL, **end = &first;
    const char *const from[] = {started->command_cwd, started->cwd, started->start};
    size_t n = started->n_command, lens[2];
    if (!n)
        return "";
    /* Before the name of a script the kernel has put that of its interpreter. */
    char *keys[] = {key_of(started->command, n, &lens[0]), key_of(started->command + 1, n - 1, &lens[1])};
    c->searches++;
    for (size_t i = 0; i < DH_ARRAY_LEN(from); i++)
        if (from[i] && from[i][0] == '/')
            visit(c, directory_at(c, dh_path_join(c->arena, NULL, from[i])), &end);
    const char *name = search(c, first, end, (const char *const *)keys, lens);
    free(keys[0]);
    free(keys[1]);
    return name;
}

void dh_ctest_init(struct dh_ctest *c, struct dh_arena *arena, const struct dh_path_map *paths)
{
    *c = (struct dh_ctest){.arena = arena, .paths = paths};
    dh_map_init(&c->directories, arena);
}

void dh_ctest_done(struct dh_ctest *c)
{
    size_t at = 0, len;
    const void *key;
    void *value;
    while (dh_map_next(&c->directories, &at, &key, &len, &value))
        dh_map_done(&((struct directory *)value)->tests);
    dh_map_done(&c->directories);
}
