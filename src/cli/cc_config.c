/*
 * cc_config.c - options of clang that are not on the command line: its configuration files (--config) and
 * CCC_OVERRIDE_OPTIONS.
 *
 * The driver must know some of them, as it must know those in response files. The contents of configuration
 * files take their place; they come before all other arguments, as in clang. The variable stays with clang,
 * which applies it; options about sanitizers are read here, too, because clang alone cannot obey them, and
 * what changes such options in another way is refused. Files that clang reads without being told are left to
 * it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cc_args.h"
#include "util/path.h"

struct config {
    struct dh_cc_args out;
    const char *dirs[3]; /* where files are that are named without a directory; NULL: none */
    const char *wrong;
};

static const char *after(const char *arg, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(arg, prefix, n) == 0 ? arg + n : NULL;
}

/* Joins lines that end in a backslash and removes comments, which take whole lines. In place. */
static void join_lines(char *text)
{
    char *in = text, *out = text;
    bool fresh = true; /* at the beginning of a line */
    while (*in) {
        if (fresh && isspace((unsigned char)*in)) {
            in++;
        } else if (fresh && *in == '#') {
            in += strcspn(in, "\n");
        } else if (*in == '\\' && (in[1] == '\n' || (in[1] == '\r' && in[2] == '\n'))) {
            in += in[1] == '\n' ? 2 : 3;
            fresh = false;
        } else {
            fresh = *in == '\n';
            if (*in == '\\' && in[1])
                *out++ = *in++;
            *out++ = *in++;
        }
    }
    *out = '\0';
}

/* A path is taken from dir (NULL: from here); a name alone is searched where clang searches. NULL: there is
 * no such file. */
static const char *find_file(struct config *c, const char *dir, const char *name)
{
    if (strchr(name, '/')) /* not dh_path_join: with symbolic links, ".." is not what it is as text */
        return name[0] == '/' || !dir ? name : dh_arena_printf(c->out.arena, "%s/%s", dir, name);
    for (size_t i = 0; i < DH_ARRAY_LEN(c->dirs); i++) {
        const char *path = c->dirs[i] ? dh_path_join(c->out.arena, c->dirs[i], name) : NULL;
        if (path && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

static char *parent_of(struct dh_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? dh_arena_dup(arena, path, slash > path ? (size_t)(slash - path) : 1)
                 : dh_arena_strdup(arena, ".");
}

/* <CFGDIR> stands for the directory of the file. */
static const char *with_directory(struct dh_arena *arena, const char *word, const char *dir)
{
    static const char mark[] = "<CFGDIR>";
    const char *at = strstr(word, mark);
    if (!at)
        return word;
    return dh_arena_printf(arena, "%.*s%s%s", (int)(at - word), word, dir,
                           with_directory(arena, at + strlen(mark), dir));
}

static void add_file(struct config *c, const char *dir, const char *name, int depth);

static void add_word(struct config *c, const char *word, const char *dir, int depth)
{
    const char *name;
    if ((name = after(word, "--config=")))
        add_file(c, dir, name, depth);
    else if (word[0] == '@')
        add_file(c, dir, strchr(word, '/') ? word + 1 : dh_arena_printf(c->out.arena, "./%s", word + 1),
                 depth);
    else
        dh_cc_args_add(&c->out, word);
}

static void add_file(struct config *c, const char *dir, const char *name, int depth)
{
    const int max_depth = 16;
    struct dh_arena *arena = c->out.arena;
    if (c->wrong)
        return;
    const char *path = find_file(c, dir, name);
    if (!path) {
        c->wrong = dh_arena_printf(arena,
                                   "there is no configuration file '%s' where clang keeps them; for one in "
                                   "another directory, name that, too",
                                   name);
        return;
    }
    errno = ELOOP;
    char *text = depth < max_depth ? dh_cc_args_read_file(arena, path) : NULL;
    if (!text) {
        c->wrong =
            dh_arena_printf(arena, "cannot read the configuration file '%s': %s", path, strerror(errno));
        return;
    }
    join_lines(text);
    dir = parent_of(arena, path);
    for (char *word; (word = dh_cc_args_next_word(&text)) != NULL;)
        add_word(c, with_directory(arena, word, dir), dir, depth + 1);
}

/* clang's default for the first two directories is none; the third is its own. */
static void find_directories(struct config *c, const struct dh_cc_args *args)
{
    const char *clang = dh_cc_find_clang(c->out.arena), *dir;
    char *real = clang ? realpath(clang, NULL) : NULL;
    if (real)
        c->dirs[2] = parent_of(c->out.arena, real);
    free(real);
    for (size_t i = 0; i < args->count; i++) {
        if ((dir = after(args->at[i], "--config-user-dir=")))
            c->dirs[0] = *dir ? dir : NULL;
        else if ((dir = after(args->at[i], "--config-system-dir=")))
            c->dirs[1] = *dir ? dir : NULL;
    }
}

/* The file that the argument at index i names, or NULL; *ret_length: how many arguments it takes. */
static const char *config_at(const struct dh_cc_args *args, size_t i, size_t *ret_length)
{
    const char *arg = args->at[i], *name = after(arg, "--config=");
    bool value = dh_cc_args_takes_value(arg) && i + 1 < args->count;
    *ret_length = 1 + value;
    return value && strcmp(arg, "--config") == 0 ? args->at[i + 1] : name;
}

static void add_files(struct config *c, const struct dh_cc_args *args)
{
    size_t length, files = 0;
    for (size_t i = 0; i < args->count; i += length)
        files += config_at(args, i, &length) != NULL;
    if (files > 0)
        find_directories(c, args);
    for (size_t i = 0; files > 0 && i < args->count; i += length) {
        const char *name = config_at(args, i, &length);
        if (name)
            add_file(c, NULL, name, 0);
    }
}

static void add_others(struct config *c, const struct dh_cc_args *args)
{
    size_t length;
    for (size_t i = 0; i < args->count; i += length) {
        bool config = config_at(args, i, &length) != NULL;
        for (size_t k = i; !config && k < i + length; k++)
            dh_cc_args_add(&c->out, args->at[k]);
    }
}

/* What the variable adds in front (how is '^') or at the end ('+'). */
static void add_overrides(struct config *c, char how)
{
    const char *given = getenv("CCC_OVERRIDE_OPTIONS");
    given = given && *given == '#' ? given + 1 : given ? given : "";
    for (size_t n; given += strspn(given, " "), (n = strcspn(given, " ")) > 0; given += n) {
        const char *word = dh_arena_dup(c->out.arena, given, n);
        if (!strstr(word, "sanitize"))
            continue;
        if (word[0] == how)
            dh_cc_args_add(&c->out, word + 1);
        else if (word[0] != '+' && word[0] != '^')
            c->wrong =
                dh_arena_printf(c->out.arena,
                                "'%s' in CCC_OVERRIDE_OPTIONS is not supported: of options about sanitizers "
                                "only '+' and '^' are",
                                word);
    }
}

const char *dh_cc_config_expand(struct dh_cc_args *args)
{
    struct config c = {.out = {.arena = args->arena}};
    add_files(&c, args);
    add_overrides(&c, '^');
    add_others(&c, args);
    add_overrides(&c, '+');
    free(args->at);
    *args = c.out;
    return c.wrong;
}
