/*
 * runner.c - compiles one program of tests/programs, runs it, and compares what was reported with what
 * its source says must be reported.
 *
 *     runner [--oracle|--marks|--with COMMAND] BUILD PROGRAM.c...
 *
 * A program states its expectations in comments:
 *
 *     // RACE a            on each of the two lines that race; one line alone races with itself.
 *     // RACE a:write b    several pairs may meet on a line; a kind (read, write, free) may be demanded.
 *     // NO RACE           nothing may be reported.
 *     // FLAGS: -O2        compiler flags after the standing `-g -O1 -pthread`
 *     // LIB: x.c          an instrumented shared library built from parts/x.c; LIBDIR is defined
 *     // PLAIN: x.c        parts/x.c compiled by the plain compiler and linked in
 *     // PART: x.c         parts/x.c compiled by deadheat and linked in
 *     // OPTIONS: a=1:b=2  added to DEADHEAT_OPTIONS
 *     // ARGS: x y         arguments of the program
 *     // EXIT: n           the exit status, when it is neither 0 (no race) nor 66 (race)
 *     // OUTPUT: text      a line of standard output; all of them together are the whole output
 *     // TSAN: why         --oracle skips the program, because ThreadSanitizer is known to differ
 *
 * Every pair reported must be expected and every expected pair reported, no more and no less. An
 * access counts for the innermost frame of its stack that lies in the program's own files.
 *
 * PROGRAM_FLAGS in the environment adds compiler flags to all, for instance another optimisation level;
 * PROGRAM_FRONTEND lets another compiler instrument (`deadheat cc --dh-frontend`, tests/compat);
 * PROGRAM_OPTIONS goes before a program's own OPTIONS, for instance another detector (tests/lard): of several words,
 * each is for a run and a case of its own, NAME/OPTIONS. PROGRAM_CACHE is a directory for objects, where one runner
 * finds what another has compiled in the same way. KEEP in the environment keeps the scratch directories.
 *
 * --oracle uses clang's ThreadSanitizer instead of deadheat: it tests the tests. --marks only prints the pairs that
 * are expected, as `file:line file:line`, sorted. --with compiles each program that races and calls COMMAND NAME PROGRAM
 * ARGS... in its scratch directory, with DEADHEAT_OPTIONS set as for a run, and SOURCES and FLAGS as they were compiled: the
 * case passes if the command does, and what it prints is why it does not. Else a case is one line of output: `ok NAME`,
 * `FAIL NAME: why` or `skip NAME: why`.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SIDES = 64, MAX_PAIRS = 64, MAX_WORDS = 8, LONG = 4096 };

/* One end of a race: a line of a file, and what is done there ("" when it does not matter). */
struct side {
    char file[64];
    int line;
    char kind[8];
};

struct pair {
    struct side side[2];
};

struct mark {
    struct side side;
    char letter[16];
};

struct program {
    const char *path;
    char name[64]; /* basename without extension */
    bool cxx, no_race;
    char flags[256], libs[MAX_WORDS][64], plains[MAX_WORDS][64], parts[MAX_WORDS][64];
    int lib_count, plain_count, part_count;
    char options[256], args[256], tsan[256];
    char output[LONG];
    int exit_status; /* -1: by whether it races */
    struct mark marks[MAX_SIDES];
    int mark_count;
    struct pair expected[MAX_PAIRS];
    int expected_count;
};

struct config {
    bool oracle, marks;
    const char *with; /* NULL: the races are judged here */
    const char *build;
    const char *cache;   /* NULL: none */
    const char *options; /* beside the program's own, of this run */
    const char *label;   /* of this run; "": it is the only one */
    char dir[LONG];      /* of the programs */
    char work[LONG];     /* scratch */
};

static char why[LONG]; /* of the last failure */

