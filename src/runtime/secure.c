/*
 * secure.c - a program with more privileges than the user who started it: a set-user-id program, or one with
 * file capabilities (AT_SECURE, getauxval(3)).
 *
 * Its environment is under another user's control, and so may be the files it could be made to touch.
 * Invariants:
 * - no option and no address to report to comes from the environment, and the variables are taken out of it,
 *   since a program that this one executes may no longer be marked as secure;
 * - nothing is written but to standard error, whatever options the program itself brings;
 * - the only program that is run is the reporter, if nobody but root could have changed it, with an
 *   environment of its own; it shows no source, which it would read with the program's rights.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "base/filter.h"
#include "base/fmt.h"
#include "base/sys.h"
#include "runtime/init.h"

bool dh_runtime_secure;

/* Removes the variable from the environment. Was it there? */
static bool drop(char **envp, const char *name)
{
    char **to = envp;
    bool found = false;
    for (; envp && *envp; envp++) {
        if (strncmp(*envp, name, strlen(name)) != 0)
            *to++ = *envp;
        else
            found = true;
    }
    if (found)
        *to = NULL;
    return found;
}

void dh_runtime_secure_init(char **envp)
{
    dh_runtime_secure = getauxval(AT_SECURE) != 0;
    if (!dh_runtime_secure)
        return;
    drop(envp, "DEADHEAT_RUN=");
    drop(envp, DH_FILTER_ENV "=");
    if (drop(envp, "DEADHEAT_OPTIONS="))
        dh_sys_say(
            "DEADHEAT_OPTIONS is ignored: the program has other privileges than the user who started it");
}

void dh_runtime_secure_options(struct dh_options *o)
{
    if (!dh_runtime_secure)
        return;
    o->output[0] = o->reporter[0] = o->suppressions[0] = o->baseline[0] = '\0';
    o->record_fd = -1;
    o->source = false;
}

/* Is a file or directory safe: could only root have created or changed it? */
static bool is_roots(const char *path)
{
    struct stat st;
    return dh_sys3(SYS_lstat, (long)path, (long)&st, 0) == 0 && st.st_uid == 0 && !S_ISLNK(st.st_mode) &&
           !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Replaces the path of an existing file by one without links and dots. */
static bool resolve(char *path, size_t cap)
{
    char link[64];
    struct dh_fmt f;
    long fd = dh_sys3(SYS_open, (long)path, O_PATH | O_CLOEXEC, 0);
    if (dh_sys_failed(fd))
        return false;
    dh_fmt_init(&f, link, sizeof(link));
    dh_fmt_str(&f, "/proc/self/fd/");
    dh_fmt_u64(&f, (u64)fd);
    long n = dh_sys3(SYS_readlink, (long)link, (long)path, (long)cap);
    dh_sys3(SYS_close, fd, 0, 0);
    if (n <= 0 || (size_t)n >= cap || path[0] != '/')
        return false;
    path[n] = '\0';
    return true;
}

bool dh_runtime_trusts(char *path, size_t cap)
{
    if (!dh_runtime_secure)
        return true;
    if (!resolve(path, cap) || !is_roots("/"))
        return false;
    for (char *p = path + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        bool good = is_roots(path);
        *p = '/';
        if (!good)
            return false;
    }
    return is_roots(path);
}
