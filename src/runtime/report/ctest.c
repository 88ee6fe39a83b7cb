/*
 * ctest.c - see ctest.h.
 *
 * CTest does not tell a program for which test it is started. But it started it, or a script that did: so the
 * process below the nearest ancestor that is called ctest has the command of the test, and the files that
 * CTest read to know its tests, CTestTestfile.cmake, name the test of that command. They are looked for where
 * the process was started, which is where its test was added unless the project says otherwise; then from the
 * directory of CTest on, through all that they name as subdirs().
 *
 * Only what CMake itself writes is understood. A test that is not found has no name, and neither has one
 * whose command is that of another test.
 */
#include "runtime/report/ctest.h"

#include <sys/syscall.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "runtime/report/about.h"

enum {
    MAX_ANCESTORS = 64,
    MAX_SCRIPT = 1,         /* words that the kernel puts before the name of a script */
    MAX_COMMAND = 16 << 10, /* bytes */
    MAX_ARGUMENT = 4 << 10, /* bytes */
    MAX_QUEUE = 1 << 20,    /* bytes of names of directories */
    MAX_TEXT = 16 << 20,    /* bytes of one file */
    MAX_FILES = 10000,
};

/* Pages of it that are not needed are never touched. */
struct search {
    char command[MAX_COMMAND + 1]; /* words, each with its zero */
    size_t n_command;
    char queue[MAX_QUEUE]; /* directories, each with its zero */
    size_t n_queue;
    char name[MAX_ARGUMENT], argument[MAX_ARGUMENT], path[MAX_ARGUMENT];
    const char *at, *end; /* in text */
    bool found, ambiguous;
    char found_name[MAX_ARGUMENT];
    char text[MAX_TEXT];
};

/* ---- Pieces ---- */

static bool is_same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static const char *base_of(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        base = *path == '/' ? path + 1 : base;
    return base;
}

static void copy(char *to, const char *from, size_t cap)
{
    size_t n = 0;
    for (; from[n] && n + 1 < cap; n++)
        to[n] = from[n];
    to[n] = '\0';
}

static const char *proc_path(u64 pid, const char *what, char *buf, size_t cap)
{
    struct dh_fmt f;
    dh_fmt_init(&f, buf, cap);
    dh_fmt_str(&f, "/proc/");
    dh_fmt_u64(&f, pid);
    dh_fmt_str(&f, what);
    return buf;
}

/* ---- Processes ---- */

/* Who started it, 0 if that cannot be known, and what the process itself is called. */
static u64 parent_of(u64 pid, char name[16])
{
    char path[64], text[512];
    size_t n = dh_about_read(proc_path(pid, "/stat", path, sizeof(path)), text, sizeof(text) - 1), open = 0;
    u64 parent = 0;
    text[n] = '\0';
    while (open < n && text[open] != '(')
        open++;
    size_t close = n;
    while (close > open && text[close] != ')')
        close--;
    if (close == open)
        return 0;
    text[close] = '\0';
    copy(name, text + open + 1, 16);
    for (size_t i = close + 4; i < n && text[i] >= '0' && text[i] <= '9'; i++) /* ") S 4711" */
        parent = parent * 10 + (u64)(text[i] - '0');
    return parent;
}

/* The nearest ancestor that is CTest, and its child on the way here. */
static bool find_ctest(u64 *ret_ctest, u64 *ret_child)
{
    char name[16];
    u64 pid = (u64)dh_sys3(SYS_getpid, 0, 0, 0), child = 0;
    for (int i = 0; i < MAX_ANCESTORS && pid; i++) {
        u64 parent = parent_of(pid, name);
        if (child && parent && (is_same(name, "ctest") || is_same(name, "ctest3"))) {
            *ret_ctest = pid;
            *ret_child = child;
            return true;
        }
        child = pid;
        pid = parent;
    }
    return false;
}

/* ---- Directories to look into ---- */

/* dir may be beneath another, which ends without a slash. */
static void push(struct search *s, const char *above, const char *dir)
{
    struct dh_fmt f;
    if (s->n_queue == MAX_QUEUE)
        return;
    dh_fmt_init(&f, s->queue + s->n_queue, MAX_QUEUE - s->n_queue);
    if (dir[0] != '/') {
        dh_fmt_str(&f, above);
        dh_fmt_char(&f, '/');
    }
    dh_fmt_str(&f, dir);
    s->n_queue += f.overflow ? 0 : f.len + 1;
}

static void push_cwd(struct search *s, u64 pid)
{
    char link[64];
    long n = dh_sys3(SYS_readlink, (long)proc_path(pid, "/cwd", link, sizeof(link)), (long)s->path,
                     sizeof(s->path) - 1);
    s->path[n > 0 ? n : 0] = '\0';
    if (s->path[0] == '/')
        push(s, "", s->path);
}

