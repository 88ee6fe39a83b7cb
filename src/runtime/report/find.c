/*
 * find.c - see find.h.
 *
 * The compiler records in every program where deadheat was installed (`deadheat_home`). That place comes
 * last: the program may have been moved since, with or without deadheat, and whoever moves it or sets PATH
 * means the deadheat that is there now.
 *
 * In a setuid program there is no reporter: the user who started it controls PATH and DEADHEAT_HOME, and may
 * have made a hard link to the program in their own directory; and the program's privileges are not needed to
 * symbolise a report.
 */
#include "runtime/report/find.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"
#include "runtime/init.h"

enum { PATH_SIZE = 4096 };

/* Where deadheat is installed, as the compiler plugin that built the program saw it; absent in a program
 * whose instrumented parts are all shared libraries; then the first of those provides it. */
extern const char deadheat_home[] __attribute__((weak));
static char library_home[PATH_SIZE];
static bool library_told; /* atomic */

/* From constructors, which the dynamic linker runs one at a time. The library may be closed again. */
void __dh_module_home(const char *dir)
{
    if (deadheat_home || library_told || strlen(dir) >= sizeof(library_home))
        return;
    strcpy(library_home, dir);
    __atomic_store_n(&library_told, true, __ATOMIC_RELEASE);
}

static const char *home(void)
{
    if (deadheat_home)
        return deadheat_home;
    return __atomic_load_n(&library_told, __ATOMIC_ACQUIRE) ? library_home : NULL;
}

/* A directory of this name is not a program, even though it passes the access check. */
static bool is_program(const char *path)
{
    struct stat st;
    return dh_sys3(SYS_stat, (long)path, (long)&st, 0) == 0 && S_ISREG(st.st_mode) &&
           dh_sys3(SYS_access, (long)path, X_OK, 0) == 0;
}

/* The first len bytes of dir, and tail. */
static bool is_at(char *buf, size_t cap, const char *dir, size_t len, const char *tail)
{
    if (len == 0 || len + strlen(tail) >= cap)
        return false;
    memcpy(buf, dir, len);
    strcpy(buf + len, tail);
    return is_program(buf);
}

static bool is_beside_program(char *buf, size_t cap)
{
    char self[PATH_SIZE];
    long n = dh_sys3(SYS_readlink, (long)"/proc/self/exe", (long)self, sizeof(self) - 1);
    while (n > 0 && self[n - 1] != '/')
        n--;
    return n > 0 && (is_at(buf, cap, self, (size_t)n, "deadheat") ||
                     is_at(buf, cap, self, (size_t)n, "../bin/deadheat"));
}

static const char *find_variable(const char *name)
{
    size_t n = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return *e + n + 1;
    return NULL;
}

/* Relative directories are skipped: the current directory may have changed arbitrarily by now. */
static bool is_on_path(char *buf, size_t cap)
{
    const char *dir = find_variable("PATH");
    while (dir && *dir) {
        size_t n = strcspn(dir, ":");
        if (dir[0] == '/' && is_at(buf, cap, dir, n, "/deadheat"))
            return true;
        dir += n + (dir[n] == ':');
    }
    return false;
}

static bool is_in_home(char *buf, size_t cap)
{
    const char *dir = find_variable("DEADHEAT_HOME");
    return dir && dir[0] == '/' && is_at(buf, cap, dir, strlen(dir), "/bin/deadheat");
}

static bool is_where_compiled(char *buf, size_t cap)
{
    const char *dir = home();
    return dir && is_at(buf, cap, dir, strlen(dir), "/../../bin/deadheat");
}

bool dh_find_reporter(char *buf, size_t cap)
{
    if (dh_runtime_secure)
        return false;
    if (dh_opts.reporter[0])
        return is_at(buf, cap, dh_opts.reporter, strlen(dh_opts.reporter), "");
    return is_beside_program(buf, cap) || is_on_path(buf, cap) || is_in_home(buf, cap) ||
           is_where_compiled(buf, cap);
}
