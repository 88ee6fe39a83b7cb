/*
 * runpath.c - see runpath.h: a library with a run path of its own gets the search done for it.
 */
#define _GNU_SOURCE 1
#include "base/runpath.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "base/sys.h"

enum { SEARCH_MAX = 16 << 10, PATH_LEN = 4096 };

/* dir/file in buf, or false if it does not fit. */
static bool join_path(char *buf, const char *dir, const char *file)
{
    size_t n = 0;
    for (; *dir && n < PATH_LEN - 1; dir++)
        buf[n++] = *dir;
    buf[n++] = '/';
    for (; *file && n < PATH_LEN; file++)
        buf[n++] = *file;
    if (n >= PATH_LEN)
        return false;
    buf[n] = 0;
    return true;
}

static bool has_run_path(const struct link_map *map)
{
    const ElfW(Dyn) *d = map->l_ld;
    while (d && d->d_tag != DT_NULL && d->d_tag != DT_RUNPATH && d->d_tag != DT_RPATH)
        d++;
    return d && d->d_tag != DT_NULL;
}

static bool is_bare(const char *file)
{
    if (file == NULL || *file == 0)
        return false;
    while (*file && *file != '/')
        file++;
    return *file == 0;
}

static void *open_along_run_path(void *(*open)(const char *, int), const char *file, int mode,
                                 const void *caller)
{
    Dl_info info;
    struct link_map *map = NULL;
    Dl_serinfo size;
    if (!is_bare(file) || !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || map == NULL ||
        map->l_name[0] == 0 || !has_run_path(map))
        return NULL;
    void *handle = open(file, mode | RTLD_NOLOAD);
    if (handle != NULL || (mode & RTLD_NOLOAD))
        return handle;
    if (dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0 || size.dls_size > SEARCH_MAX)
        return NULL;
    Dl_serinfo *search = __builtin_alloca(size.dls_size);
    *search = size;
    if (dlinfo(map, RTLD_DI_SERINFOSIZE, search) != 0 || dlinfo(map, RTLD_DI_SERINFO, search) != 0)
        return NULL;
    for (unsigned i = 0; handle == NULL && i < search->dls_cnt; i++) {
        char path[PATH_LEN];
        if (join_path(path, search->dls_serpath[i].dls_name, file) &&
            dh_sys3(SYS_access, (long)path, R_OK, 0) == 0)
            handle = open(path, mode);
    }
    return handle;
}

void *dh_runpath_open(void *(*open)(const char *, int), const char *file, int mode, const void *caller)
{
    void *handle = open_along_run_path(open, file, mode, caller);
    /* Otherwise, or when all that failed, also for the message dlerror gives. */
    return handle ? handle : open(file, mode);
}