static int fail(const char *format, ...)
{
    char text[LONG]; /* an argument may be `why` itself */
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    memcpy(why, text, sizeof(why));
    for (char *c = why; *c; c++)
        if (*c == '\n')
            *c = c[1] ? '|' : '\0';
    return -1;
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    size_t size = 0, got;
    char *text = NULL;

    if (!f)
        return NULL;
    do {
        text = realloc(text, size + LONG + 1);
        if (!text)
            abort();
        got = fread(text + size, 1, LONG, f);
        size += got;
    } while (got > 0);
    text[size] = '\0';
    fclose(f);
    return text;
}

/* ---- What the source says -------------------------------------------------------------------------- */

static void copy(char *dst, size_t size, const char *src)
{
    snprintf(dst, size, "%s", src);
}

static int add_mark(struct program *p, const char *file, int line, const char *word)
{
    struct mark *m = &p->marks[p->mark_count];
    const char *colon = strchr(word, ':');

    if (p->mark_count == MAX_SIDES)
        return fail("too many marks");
    snprintf(m->letter, sizeof(m->letter), "%.*s", (int)(colon ? colon - word : (long)strlen(word)), word);
    copy(m->side.kind, sizeof(m->side.kind), colon ? colon + 1 : "");
    copy(m->side.file, sizeof(m->side.file), file);
    m->side.line = line;
    p->mark_count++;
    return 0;
}

/* The value of `// KEY: value` on this line, or NULL. */
static char *directive(char *line, const char *key)
{
    size_t n = strlen(key);

    if (strncmp(line, "// ", 3) != 0 || strncmp(line + 3, key, n) != 0 || line[3 + n] != ':')
        return NULL;
    line += 4 + n;
    return *line == ' ' ? line + 1 : line;
}

static int add_word(char words[MAX_WORDS][64], int *count, const char *value)
{
    if (*count == MAX_WORDS)
        return fail("too many parts");
    copy(words[(*count)++], 64, value);
    return 0;
}

static int parse_source(struct config *c, struct program *p, const char *path);

static int parse_line(struct config *c, struct program *p, const char *file, char *line, int number)
{
    char *value, *mark = strstr(line, "// RACE "), *save = NULL, part[LONG * 2];
    int rc = 0;

    if (mark) {
        for (char *w = strtok_r(mark + 8, " ", &save); w && !rc; w = strtok_r(NULL, " ", &save))
            rc = add_mark(p, file, number, w);
        return rc;
    }
    if (strcmp(line, "// NO RACE") == 0)
        p->no_race = true;
    else if ((value = directive(line, "FLAGS")))
        copy(p->flags, sizeof(p->flags), value);
    else if ((value = directive(line, "LIB")))
        rc = add_word(p->libs, &p->lib_count, value);
    else if ((value = directive(line, "PLAIN")))
        rc = add_word(p->plains, &p->plain_count, value);
    else if ((value = directive(line, "PART")))
        rc = add_word(p->parts, &p->part_count, value);
    else if ((value = directive(line, "OPTIONS")))
        copy(p->options, sizeof(p->options), value);
    else if ((value = directive(line, "ARGS")))
        copy(p->args, sizeof(p->args), value);
    else if ((value = directive(line, "TSAN")))
        copy(p->tsan, sizeof(p->tsan), value);
    else if ((value = directive(line, "EXIT")))
        p->exit_status = atoi(value);
    else if ((value = directive(line, "OUTPUT"))) {
        size_t n = strlen(p->output);
        snprintf(p->output + n, sizeof(p->output) - n, "%s\n", value);
    }
    if (!rc && (directive(line, "LIB") || directive(line, "PART"))) {
        snprintf(part, sizeof(part), "%s/parts/%s", c->dir, strchr(line, ':') + 2);
        rc = parse_source(c, p, part);
    }
    return rc;
}

static int parse_source(struct config *c, struct program *p, const char *path)
{
    char *text = slurp(path), *next = text, *line;
    const char *slash = strrchr(path, '/');
    int number = 0, rc = 0;

    if (!text)
        return fail("cannot read %s", path);
    while (!rc && (line = strsep(&next, "\n")))
        rc = parse_line(c, p, slash ? slash + 1 : path, line, ++number);
    free(text);
    return rc;
}

