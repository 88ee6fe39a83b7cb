/*
 * cc_args.c - reads a compiler command line: response files, and what it asks for.
 *
 * Not a full parser: it only has to know which arguments are values of options (so that they are not
 * taken for inputs) and the few options that decide whether something is compiled, linked, or
 * impossible with deadheat. Everything else goes to clang as it came.
 */
#include "cli/cc_args.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

static const char *const own_flags[] = {
    "--dh-alias",        "--dh-checked", "--dh-count-checks", "--dh-exceptions", "--dh-filterable",
    "--dh-frontend=gcc", "--dh-help",    "--dh-launch",       "--dh-mode=caper", "--dh-mode=field",
    "--dh-mode=full",    "--dh-plain",   "--dh-prune",        "--dh-prune=quiet"};

void dh_cc_args_add(struct dh_cc_args *args, const char *arg)
{
    args->at = dh_util_grow(args->at, args->count + 1, &args->cap, sizeof(*args->at));
    args->at[args->count++] = arg;
    args->at[args->count] = NULL;
}

/* ---- Response files ---------------------------------------------------------------------------- */

char *dh_cc_args_read_file(struct dh_arena *arena, const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *text = NULL;
    size_t cap = 0;
    ssize_t n = getdelim(&text, &cap, '\0', f);
    bool bad = ferror(f);
    fclose(f);
    char *copy = bad ? NULL : dh_arena_dup(arena, n > 0 ? text : "", n > 0 ? (size_t)n : 0);
    free(text);
    return copy;
}

char *dh_cc_args_next_word(char **cursor)
{
    char *in = *cursor;
    while (isspace((unsigned char)*in))
        in++;
    if (!*in)
        return NULL;
    char *word = in, *out = in, quote = 0;
    for (; *in && (quote || !isspace((unsigned char)*in)); in++) {
        if (*in == '\\' && in[1])
            *out++ = *++in;
        else if (quote ? *in == quote : *in == '"' || *in == '\'')
            quote = quote ? 0 : *in;
        else
            *out++ = *in;
    }
    *cursor = *in ? in + 1 : in;
    *out = '\0';
    return word;
}

static void add_expanded(struct dh_cc_args *args, const char *arg, int depth)
{
    const int max_depth = 16; /* a response file that includes itself must end somewhere */
    char *cursor = arg[0] == '@' && depth < max_depth ? dh_cc_args_read_file(args->arena, arg + 1) : NULL;
    if (!cursor) {
        dh_cc_args_add(args, arg);
        return;
    }
    for (char *word; (word = dh_cc_args_next_word(&cursor)) != NULL;)
        add_expanded(args, word, depth + 1);
}

void dh_cc_args_add_expanded(struct dh_cc_args *args, const char *arg)
{
    add_expanded(args, arg, 0);
}

/* ---- What the line asks for ------------------------------------------------------------------- */

static bool is_one_of(const char *arg, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(arg, list[i]) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(arg, list) is_one_of(arg, list, DH_ARRAY_LEN(list))

bool dh_cc_args_takes_value(const char *arg)
{
    static const char *const options[] = {"-o",
                                          "-x",
                                          "-I",
                                          "-L",
                                          "-l",
                                          "-D",
                                          "-U",
                                          "-include",
                                          "-imacros",
                                          "-isystem",
                                          "-iquote",
                                          "-idirafter",
                                          "-isysroot",
                                          "--sysroot",
                                          "-iprefix",
                                          "-iwithprefix",
                                          "-iwithprefixbefore",
                                          "-MF",
                                          "-MT",
                                          "-MQ",
                                          "-T",
                                          "-u",
                                          "-z",
                                          "-e",
                                          "-A",
                                          "-B",
                                          "-F",
                                          "-G",
                                          "-h",
                                          "-b",
                                          "-Xlinker",
                                          "-Xclang",
                                          "-Xpreprocessor",
                                          "-Xassembler",
                                          "-Xopenmp-target",
                                          "-mllvm",
                                          "-target",
                                          "-arch",
                                          "-aux-info",
                                          "-dumpbase",
                                          "-dumpdir",
                                          "-framework",
                                          "--param",
                                          "-wrapper",
                                          "-specs",
                                          "-rpath",
                                          "-soname",
                                          "-include-pch",
                                          "-ivfsoverlay",
                                          "-gcc-toolchain",
                                          "-working-directory",
                                          "-dependency-file",
                                          "--output",
                                          "--language",
                                          "--include",
                                          "--imacros",
                                          "--include-directory",
                                          "--config",
                                          "--define-macro"};
    return IS_ONE_OF(arg, options);
}

static bool is_relocatable(const char *arg)
{
    static const char *const options[] = {"-r", "--relocatable", "-Wl,-r", "-Wl,--relocatable"};
    return IS_ONE_OF(arg, options);
}

/* Options after which nothing is linked. */
static bool stops_before_link(const char *arg)
{
    static const char *const options[] = {
        "-c",        "-S",         "-E",           "-M",           "-MM",       "-fsyntax-only",
        "--compile", "--assemble", "--preprocess", "--precompile", "--analyze", "-emit-ast"};
    return IS_ONE_OF(arg, options) || strncmp(arg, "-print-", 7) == 0 || strncmp(arg, "--print-", 8) == 0 ||
           is_relocatable(arg);
}

/* A header alone is precompiled, never linked. */
static bool is_header(const char *path)
{
    static const char *const suffixes[] = {".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H", ".tcc"};
    const char *dot = strrchr(path, '.');
    return dot && IS_ONE_OF(dot, suffixes);
}

static bool is_word(const char *word, size_t len, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0)
            return true;
    return false;
}

