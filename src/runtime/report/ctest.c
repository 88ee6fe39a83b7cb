/*
 * ctest.c - see ctest.h.
 *
 * CTest does not tell a program for which test it is started. But it started it, or a script that did: so the
 * process below the nearest ancestor named ctest has the command of the test. This information is gone after
 * the run, so it is recorded here; the reader of the record finds out which test has that command
 * (src/report/ctest.c).
 */
#include "runtime/report/ctest.h"

#include <sys/syscall.h>

#include "base/sys.h"
#include "runtime/report/about.h"

/* A line has no more than LINE_MAX_BYTES (report.c), and each of these bytes may become six. */
enum { MAX_ANCESTORS = 64, MAX_COMMAND = 16 << 10, MAX_PATH = 4 << 10, MAX_ENVIRONMENT = 256 << 10 };

static struct {
    bool asked;
    size_t n_command;              /* 0: CTest did not start this process, or its command is too long */
    char command[MAX_COMMAND + 1]; /* words, each with its zero */
    char command_cwd[MAX_PATH], cwd[MAX_PATH], start[MAX_PATH];
} found;

static const char *proc_path(u64 pid, const char *what, char ret[64])
{
    struct dh_fmt f;
    dh_fmt_init(&f, ret, 64);
    dh_fmt_str(&f, "/proc/");
    dh_fmt_u64(&f, pid);
    dh_fmt_str(&f, what);
    return ret;
}

/* Its parent, 0 if that is unknown, and whether the process itself is CTest. */
static u64 parent_of(u64 pid, bool *ret_ctest)
{
    char path[64], text[512]; /* "4712 (ctest) S 4711 ..."; the name may have parentheses */
    size_t n = dh_about_read(proc_path(pid, "/stat", path), text, sizeof(text) - 1), name = 0, close = n;
    u64 parent = 0;
    text[n] = '\0';
    while (name < n && text[name] != '(')
        name++;
    name += name < n;
    while (close > name && text[close] != ')')
        close--;
    for (size_t i = close + 4; i < n && text[i] >= '0' && text[i] <= '9'; i++)
        parent = parent * 10 + (u64)(text[i] - '0');
    text[close] = '\0';
    const char *rest = dh_about_behind(text + name, "ctest");
    *ret_ctest = rest && (!rest[0] || (rest[0] == '3' && !rest[1])); /* ctest3: on some distributions */
    return parent;
}

static void read_cwd(u64 pid, char ret[MAX_PATH])
{
    char path[64];
    long n = dh_sys3(SYS_readlink, (long)proc_path(pid, "/cwd", path), (long)ret, MAX_PATH - 1);
    ret[n > 0 ? n : 0] = '\0';
}

/* What follows `before` in one of the words of a file; NULL if none of them begins with it. */
static const char *find_word(u64 pid, const char *file, const char *before)
{
    static char text[MAX_ENVIRONMENT + 2];
    char path[64];
    size_t n = dh_about_read(proc_path(pid, file, path), text, MAX_ENVIRONMENT);
    text[n] = text[n + 1] = '\0';
    for (const char *at = text; at < text + n; at++) {
        const char *rest = dh_about_behind(at, before);
        if (rest)
            return rest;
        while (*at)
            at++;
    }
    return NULL;
}

/* The directory that CTest was started in, or that --test-dir told it to change to. Its working directory is
 * that of the test for a moment whenever it starts one. */
static void read_start(u64 pid)
{
    struct dh_fmt f;
    dh_fmt_init(&f, found.start, sizeof(found.start));
    const char *pwd = find_word(pid, "/environ", "PWD=");
    dh_fmt_str(&f, pwd ? pwd : "");
    const char *dir = find_word(pid, "/cmdline", "--test-dir");
    dir = dir && !*dir ? dir + 1 : ""; /* the next word */
    if (*dir == '/')
        dh_fmt_init(&f, found.start, sizeof(found.start));
    else if (*dir)
        dh_fmt_char(&f, '/');
    dh_fmt_str(&f, dir);
    if (f.overflow)
        found.start[0] = '\0';
}

static void find(void)
{
    char path[64];
    u64 pid = (u64)dh_sys3(SYS_getpid, 0, 0, 0), child = 0;
    bool is_ctest = false;
    for (int i = 0; i < MAX_ANCESTORS && pid; i++) {
        u64 parent = parent_of(pid, &is_ctest);
        if (child && is_ctest)
            break;
        child = pid;
        pid = parent;
        is_ctest = false;
    }
    if (!is_ctest)
        return;
    size_t n = dh_about_read(proc_path(child, "/cmdline", path), found.command, sizeof(found.command));
    found.n_command = n <= MAX_COMMAND ? n : 0;
    found.command[found.n_command] = '\0';
    read_cwd(child, found.command_cwd);
    read_cwd(pid, found.cwd);
    read_start(pid);
}

void dh_ctest_put(struct dh_fmt *line)
{
    if (!found.asked)
        find();
    found.asked = true;
    if (!found.n_command)
        return;
    dh_fmt_str(line, ",\"ctest\":{\"cwd\":");
    dh_fmt_json_str(line, found.cwd);
    dh_fmt_str(line, ",\"start\":");
    dh_fmt_json_str(line, found.start);
    dh_fmt_str(line, ",\"command_cwd\":");
    dh_fmt_json_str(line, found.command_cwd);
    dh_fmt_str(line, ",\"command\":");
    dh_about_put_words(line, found.command, found.n_command);
    dh_fmt_char(line, '}');
}