/* ---- The language of CMake ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(struct search *s)
{
    while (s->at < s->end && (is_space(*s->at) || *s->at == '#'))
        if (*s->at == '#')
            while (s->at < s->end && *s->at != '\n')
                s->at++;
        else
            s->at++;
}

/* [==[ as it is, to the same number of signs ]==]. False if none begins here. */
static bool read_bracket(struct search *s, struct dh_fmt *to)
{
    const char *at = s->at + 1;
    size_t n = 0;
    for (; at < s->end && *at == '='; at++)
        n++;
    if (s->at[0] != '[' || at >= s->end || *at != '[')
        return false;
    for (at++; at < s->end; at++) {
        size_t k = 0;
        while (*at == ']' && k < n && at + 1 + k < s->end && at[1 + k] == '=')
            k++;
        if (*at == ']' && k == n && at + 1 + k < s->end && at[1 + k] == ']') {
            s->at = at + k + 2;
            return true;
        }
        dh_fmt_char(to, *at);
    }
    s->at = s->end;
    return true;
}

static bool ends_word(char c)
{
    return is_space(c) || c == '(' || c == ')' || c == '"' || c == '#';
}

/* The next argument of a command; false behind the last. */
static bool read_argument(struct search *s, char ret[MAX_ARGUMENT])
{
    struct dh_fmt to;
    dh_fmt_init(&to, ret, MAX_ARGUMENT);
    skip_space(s);
    if (s->at >= s->end || *s->at == ')')
        return false;
    if (!read_bracket(s, &to)) {
        bool quoted = *s->at == '"';
        const char *begin = s->at;
        s->at += quoted;
        while (s->at < s->end && (quoted ? *s->at != '"' : !ends_word(*s->at))) {
            s->at += *s->at == '\\' && s->at + 1 < s->end;
            dh_fmt_char(&to, *s->at++);
        }
        s->at += (quoted && s->at < s->end) || s->at == begin; /* what else may stand here is passed over */
    }
    return true;
}

/* The word behind this one of the command. */
static const char *next_word(const char *at, const char *stop)
{
    while (at < stop && *at)
        at++;
    return at < stop ? at + 1 : stop;
}

/* Behind the name: the rest is compared with the command, and with the command of a script. */
static void read_test(struct search *s)
{
    const char *at[MAX_SCRIPT + 1];
    bool same[MAX_SCRIPT + 1];
    const char *stop = s->command + s->n_command;
    at[0] = s->command;
    at[1] = next_word(s->command, stop);
    same[0] = same[1] = read_argument(s, s->name);
    for (size_t n = 0; read_argument(s, s->argument); n++)
        for (size_t i = 0; i <= MAX_SCRIPT; i++) {
            same[i] = same[i] && at[i] < stop &&
                      (n ? is_same(at[i], s->argument) : is_same(base_of(at[i]), base_of(s->argument)));
            at[i] = next_word(at[i], stop);
        }
    if ((same[0] && at[0] == stop) || (same[1] && at[1] == stop)) {
        s->ambiguous |= s->found && !is_same(s->found_name, s->name);
        s->found = true;
        copy(s->found_name, s->name, MAX_ARGUMENT);
    }
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void read_directory(struct search *s, const char *dir)
{
    char command[16];
    struct dh_fmt f;
    dh_fmt_init(&f, s->path, sizeof(s->path));
    dh_fmt_str(&f, dir);
    dh_fmt_str(&f, "/CTestTestfile.cmake");
    s->at = s->text;
    s->end = s->text + (f.overflow ? 0 : dh_about_read(s->path, s->text, MAX_TEXT));
    while (skip_space(s), s->at < s->end) {
        dh_fmt_init(&f, command, sizeof(command));
        for (; s->at < s->end && is_name(*s->at); s->at++)
            dh_fmt_char(&f, *s->at);
        skip_space(s);
        if (s->at == s->end)
            break;
        bool called = *s->at == '(';
        s->at++;
        if (!called)
            continue;
        if (is_same(command, "add_test"))
            read_test(s);
        while (read_argument(s, s->argument))
            if (is_same(command, "subdirs"))
                push(s, dir, s->argument);
    }
}

bool dh_ctest_name(char *ret, size_t cap)
{
    u64 ctest, child;
    char path[64];
    struct search *s = find_ctest(&ctest, &child) ? dh_sys_map_own(sizeof(*s)) : NULL;
    if (!s)
        return false;
    s->n_command = dh_about_read(proc_path(child, "/cmdline", path, sizeof(path)), s->command, MAX_COMMAND);
    push_cwd(s, child);
    push_cwd(s, ctest);
    size_t at = 0;
    for (int i = 0; i < MAX_FILES && at < s->n_queue && !s->found; i++) {
        const char *dir = s->queue + at;
        while (s->queue[at++])
            ;
        read_directory(s, dir);
    }
    bool known = s->found && !s->ambiguous && s->found_name[0];
    if (known)
        copy(ret, s->found_name, cap);
    dh_sys_unmap(s, sizeof(*s));
    return known;
}
