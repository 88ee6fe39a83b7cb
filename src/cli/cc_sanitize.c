/*
 * cc_sanitize.c - options of clang and gcc about their sanitizers: which of them we obey, and how.
 *
 * clang's driver passes most of them to the compiler only if a sanitizer is on, and silently drops the rest
 * if warnings about unused arguments are off. Those about ThreadSanitizer apply to us: we exclude what they
 * exclude, and refuse what we do not have. Those about sanitizers that are not on have no effect, as in
 * clang.
 *
 * An ignorelist is passed to clang's front end, which makes the objects depend on it (-MD) and knows which
 * file a function is from, and through the environment to our pass, which knows the function's name
 * (src/ir/ignore.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cc_args.h"
#include "util/lines.h"

/* After -fsanitize-thread- and -fno-sanitize-thread-; src/ir/ignore.c knows the same words. */
static const struct {
    const char *word;
    const char *clang[2]; /* what clang's driver passes on for the second */
} parts[] = {
    {"memory-access", {"-tsan-instrument-memory-accesses=0", "-tsan-instrument-memintrinsics=0"}},
    {"atomics", {"-tsan-instrument-atomics=0", NULL}},
    {"func-entry-exit", {"-tsan-instrument-func-entry-exit=0", NULL}},
};
enum { FUNC_ENTRY_EXIT = 2 };

static const char *const thread_sanitizer[] = {"thread"};

/* Does a list of sanitizers name one that replaces the allocator (safe-stack: pthread_create) or watches
 * every access as we do? Others, such as undefined, work together with deadheat. */
static bool names_rival(const char *list)
{
    static const char *const rivals[] = {"address",          "dataflow",      "hwaddress", "kernel-address",
                                         "kernel-hwaddress", "kernel-memory", "leak",      "memory",
                                         "numerical",        "safe-stack",    "scudo",     "type"};
    return dh_cc_args_names_one_of(list, rivals, DH_ARRAY_LEN(rivals));
}

static void read_sanitizers(const char *arg, const char *list, struct dh_cc_line *line)
{
    if (names_rival(list))
        line->sanitizer = arg;
    if (dh_cc_args_names_one_of(list, thread_sanitizer, 1)) {
        line->thread_sanitizer = arg;
        line->no_thread_sanitizer = false;
    }
}

static void read_no_sanitizers(const char *list, struct dh_cc_line *line)
{
    bool all = strcmp(list, "all") == 0;
    if (all || names_rival(list))
        line->sanitizer = NULL;
    if (all || dh_cc_args_names_one_of(list, thread_sanitizer, 1)) {
        line->thread_sanitizer = NULL;
        line->no_thread_sanitizer = true;
    }
}

/* What follows the prefix, or NULL. */
static const char *after(const char *arg, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(arg, prefix, n) == 0 ? arg + n : NULL;
}

static void leave_out(unsigned part, bool left, const char *arg, struct dh_cc_line *line)
{
    line->left_out = left ? line->left_out | 1u << part : line->left_out & ~(1u << part);
    line->left_out_flag = left ? arg : line->left_out_flag;
}

/* -fsanitize-thread-... or -fno-... */
static void read_part(const char *arg, const char *word, bool left, struct dh_cc_line *line)
{
    for (unsigned i = 0; i < DH_ARRAY_LEN(parts); i++) {
        if (strcmp(word, parts[i].word) == 0) {
            leave_out(i, left, arg, line);
            line->clang_flag = left ? arg : line->clang_flag;
            return;
        }
    }
}

/* gcc's parameters of its ThreadSanitizer; clang ignores them all. */
static void read_parameter(const char *arg, const char *setting, struct dh_cc_line *line)
{
    const char *frame = after(setting, "tsan-instrument-func-entry-exit=");
    if (frame)
        leave_out(FUNC_ENTRY_EXIT, strcmp(frame, "0") == 0, arg, line);
    else if (after(setting, "tsan-") && strcmp(setting, "tsan-distinguish-volatile=0") != 0)
        line->tsan_option = setting;
}

static void read_ignorelist(const char *arg, const char *path, struct dh_cc_line *line)
{
    dh_cc_args_add(&line->ignorelists, path);
    line->ignorelist_flag = arg;
}

