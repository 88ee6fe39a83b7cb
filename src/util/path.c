/*
 * path.c - see path.h.
 */
#include "util/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rewrites path in place; ".." never climbs above the root, and stays where a relative path begins. */
static void normalise(char *path)
{
    bool absolute = path[0] == '/';
    char *start = path + absolute;
    char *out = start;
    char *floor = out; /* ".." cannot remove what stands before */
    for (char *part = start; *part;) {
        size_t len = strcspn(part, "/");
        char *next = part + len + (part[len] == '/');
        bool up = len == 2 && part[0] == '.' && part[1] == '.';
        bool nothing = len == 0 || (len == 1 && part[0] == '.');
        if (up && out > floor) {
            while (out > floor && out[-1] != '/')
                out--;
            if (out > floor)
                out--;
        } else if (!nothing && !(up && absolute)) {
            if (out > start)
                *out++ = '/';
            memmove(out, part, len);
            out += len;
            if (up)
                floor = out;
        }
        part = next;
    }
    if (out == path) /* nothing left of a relative path; there was at least one character */
        *out++ = '.';
    *out = 0;
}

char *dh_path_join(struct dh_arena *a, const char *dir, const char *name)
{
    char *path;
    if (name[0] == '/' || !dir || !dir[0])
        path = dh_arena_strdup(a, name);
    else
        path = dh_arena_printf(a, "%s/%s", dir, name);
    if (path[0])
        normalise(path);
    return path;
}

char *dh_path_from(struct dh_arena *a, const char *dir, const char *path)
{
    if (dir[0] != '/' || path[0] != '/')
        return dh_arena_strdup(a, path);
    size_t common = 0; /* length of the shared prefix that ends at a boundary of both */
    for (size_t i = 1;; i++) {
        bool dir_ends = !dir[i] || dir[i] == '/';
        bool path_ends = !path[i] || path[i] == '/';
        if (dir_ends && path_ends)
            common = i;
        if (!dir[i] || !path[i] || dir[i] != path[i])
            break;
    }
    if (common == 0)
        return dh_arena_strdup(a, path);
    size_t up = 0;
    for (const char *p = dir + common; *p; p++)
        up += *p == '/' && p[1];
    const char *rest = path + common;
    rest += *rest == '/';
    char *out = dh_arena_alloc(a, up * 3 + strlen(rest) + 2);
    char *at = out;
    for (size_t i = 0; i < up; i++) {
        memcpy(at, "../", 3);
        at += 3;
    }
    strcpy(at, rest);
    return out;
}

const char *dh_path_beneath(const char *dir, const char *path)
{
    size_t len = dir ? strlen(dir) : 0;
    if (len > 1 && strncmp(dir, path, len) == 0 && path[len] == '/' && path[len + 1])
        return path + len + 1;
    return path;
}

const char *dh_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool dh_path_is_system(const char *path)
{
    static const char *const places[] = {"/usr/include/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/",
                                         "/lib/",         "/lib32/",   "/lib64/"};
    for (size_t i = 0; path && i < DH_ARRAY_LEN(places); i++) {
        if (strncmp(path, places[i], strlen(places[i])) == 0)
            return true;
    }
    return false;
}

const char *dh_path_mapped(struct dh_arena *a, const struct dh_path_map *maps, const char *path)
{
    for (; path && maps; maps = maps->next) {
        size_t n = strlen(maps->from);
        while (n > 1 && maps->from[n - 1] == '/')
            n--;
        if (strncmp(path, maps->from, n) != 0 || (path[n] && path[n] != '/' && path[n - 1] != '/'))
            continue;
        const char *rest = path + n + (path[n] == '/');
        return dh_path_join(a, maps->to[0] ? maps->to : NULL, rest);
    }
    return path;
}

char *dh_path_self(struct dh_arena *a)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (n > 0)
        return dh_arena_dup(a, path, (size_t)n);
    const char *started = (const char *)getauxval(AT_EXECFN); /* where there is no /proc */
    return started && realpath(started, path) ? dh_arena_strdup(a, path) : NULL;
}

char *dh_path_find_program(struct dh_arena *a, const char *name)
{
    if (strchr(name, '/'))
        return access(name, F_OK) == 0 ? dh_arena_strdup(a, name) : NULL;
    const char *dirs = getenv("PATH");
    if (!dirs)
        dirs = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t len = strcspn(dirs, ":");
        char *path = dh_arena_printf(a, "%.*s%s%s", (int)len, dirs, len ? "/" : "./", name);
        struct stat st;
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
            return path;
        if (!dirs[len])
            break;
        dirs += len + 1;
    }
    errno = ENOENT;
    return NULL;
}
