/*
 * about.c - see about.h.
 *
 * Arguments are cut at ARGS_MAX bytes: they are for people to run it again, and may be arbitrarily long. The
 * host is hashed: records are passed on, and machine names are private, but it is worth knowing which
 * findings come from the same machine. No libc function is called: those count as the program's.
 */
#include "runtime/report/about.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/sys.h"
#include "runtime/init.h"
#include "runtime/report/ctest.h"

enum { ARGS_MAX = 4096, TEST_MAX = 256 };

static char test[TEST_MAX]; /* "": none is known; written once, at the start */

/* ---- Pieces ---- */

size_t dh_about_read(const char *path, char *ret, size_t cap)
{
    size_t n = 0;
    long fd = dh_sys3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    for (long k; fd >= 0 && n < cap && (k = dh_sys3(SYS_read, fd, (long)(ret + n), (long)(cap - n))) > 0;)
        n += (size_t)k;
    if (fd >= 0)
        dh_sys3(SYS_close, fd, 0, 0);
    return n;
}

static u64 hash(u64 h, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (u8)s[i]) * 0x100000001b3;
    return h;
}

const char *dh_about_behind(const char *s, const char *before)
{
    while (*before && *s == *before)
        s++, before++;
    return *before ? NULL : s;
}

static u64 started_ms(void)
{
    struct timespec now = {0};
    dh_sys3(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0);
    return (u64)now.tv_sec * 1000 + (u64)now.tv_nsec / 1000000 - dh_runtime_counter(DH_COUNT_MILLISECONDS);
}

static void keep_test(const char *name)
{
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof(test); n++)
        test[n] = name[n];
    test[n] = '\0';
}

/* ---- The test ---- */

/* The first of these variables that is set: ours; Bazel's; pytest's; GoogleTest's. If none is, the arguments
 * may tell, and then how CTest started the process. */
void dh_about_init(char **envp)
{
    static const char *const names[] = {
        "DEADHEAT_TEST=", "TEST_TARGET=", "PYTEST_CURRENT_TEST=", "GTEST_FILTER="};
    size_t best = sizeof(names) / sizeof(names[0]);
    for (; envp && *envp; envp++)
        for (size_t i = 0; i < best; i++) {
            const char *value = dh_about_behind(*envp, names[i]);
            if (!value || !*value)
                continue;
            keep_test(value);
            best = i;
        }
}

/* ---- The line ---- */

void dh_about_put_words(struct dh_fmt *line, const char *words, size_t n)
{
    dh_fmt_char(line, '[');
    for (size_t at = 0; at < n; at++) {
        if (at)
            dh_fmt_char(line, ',');
        dh_fmt_json_str(line, words + at);
        while (words[at])
            at++;
    }
    dh_fmt_char(line, ']');
}

/* One line has no more than LINE_MAX_BYTES, and each of these bytes may become six. */
static void put_args(struct dh_fmt *line)
{
    static char text[ARGS_MAX + 1]; /* under the lock of reports */
    size_t n = dh_about_read("/proc/self/cmdline", text, ARGS_MAX);
    text[n] = '\0';
    dh_fmt_str(line, ",\"args\":");
    dh_about_put_words(line, text, n);
    for (size_t at = 0; at < n && !test[0]; at++) {
        const char *filter = dh_about_behind(text + at, "--gtest_filter=");
        if (filter)
            keep_test(filter);
        while (text[at])
            at++;
    }
}

static void put_host(struct dh_fmt *line)
{
    struct utsname name;
    char id[64];
    u64 h = hash(0xcbf29ce484222325, id, dh_about_read("/etc/machine-id", id, sizeof(id)));
    size_t n = 0;
    if (dh_sys3(SYS_uname, (long)&name, 0, 0) == 0)
        while (name.nodename[n])
            n++;
    dh_fmt_str(line, ",\"host\":");
    dh_fmt_json_hex(line, hash(h, name.nodename, n));
}

void dh_about_put(struct dh_fmt *line)
{
    put_args(line);
    dh_fmt_str(line, ",\"started\":");
    dh_fmt_u64(line, started_ms());
    put_host(line);
    if (test[0]) {
        dh_fmt_str(line, ",\"test\":");
        dh_fmt_json_str(line, test);
    } else if (!dh_runtime_secure) {
        dh_ctest_put(line);
    }
}

/* ---- Names of files ---- */

static void put_program(struct dh_fmt *f)
{
    char path[512];
    long n = dh_sys3(SYS_readlink, (long)"/proc/self/exe", (long)path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    const char *base = path;
    for (const char *at = path; *at; at++)
        base = *at == '/' ? at + 1 : base;
    dh_fmt_str(f, base);
}

void dh_about_expand(const char *pattern, char ret[DH_ABOUT_NAME_MAX])
{
    struct dh_fmt f;
    dh_fmt_init(&f, ret, DH_ABOUT_NAME_MAX - 1);
    for (const char *at = pattern; *at; at++) {
        char what = *at == '%' ? at[1] : '\0';
        if (what == 'p')
            dh_fmt_u64(&f, (u64)dh_sys3(SYS_getpid, 0, 0, 0));
        else if (what == 'e')
            put_program(&f);
        else if (what == 't')
            dh_fmt_u64(&f, started_ms() / 1000);
        else
            dh_fmt_char(&f, *at);
        at += what == 'p' || what == 'e' || what == 't' || what == '%';
    }
    ret[f.len] = '\0';
}