/* An option of the driver or, after -Xclang, of the compiler. */
static void read_named(const char *arg, struct dh_cc_line *line)
{
    const char *rest;
    if ((rest = after(arg, "-fsanitize=")))
        read_sanitizers(arg, rest, line);
    else if ((rest = after(arg, "-fno-sanitize=")))
        read_no_sanitizers(rest, line);
    else if ((rest = after(arg, "-fsanitize-thread-")))
        read_part(arg, rest, false, line);
    else if ((rest = after(arg, "-fno-sanitize-thread-")))
        read_part(arg, rest, true, line);
    else if ((rest = after(arg, "-fsanitize-ignorelist=")) || (rest = after(arg, "-fsanitize-blacklist=")) ||
             (rest = after(arg, "-fsanitize-system-ignorelist=")))
        read_ignorelist(arg, rest, line);
    else if (strcmp(arg, "-fno-sanitize-ignorelist") == 0 || strcmp(arg, "-fno-sanitize-blacklist") == 0)
        line->ignorelists.count = 0;
    else if (after(arg, "-tsan-") || after(arg, "--tsan-"))
        line->tsan_option = arg;
}

void dh_cc_sanitize_read(const char *arg, const char *value, struct dh_cc_line *line)
{
    const char *rest;
    if (value && (strcmp(arg, "-Xclang") == 0 || strcmp(arg, "-mllvm") == 0))
        read_named(value, line);
    else if ((rest = after(arg, "-mllvm=")))
        read_named(rest, line);
    else if (value && strcmp(arg, "--param") == 0)
        read_parameter(value, value, line);
    else if ((rest = after(arg, "--param=")))
        read_parameter(arg, rest, line);
    else if (after(arg, "-fsanitize") || after(arg, "-fno-sanitize"))
        read_named(arg, line);
}

/* clang's compiler takes an unreadable list for a bug of its own, and reports it at length. */
const char *dh_cc_sanitize_check(struct dh_arena *arena, const char *path)
{
    enum { LIMIT = 64 << 20 };
    char *text;
    size_t len, number = 0;
    const char *wrong = NULL;
    int rc = dh_lines_load(path, LIMIT, &text, &len);
    if (rc)
        return dh_arena_printf(arena, "cannot read the ignorelist '%s': %s", path, strerror(-rc));
    char *rest = text;
    for (char *line; !wrong && (line = strsep(&rest, "\n"));) {
        number++;
        line += strspn(line, " \t\r\v\f");
        for (size_t n = strlen(line); n > 0 && strchr(" \t\r\v\f", line[n - 1]); n--)
            line[n - 1] = '\0';
        const char *colon = strchr(line, ':');
        if (line[0] == '[' ? line[strlen(line) - 1] != ']'
                           : line[0] && line[0] != '#' && !(colon && colon[1]))
            wrong = dh_arena_printf(arena,
                                    "line %zu of the ignorelist '%s' is neither '[section]' nor "
                                    "'fun:', 'src:' or 'mainfile:' and a pattern: %s",
                                    number, path, line);
    }
    free(text);
    return wrong;
}

static void add_lists(const struct dh_cc_line *line, struct dh_cc_args *out)
{
    for (size_t i = 0; i < line->ignorelists.count; i++) {
        dh_cc_args_add(out, "-Xclang");
        dh_cc_args_add(out, dh_arena_printf(out->arena, "-fsanitize-ignorelist=%s", line->ignorelists.at[i]));
    }
}

void dh_cc_sanitize_tell_pass(const struct dh_cc_line *line, struct dh_cc_args *out)
{
    const char *lists = "", *left = "";
    for (size_t i = 0; i < line->ignorelists.count; i++)
        lists = dh_arena_printf(out->arena, "%s%s\n", lists, line->ignorelists.at[i]);
    for (unsigned i = 0; i < DH_ARRAY_LEN(parts); i++)
        if (line->left_out & 1u << i)
            left = dh_arena_printf(out->arena, "%s%s%s", left, *left ? "," : "", parts[i].word);
    add_lists(line, out);
    if (setenv("DEADHEAT_IGNORELISTS", lists, 1) != 0 || setenv("DEADHEAT_LEAVE_OUT", left, 1) != 0)
        dh_util_no_memory();
}

void dh_cc_sanitize_tell_clang(const struct dh_cc_line *line, struct dh_cc_args *out)
{
    add_lists(line, out);
    for (unsigned i = 0; i < DH_ARRAY_LEN(parts); i++) {
        for (size_t k = 0; k < DH_ARRAY_LEN(parts[i].clang); k++) {
            if (!(line->left_out & 1u << i) || !parts[i].clang[k])
                continue;
            dh_cc_args_add(out, "-mllvm");
            dh_cc_args_add(out, parts[i].clang[k]);
        }
    }
}