bool dh_cc_args_names_one_of(const char *list, const char *const *names, size_t n)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        if (is_word(list, len, names, n))
            return true;
        list += len + (list[len] == ',');
    }
    return false;
}

static bool is_our_target(const char *triple)
{
    static const char *const other_libraries[] = {"gnux32", "musl", "android", "ohos", "uclibc"};
    for (size_t i = 0; i < DH_ARRAY_LEN(other_libraries); i++)
        if (strstr(triple, other_libraries[i]))
            return false;
    return fnmatch("x86_64*linux*", triple, 0) == 0;
}

static void read_mode(const char *mode, struct dh_cc_line *line)
{
    if (strcmp(mode, "field") == 0)
        line->mode = DH_CC_FIELD;
    else if (strcmp(mode, "caper") == 0)
        line->mode = DH_CC_CAPER;
    else if (strcmp(mode, "full") == 0)
        line->mode = DH_CC_FULL;
    else if (!line->bad_mode)
        line->bad_mode = mode;
}

static void read_own_flag(const char *arg, struct dh_cc_line *line)
{
    if (strcmp(arg, "--dh-help") == 0)
        line->help = true;
    else if (strcmp(arg, "--dh-alias") == 0)
        line->alias = true;
    else if (strcmp(arg, "--dh-checked") == 0)
        line->checked = true;
    else if (strcmp(arg, "--dh-exceptions") == 0)
        line->exceptions = true;
    else if (strcmp(arg, "--dh-filterable") == 0)
        line->filterable = true;
    else if (strcmp(arg, "--dh-plain") == 0)
        line->plain = true;
    else if (strcmp(arg, "--dh-prune") == 0 || strcmp(arg, "--dh-prune=quiet") == 0) {
        line->prune = true;
        line->prune_quietly = strchr(arg, '=') != NULL;
    } else if (strcmp(arg, "--dh-count-checks") == 0)
        line->count_checks = true;
    else if (strncmp(arg, "--dh-mode=", 10) == 0)
        read_mode(arg + 10, line);
    else if (strncmp(arg, "--dh-frontend=", 14) == 0)
        dh_cc_frontend_read(arg + 14, line);
    else if (!line->own_unknown)
        line->own_unknown = arg;
}

/* Does this argument pass one of these words to the linker? */
static bool passes_to_linker(const char *arg, const char *value, const char *const *words, size_t n)
{
    if (strcmp(arg, "-Xlinker") == 0 && value)
        return is_one_of(value, words, n);
    return strncmp(arg, "-Wl,", 4) == 0 && dh_cc_args_names_one_of(arg + 4, words, n);
}

/* -Bstatic applies from its position on, and the C library comes last: the last one in force decides. */
static void read_linker_words(const char *arg, const char *list, struct dh_cc_line *line)
{
    static const char *const archives[] = {"-Bstatic", "-dn", "-non_shared"};
    static const char *const all[] = {"-Bdynamic", "-dy", "-call_shared"};
    while (*list) {
        size_t len = strcspn(list, ",");
        if (is_word(list, len, archives, DH_ARRAY_LEN(archives)))
            line->archives_only = arg;
        else if (is_word(list, len, all, DH_ARRAY_LEN(all)))
            line->archives_only = NULL;
        list += len + (list[len] == ',');
    }
}