/* Marks with the same letter make a pair. */
static int pair_marks(struct program *p)
{
    for (int i = 0; i < p->mark_count; i++) {
        int other = -1, before = 0, count = 0;

        for (int j = 0; j < p->mark_count; j++) {
            if (strcmp(p->marks[i].letter, p->marks[j].letter) != 0)
                continue;
            count++;
            before += j < i;
            if (j != i)
                other = j;
        }
        if (count > 2)
            return fail("more than two marks %s", p->marks[i].letter);
        if (before > 0)
            continue;
        if (p->expected_count == MAX_PAIRS)
            return fail("too many pairs");
        p->expected[p->expected_count].side[0] = p->marks[i].side;
        p->expected[p->expected_count].side[1] = p->marks[other < 0 ? i : other].side;
        p->expected_count++;
    }
    if (p->no_race == (p->expected_count > 0))
        return fail("the source must say either RACE or NO RACE");
    return 0;
}

/* ---- Compiling and running -------------------------------------------------------------------------- */

/* Runs a shell command with its output in WORK/NAME.out and WORK/NAME.err; its status, as a shell would say.
 */
static int run(struct config *c, const char *name, const char *format, ...)
{
    static char command[LONG * 4], line[LONG * 8];
    va_list args;
    int status;

    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    snprintf(line, sizeof(line), "%s >'%s/%s.out' 2>'%s/%s.err' </dev/null", command, c->work, name, c->work,
             name);
    status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *output_of(struct config *c, const char *name, const char *which)
{
    char path[LONG * 2], *text;

    snprintf(path, sizeof(path), "%s/%s.%s", c->work, name, which);
    text = slurp(path);
    return text ? text : strdup("");
}

/* A compiler that has nothing to complain of must be silent. */
static int compile(struct config *c, const char *compiler, const char *flags, const char *what,
                   const char *out)
{
    int status =
        run(c, "compile", "within 60 %s -g -O1 -pthread -I'%s' -I'%s/../../include' %s %s -o '%s/%s'",
            compiler, c->dir, c->dir, flags, what, c->work, out);
    char *noise = output_of(c, "compile", "err");
    int rc = 0;

    if (status != 0)
        rc = fail("compiling %s: status %d: %.600s", out, status, noise);
    else if (*noise)
        rc = fail("compiling %s: unexpected noise: %.600s", out, noise);
    free(noise);
    return rc;
}

/* The program's own object, compiled or found: what is compiled in the same way is the same. */
static int compile_cached(struct config *c, const char *compiler, const char *flags, const char *what,
                          const char *out)
{
    char command[LONG * 8], object[LONG * 2], cached[LONG * 2];
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */

    snprintf(command, sizeof(command), "%s %s %s", compiler, flags, what);
    for (const char *p = command; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 0x100000001b3;
    snprintf(object, sizeof(object), "%s/%s", c->work, out);
    snprintf(cached, sizeof(cached), "%s/%016" PRIx64 ".o", c->cache, hash);
    if (link(cached, object) == 0)
        return 0;
    if (compile(c, compiler, flags, what, out))
        return -1;
    if (link(object, cached) != 0 && errno != EEXIST) /* another runner may have been faster */
        return fail("cannot keep %s: %s", cached, strerror(errno));
    return 0;
}

static int build_program(struct config *c, struct program *p)
{
    char cc[LONG], cxx[LONG], source[LONG * 2], parts[LONG * 2] = "", flags[LONG * 2], out[128];
    const char *added = getenv("PROGRAM_FLAGS") ? getenv("PROGRAM_FLAGS") : "";
    const char *mode = strstr(added, "--dh-mode") ? added : ""; /* all of a program is built in one mode */
    size_t n;
    int rc = 0;

    if (c->oracle) {
        copy(cc, sizeof(cc), "clang-19 -fsanitize=thread");
        copy(cxx, sizeof(cxx), "clang++-19 -fsanitize=thread");
    } else {
        const char *frontend = getenv("PROGRAM_FRONTEND");
        const char *flag = frontend ? " --dh-frontend=" : "";

        frontend = frontend ? frontend : "";
        snprintf(cc, sizeof(cc), "'%s/bin/deadheat' cc%s%s", c->build, flag, frontend);
        snprintf(cxx, sizeof(cxx), "'%s/bin/deadheat' c++%s%s", c->build, flag, frontend);
    }
    for (int i = 0; i < p->lib_count && !rc; i++) {
        snprintf(source, sizeof(source), "'%s/parts/%s'", c->dir, p->libs[i]);
        snprintf(out, sizeof(out), "lib%.*s.so", (int)strcspn(p->libs[i], "."), p->libs[i]);
        snprintf(flags, sizeof(flags), "-shared -fPIC %s", mode);
        rc = compile(c, strstr(p->libs[i], ".cpp") ? cxx : cc, flags, source, out);
    }
    for (int i = 0; i < p->plain_count + p->part_count && !rc; i++) {
        bool plain = i < p->plain_count;
        const char *name = plain ? p->plains[i] : p->parts[i - p->plain_count];

        snprintf(source, sizeof(source), "-c '%s/parts/%s'", c->dir, name);
        snprintf(out, sizeof(out), "%s.o", name);
        rc = compile(c, plain ? "clang-19" : cc, plain ? "" : mode, source, out);
        n = strlen(parts);
        snprintf(parts + n, sizeof(parts) - n, " '%s/%s'", c->work, out);
    }
    if (!rc && c->cache && p->lib_count == 0) {
        /* Which runtime is linked makes no difference to an object. */
        snprintf(flags, sizeof(flags), "-c -Wno-unused-command-line-argument %s %s", p->flags,
                 strcmp(added, "--dh-checked") == 0 ? "" : added);
        snprintf(source, sizeof(source), "'%s'", p->path);
        rc = compile_cached(c, p->cxx ? cxx : cc, flags, source, "prog.o");
        snprintf(source, sizeof(source), "'%s/prog.o'", c->work);
    } else {
        snprintf(source, sizeof(source), "-DLIBDIR='\"%s\"' '%s'", c->work, p->path);
    }
    snprintf(flags, sizeof(flags), "%s %s", p->flags, added);
    n = strlen(source);
    snprintf(source + n, sizeof(source) - n, "%s", parts);
    return rc ? rc : compile(c, p->cxx ? cxx : cc, flags, source, "prog");
}

static int run_program(struct config *c, struct program *p)
{
    int want = p->exit_status >= 0 ? p->exit_status : p->expected_count > 0 ? 66 : 0, status, rc = 0;
    char *text;

    if (c->oracle)
        status =
            run(c, "run",
                "TSAN_OPTIONS=report_thread_leaks=0:report_mutex_bugs=0:report_signal_unsafe=0:exitcode=66:"
                "log_path='%s/tsan' within 40 setarch -R '%s/prog' %s",
                c->work, c->work, p->args);
    else
        status = run(c, "run",
                     "DEADHEAT_OPTIONS='%s:%s' within 40 '%s/bin/deadheat' run --report=0 "
                     "--output='%s/races.jsonl' -- '%s/prog' %s",
                     c->options, p->options, c->build, c->work, c->work, p->args);
    text = output_of(c, "run", "err");
    if (status == 124 || status == 137)
        rc = fail("hung: %.600s", text);
    else if (status != want)
        rc = fail("exit status %d, expected %d: %.600s", status, want, text);
    else if (!c->oracle && *text)
        rc = fail("noise on standard error: %.600s", text);
    free(text);
    text = output_of(c, "run", "out");
    if (!rc && strcmp(text, p->output) != 0)
        rc = fail("wrong output: %.600s", text);
    free(text);
    return rc;
}

/* ---- What was reported ------------------------------------------------------------------------------- */

static bool own_file(struct program *p, const char *file)
{
    const char *slash = strrchr(p->path, '/');

    if (strcmp(file, slash ? slash + 1 : p->path) == 0)
        return true;
    for (int i = 0; i < p->lib_count; i++)
        if (strcmp(file, p->libs[i]) == 0)
            return true;
    for (int i = 0; i < p->part_count; i++)
        if (strcmp(file, p->parts[i]) == 0)
            return true;
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The JSON of `deadheat report --format=json`. */
static int collect_json(struct config *c, struct program *p, struct pair *pairs, int *count)
{
    json_error_t error;
    json_t *root, *race, *one, *frame;
    size_t i, j, k;
    char *text, path[LONG * 2];
    int status;

    snprintf(path, sizeof(path), "%s/races.jsonl", c->work);
    if (access(path, F_OK) != 0) /* written when there is something to write */
        return 0;
    status = run(c, "report", "within 40 '%s/bin/deadheat' report --all --format=json '%s'", c->build, path);
    text = output_of(c, "report", "out");
    root = json_loads(text, 0, &error);
    free(text);
    /* Of a program that is killed, or kills a child, not all processes come to an end. */
    const json_t *summary = json_object_get(root, "summary");
    bool killed = status == 2 && json_is_false(json_object_get(summary, "complete")) &&
                  json_integer_value(json_object_get(summary, "bad_lines")) == 0;
    if (!root || (status != 0 && status != 66 && !killed)) {
        text = output_of(c, "report", "err");
        fail("deadheat report: status %d, %s: %.600s", status, root ? "" : error.text, text);
        free(text);
        json_decref(root);
        return -1;
    }
    json_array_foreach(json_object_get(root, "findings"), i, race)
    {
        if (*count == MAX_PAIRS)
            break;
        memset(&pairs[*count], 0, sizeof(*pairs));
        json_array_foreach(json_object_get(race, "accesses"), j, one)
        {
            struct side *s = &pairs[*count].side[j & 1];
            const char *kind = json_string_value(json_object_get(one, "kind"));

            copy(s->kind, sizeof(s->kind), kind ? kind : "");
            json_array_foreach(json_object_get(one, "stack"), k, frame)
            {
                const char *file = json_string_value(json_object_get(frame, "file"));

                if (!file || !own_file(p, base_name(file)))
                    continue;
                copy(s->file, sizeof(s->file), base_name(file));
                s->line = (int)json_integer_value(json_object_get(frame, "line"));
                break;
            }
        }
        ++*count;
    }
    json_decref(root);
    return 0;
}

/* The text of ThreadSanitizer: an access is a line such as "  Previous write of size 4 at ..." and the
 * frames "    #0 function file:line:column (module+offset)" below it. */
static void collect_tsan(struct config *c, struct program *p, struct pair *pairs, int *count)
{
    char *text, *next, *line;
    int side = -1;

    run(c, "cat", "cat '%s'/tsan.*", c->work);
    text = next = output_of(c, "cat", "out");
    while ((line = strsep(&next, "\n"))) {
        if (strstr(line, "WARNING: ThreadSanitizer:") &&
            (strstr(line, "data race") || strstr(line, "use-after-free")) && *count < MAX_PAIRS) {
            memset(&pairs[(*count)++], 0, sizeof(*pairs));
            side = -1;
        } else if (strstr(line, " of size ") && strstr(line, " at 0x") && strstr(line, " by ")) {
            side = strstr(line, "Previous") ? 1 : 0;
        } else if (strncmp(line, "    #", 5) != 0) {
            side = -1;
        } else if (side >= 0 && *count > 0 && pairs[*count - 1].side[side].line == 0) {
            struct side *s = &pairs[*count - 1].side[side];
            char *slash = strrchr(line, '/'), *paren = strstr(line, " (");

            if (paren)
                *paren = '\0';
            slash = strrchr(line, '/');
            if (slash) {
                char file[64];

                snprintf(file, sizeof(file), "%.*s", (int)strcspn(slash + 1, ":"), slash + 1);
                if (own_file(p, file)) {
                    copy(s->file, sizeof(s->file), file);
                    s->line = atoi(slash + 1 + strcspn(slash + 1, ":") + 1);
                }
            }
        }
    }
    free(text);
}

static bool same_side(const struct side *want, const struct side *got)
{
    return want->line == got->line && strcmp(want->file, got->file) == 0 &&
           (!*want->kind || !*got->kind || strcmp(want->kind, got->kind) == 0);
}

static bool same_pair(const struct pair *want, const struct pair *got)
{
    return (same_side(&want->side[0], &got->side[0]) && same_side(&want->side[1], &got->side[1])) ||
           (same_side(&want->side[0], &got->side[1]) && same_side(&want->side[1], &got->side[0]));
}

static void complain(char *buffer, size_t size, const char *what, const struct pair *pair)
{
    const struct side *a = &pair->side[0], *b = &pair->side[1];
    size_t n = strlen(buffer);

    snprintf(buffer + n, size - n, "%s%s %s:%d%s%s - %s:%d%s%s", n ? "; " : "", what, a->file, a->line,
             *a->kind ? ":" : "", a->kind, b->file, b->line, *b->kind ? ":" : "", b->kind);
}

static int compare(struct config *c, struct program *p)
{
    struct pair got[MAX_PAIRS];
    char text[LONG] = "";
    int count = 0;

    if (c->oracle)
        collect_tsan(c, p, got, &count);
    else if (collect_json(c, p, got, &count))
        return -1;
    for (int i = 0; i < p->expected_count; i++) {
        bool found = false;

        for (int j = 0; j < count; j++)
            found |= same_pair(&p->expected[i], &got[j]);
        if (!found)
            complain(text, sizeof(text), "missing", &p->expected[i]);
    }
    for (int j = 0; j < count; j++) {
        bool found = false;

        for (int i = 0; i < p->expected_count; i++)
            found |= same_pair(&p->expected[i], &got[j]);
        if (!found)
            complain(text, sizeof(text), "unexpected", &got[j]);
    }
    return *text ? fail("%s", text) : 0;
}

/* ---- One program after the other ---------------------------------------------------------------------- */

static int read_program(struct config *c, struct program *p, const char *path)
{
    const char *dot = strrchr(path, '.');
    char directory[LONG * 2];

    memset(p, 0, sizeof(*p));
    p->path = path;
    p->exit_status = -1;
    p->cxx = dot && strcmp(dot, ".cpp") == 0;
    snprintf(p->name, sizeof(p->name), "%.*s", (int)strcspn(base_name(path), "."), base_name(path));
    snprintf(directory, sizeof(directory), "%s", path);
    copy(c->dir, sizeof(c->dir), dirname(directory));
    return parse_source(c, p, p->path) ? -1 : pair_marks(p);
}

/* Pairs that differ in kind only are one. */
static int print_marks(const struct program *p)
{
    FILE *sorted = popen("LC_ALL=C sort -u", "w");

    for (int i = 0; sorted && i < p->expected_count; i++) {
        char text[2][128];

        for (int k = 0; k < 2; k++)
            snprintf(text[k], sizeof(text[k]), "%s:%d", p->expected[i].side[k].file,
                     p->expected[i].side[k].line);
        int swap = strcmp(text[0], text[1]) > 0;
        fprintf(sorted, "%s %s\n", text[swap], text[!swap]);
    }
    return sorted && pclose(sorted) == 0 ? 0 : fail("cannot sort");
}

/* A wrong exit status as a rule means a wrong set of races, which says more. */
static int run_once(struct config *c, struct program *p)
{
    char status[LONG / 2], races[LONG * 2];

    snprintf(races, sizeof(races), "%s/races.jsonl", c->work);
    unlink(races); /* of the run before */
    if (run_program(c, p) == 0)
        return compare(c, p);
    snprintf(status, sizeof(status), "%s", why);
    if (compare(c, p))
        return fail("%s; %.1500s", status, why);
    return fail("%s", status);
}

/* Leaves it to somebody else to run and judge the program. */
static int run_with(struct config *c, struct program *p)
{
    char sources[LONG * 2], *text;
    int status, rc = 0;
    size_t n = (size_t)snprintf(sources, sizeof(sources), "%s", p->path);

    for (int i = 0; i < p->lib_count + p->part_count + p->plain_count; i++) {
        int part = i - p->lib_count, plain = part - p->part_count;
        const char *name = part < 0 ? p->libs[i] : plain < 0 ? p->parts[part] : p->plains[plain];

        n += (size_t)snprintf(sources + n, sizeof(sources) - n, " %s/parts/%s", c->dir, name);
    }
    status = run(c, "with",
                 "cd '%s' && DEADHEAT_OPTIONS='%s' SOURCES='%s' FLAGS='%s -DLIBDIR=\"%s\"' "
                 "within 60 %s %s ./prog %s",
                 c->work, p->options, sources, p->flags, c->work, c->with, p->name, p->args);
    text = output_of(c, "with", "out");
    if (status != 0)
        rc = fail("status %d: %.1500s", status, text);
    free(text);
    return rc;
}

static bool say(const struct config *c, const struct program *p, int rc)
{
    printf("%s programs/%s%s%s%s%s\n",
           rc < 0   ? "FAIL"
           : rc > 0 ? "skip"
                    : "ok",
           p->name, *c->label ? "/" : "", c->label, rc ? ": " : "", rc ? why : "");
    fflush(stdout);
    return rc < 0;
}

/* Builds the program and runs it, with each of the options in turn; how many of the cases fail. */
static int test(struct config *c, struct program *p)
{
    const char *given = getenv("PROGRAM_OPTIONS") ? getenv("PROGRAM_OPTIONS") : "";
    bool several = strchr(given, ' ') != NULL;
    char words[LONG], *save = NULL, *word;
    int failed = 0, rc = 0;

    if (c->oracle && *p->tsan) {
        fail("%s", p->tsan);
        rc = 1;
    } else {
        rc = build_program(c, p);
    }
    copy(words, sizeof(words), given);
    word = several ? strtok_r(words, " ", &save) : words;
    do {
        c->options = word;
        c->label = several ? word : "";
        failed += say(c, p, rc ? rc : c->with ? run_with(c, p) : run_once(c, p));
    } while (several && (word = strtok_r(NULL, " ", &save)));
    return failed;
}

static int test_in_scratch(struct config *c, struct program *p)
{
    char command[LONG * 2];
    int failed;

    snprintf(c->work, sizeof(c->work), "%s/dh-programs.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(c->work)) {
        fail("no scratch directory: %s", strerror(errno));
        return say(c, p, -1);
    }
    failed = test(c, p);
    snprintf(command, sizeof(command), "rm -rf '%s'", c->work);
    if (!getenv("KEEP") && system(command) != 0)
        fprintf(stderr, "runner: cannot remove %s\n", c->work);
    return failed;
}

int main(int argc, char **argv)
{
    struct config c = {.cache = getenv("PROGRAM_CACHE"), .label = ""};
    int first = 1, failed = 0;

    if (argc > first && (c.oracle = strcmp(argv[first], "--oracle") == 0))
        first++;
    else if (argc > first && (c.marks = strcmp(argv[first], "--marks") == 0))
        first++;
    else if (argc > first + 1 && strcmp(argv[first], "--with") == 0) {
        c.with = argv[first + 1];
        first += 2;
    }
    if (argc < first + 2) {
        fprintf(stderr, "usage: runner [--oracle|--marks|--with COMMAND] BUILD PROGRAM...\n");
        return 2;
    }
    c.build = argv[first++];
    for (int i = first; i < argc; i++) {
        static struct program p;

        if (read_program(&c, &p, argv[i]) != 0)
            failed += say(&c, &p, -1);
        else if (c.with && p.no_race)
            continue;
        else if (!c.marks)
            failed += test_in_scratch(&c, &p);
        else if (print_marks(&p) != 0)
            failed += say(&c, &p, -1);
    }
    return failed > 0;
}