static void read_option(const char *arg, const char *value, struct dh_cc_line *line)
{
    static const char *const machines[] = {"-m32", "-mx32", "-m16", "-miamcu"};
    static const char *const statics[] = {"-static", "--static", "-static-pie"};
    static const char *const shared[] = {"-shared", "--shared"};
    static const char *const bare[] = {"-nostdlib", "--no-standard-libraries", "-nodefaultlibs", "-nolibc",
                                       "-nostartfiles"};
    if (strncmp(arg, "--dh-", 5) == 0)
        read_own_flag(arg, line);
    else if (strcmp(arg, "-o") == 0 || strcmp(arg, "--output") == 0)
        line->output = value;
    else if (strncmp(arg, "-o", 2) == 0)
        line->output = arg + 2;
    else if (IS_ONE_OF(arg, shared) || passes_to_linker(arg, value, shared, DH_ARRAY_LEN(shared)))
        line->shared = true;
    else if (IS_ONE_OF(arg, statics))
        line->static_flag = arg;
    else if (passes_to_linker(arg, value, statics, DH_ARRAY_LEN(statics)))
        line->static_flag = value ? value : arg;
    else if (IS_ONE_OF(arg, bare))
        line->nostdlib = arg;
    else if (IS_ONE_OF(arg, machines))
        line->other_machine = arg;
    else if (strncmp(arg, "--target=", 9) == 0 && !is_our_target(arg + 9))
        line->other_machine = arg;
    else if (strcmp(arg, "-target") == 0 && value && !is_our_target(value))
        line->other_machine = value;
    else if (strcmp(arg, "-femulated-tls") == 0)
        line->emulated_tls = arg;
    else if (strcmp(arg, "-fmemory-profile") == 0 || strncmp(arg, "-fmemory-profile=", 17) == 0)
        line->sanitizer = arg; /* it has an allocator of its own, as some sanitizers do */
    else
        dh_cc_sanitize_read(arg, value, line);
}

void dh_cc_args_read(const struct dh_cc_args *args, bool cxx, struct dh_cc_line *ret_line)
{
    struct dh_cc_line line = {.cxx = cxx, .links = true, .ignorelists.arena = args->arena};
    bool has_linkable = false, header_language = false, has_libc = false;
    for (size_t i = 0; i < args->count; i++) {
        const char *arg = args->at[i];
        bool pair = dh_cc_args_takes_value(arg) && i + 1 < args->count;
        const char *value = pair ? args->at[i + 1] : NULL;
        if (arg[0] != '-' || strcmp(arg, "-") == 0) {
            line.has_input = true;
            has_linkable |= !header_language && !is_header(arg);
        } else if (arg[1] == 'l') {
            line.has_input = has_linkable = true;
            has_libc |= strcmp(arg, "-lc") == 0;
        } else if (stops_before_link(arg)) {
            line.links = false;
            line.relocatable |= is_relocatable(arg);
            line.multiarch |= strcmp(arg, "-print-multiarch") == 0 || strcmp(arg, "--print-multiarch") == 0;
        } else {
            read_option(arg, value, &line);
            if (strncmp(arg, "-Wl,", 4) == 0)
                read_linker_words(arg, arg + 4, &line);
            else if (value && strcmp(arg, "-Xlinker") == 0)
                read_linker_words(value, value, &line);
        }
        if (strcmp(arg, "-x") == 0 && value)
            header_language = strstr(value, "-header") != NULL;
        else if (strncmp(arg, "-x", 2) == 0 && arg[2])
            header_language = strstr(arg, "-header") != NULL;
        i += pair;
    }
    line.links = line.links && line.has_input && has_linkable;
    line.plain |= line.no_thread_sanitizer;
    if (has_libc && line.nostdlib &&
        (strcmp(line.nostdlib, "-nodefaultlibs") == 0 || strcmp(line.nostdlib, "-nolibc") == 0))
        line.nostdlib = NULL; /* it is linked, only not by default */
    *ret_line = line;
}

const char *dh_cc_args_nearest(const char *unknown)
{
    const char *nearest = NULL;
    u32 best = 0;
    for (size_t i = 0; i < DH_ARRAY_LEN(own_flags); i++) {
        /* Compared by name first: a long value would make every flag that has one look different. */
        u32 d = 64 * dh_options_distance(unknown, strcspn(unknown, "="), own_flags[i],
                                         strcspn(own_flags[i], "=")) +
                dh_options_distance(unknown, strlen(unknown), own_flags[i], strlen(own_flags[i]));
        if (!nearest || d < best) {
            nearest = own_flags[i];
            best = d;
        }
    }
    return nearest;
}
